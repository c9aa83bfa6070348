// The graph of White's expected score.

import { shape } from './dom.js';
import { texts } from './language.js';
import type { TreeNode } from './tree.js';
import { whiteShare } from './score.js';

const WIDTH = 600;
const HEIGHT = 130;
const LEFT = 4;

/** Draws the positions that are judged; `onClick` gets the number of a position. */
export function graph(nodes: TreeNode[], current: TreeNode, onClick: (at: number) => void): SVGElement {
  const x = (at: number) => LEFT + (WIDTH - 2 * LEFT) * (at / Math.max(1, nodes.length - 1));
  const y = (p: number) => 4 + (HEIGHT - 8) * (1 - p);
  const known = nodes.flatMap((node, at) => (node.judged ? [{ node, at, p: whiteShare(node.judged, node.turn) }] : []));
  const points = known.map(({ at, p }) => `${x(at).toFixed(1)},${y(p).toFixed(1)}`).join(' ');
  const [first, last] = [known[0], known[known.length - 1]];
  const svg = shape('svg', { class: 'graph', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': texts.graph, id: 'graph' });
  svg.append(shape('rect', { width: WIDTH, height: HEIGHT, fill: 'var(--black-share)' }));
  if (first && last) {
    const area = `${x(first.at)},${HEIGHT} ${points} ${x(last.at)},${HEIGHT}`;
    svg.append(shape('polygon', { points: area, fill: 'var(--white-share)' }));
  }
  svg.append(
    shape('line', { x1: 0, x2: WIDTH, y1: y(0.5), y2: y(0.5), stroke: '#8c959f', 'stroke-dasharray': '4 4' }),
    shape('polyline', { points, fill: 'none', stroke: '#1f6fd0', 'stroke-width': 2 }),
  );
  for (const { node, at, p } of known) {
    const judgement = node.judged?.judgement;
    if (judgement) svg.append(shape('circle', { cx: x(at), cy: y(p), r: 5, fill: `var(--${judgement})`, stroke: 'var(--paper)' }));
  }
  const here = nodes.indexOf(current);
  if (here >= 0) svg.append(shape('line', { x1: x(here), x2: x(here), y1: 0, y2: HEIGHT, stroke: '#d9480f', 'stroke-width': 3 }));
  svg.addEventListener('click', (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    onClick(Math.max(0, Math.min(nodes.length - 1, Math.round(((at - LEFT) / (WIDTH - 2 * LEFT)) * (nodes.length - 1)))));
  });
  return svg;
}
