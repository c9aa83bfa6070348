// The map's page: points on a canvas, the board and the neighbours of the one that was chosen.
(() => {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);
  const byId = (id) => document.getElementById(id);
  const canvas = byId('map');
  const context = canvas.getContext('2d');
  const points = data.points;
  const board = chessground.Chessground(byId('board'), { viewOnly: true, coordinates: true, animation: { enabled: false } });
  const order = points.map((_, index) => index).sort((a, b) => points[a].label - points[b].label);
  const rank = [];
  order.forEach((index, place) => { rank[index] = place; });
  let chosen = order[Math.floor(order.length / 2)];
  let neighbour = -1;

  const percent = (p) => `${(100 * p).toFixed(1)}%`;
  const colour = (p) => {
    const [lost, even, won] = [[33, 102, 172], [214, 210, 205], [178, 24, 43]];
    const [from, to, share] = p < 0.5 ? [lost, even, 2 * p] : [even, won, 2 * p - 1];
    return `rgb(${from.map((value, i) => Math.round(value + share * (to[i] - value))).join(',')})`;
  };

  // All but the outermost points fill the canvas.
  const range = (axis) => {
    const values = points.map((point) => point.at[axis]).sort((a, b) => a - b);
    const outermost = Math.floor(values.length / 500);
    return [values[outermost], values[values.length - 1 - outermost]];
  };
  const [[left, right], [low, high]] = [range(0), range(1)];
  const room = 40;
  const scale = Math.min((canvas.width - 2 * room) / Math.max(1, right - left), (canvas.height - 2 * room) / Math.max(1, high - low));
  const place = ([x, y]) => [
    canvas.width / 2 + scale * (x - (left + right) / 2), canvas.height / 2 - scale * (y - (low + high) / 2),
  ];

  const dot = (point, radius, edge) => {
    const [x, y] = place(point.at);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = colour(point.label);
    context.fill();
    if (edge) { context.strokeStyle = edge; context.lineWidth = radius > 4 ? 3 : 1; context.stroke(); }
  };
  const draw = () => {
    context.clearRect(0, 0, canvas.width, canvas.height);
    for (const point of points) dot(point, 3.2, point.mate ? '#111' : null);
    const [from, to] = data.axis.map(place);
    const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
    context.strokeStyle = '#111';
    context.lineWidth = 3;
    context.setLineDash([12, 9]);
    context.beginPath();
    context.moveTo(...from);
    context.lineTo(...to);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    for (const turn of [-0.4, 0.4]) {
      context.moveTo(...to);
      context.lineTo(to[0] - 18 * Math.cos(angle + turn), to[1] - 18 * Math.sin(angle + turn));
    }
    context.stroke();
    const here = place(points[chosen].at);
    for (const near of points[chosen].near) {
      context.strokeStyle = '#0a7a3c';
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(...here);
      context.lineTo(...place(points[near].at));
      context.stroke();
      dot(points[near], 7, '#0a7a3c');
    }
    dot(points[chosen], 10, '#111');
  };

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const show = (index) => {
    chosen = index;
    neighbour = -1;
    const point = points[index];
    board.set({ fen: point.fen });
    byId('board').setAttribute('aria-label', `The position ${point.fen}`);
    const list = element('dl');
    const say = (term, text) => list.append(element('dt', {}, term), element('dd', {}, text));
    say('Label', point.mate ? `${percent(point.label)}, a forced mate` : percent(point.label));
    say('By the space', `${percent(point.score)} (cosine ${point.cosine.toFixed(4)})`);
    say('FEN', point.fen);
    byId('about').replaceChildren(list);
    byId('near').replaceChildren(...point.near.map((near) => {
      const button = element('button', { type: 'button' }, `${percent(points[near].label)}  ${points[near].fen.split(' ').slice(0, 2).join(' ')}`);
      button.addEventListener('click', () => show(near));
      return element('li', {}, button);
    }));
    canvas.setAttribute('aria-label', `${points.length} positions in the plane; chosen: ${point.fen}, label ${percent(point.label)}.`);
    draw();
  };

  const step = (by) => show(order[Math.max(0, Math.min(order.length - 1, rank[chosen] + by))]);
  const through = (by) => {
    const buttons = byId('near').querySelectorAll('button');
    neighbour = (neighbour + by + buttons.length) % buttons.length;
    buttons[neighbour].focus();
  };
  const keys = { ArrowLeft: () => step(-1), ArrowRight: () => step(1), ArrowDown: () => through(1), ArrowUp: () => through(-1), f: () => board.toggleOrientation() };
  document.addEventListener('keydown', (event) => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    act();
  });
  byId('previous').addEventListener('click', () => step(-1));
  byId('next').addEventListener('click', () => step(1));
  byId('flip').addEventListener('click', () => board.toggleOrientation());
  canvas.addEventListener('click', (event) => {
    const box = canvas.getBoundingClientRect();
    const at = [(event.clientX - box.left) / box.width * canvas.width, (event.clientY - box.top) / box.height * canvas.height];
    const distance = (index) => { const [x, y] = place(points[index].at); return Math.hypot(x - at[0], y - at[1]); };
    show(points.reduce((best, _, index) => distance(index) < distance(best) ? index : best, 0));
  });
  show(chosen);
})();
