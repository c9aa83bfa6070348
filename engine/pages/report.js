// The report's page: everything is built from the data as text and shapes, never as markup.
(() => {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);
  const byId = (id) => document.getElementById(id);
  const glyphs = { inaccuracy: '?!', mistake: '?', blunder: '??' };
  const pieceNames = { p: 'pawn', n: 'knight', b: 'bishop', r: 'rook', q: 'queen', k: 'king' };
  const moving = !window.matchMedia('(prefers-reduced-motion: reduce)').matches;
  const board = chessground.Chessground(byId('board'), {
    viewOnly: true, coordinates: true, animation: { enabled: moving, duration: 150 },
  });
  let game = data.games[0];
  let ply = 0;

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const shape = (name, attributes, text) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const percent = (p) => `${(100 * p).toFixed(1)}%`;

  // ----- the pieces in words, for those who do not see the board
  const describe = (fen) => {
    const sides = { White: [], Black: [] };
    fen.split(' ')[0].split('/').forEach((row, index) => {
      let file = 0;
      for (const letter of row) {
        if (letter >= '1' && letter <= '8') { file += Number(letter); continue; }
        const side = letter === letter.toUpperCase() ? 'White' : 'Black';
        sides[side].push(`${pieceNames[letter.toLowerCase()]} ${'abcdefgh'[file]}${8 - index}`);
        file += 1;
      }
    });
    const moves = fen.split(' ')[1] === 'w' ? 'White' : 'Black';
    return `White: ${sides.White.join(', ')}. Black: ${sides.Black.join(', ')}. ${moves} to move.`;
  };

  // ----- the graph of win probability
  const graph = { width: 600, height: 200, left: 52 };
  const graphX = (at) => {
    const room = graph.width - graph.left - 8;
    return graph.left + room * (at / Math.max(1, game.stops.length - 1));
  };
  const graphY = (p) => 8 + (graph.height - 16) * (1 - p);
  const drawGraph = () => {
    const svg = byId('graph');
    const points = game.stops.map((stop, at) => `${graphX(at).toFixed(1)},${graphY(stop.p).toFixed(1)}`);
    const bottom = graphY(0);
    svg.replaceChildren(
      shape('rect', { x: graph.left, y: 8, width: graph.width - graph.left - 8, height: graph.height - 16, fill: 'var(--black-share)' }),
      shape('polygon', { points: `${graphX(0)},${bottom} ${points.join(' ')} ${graphX(game.stops.length - 1)},${bottom}`, fill: 'var(--white-share)' }),
      shape('line', { x1: graph.left, x2: graph.width - 8, y1: graphY(0.5), y2: graphY(0.5), stroke: 'var(--soft)', 'stroke-dasharray': '4 4' }),
      shape('polyline', { points: points.join(' '), fill: 'none', stroke: 'var(--curve)', 'stroke-width': 2 }),
    );
    for (const [p, label] of [[1, '100%'], [0.5, '50%'], [0, '0%']]) {
      svg.append(shape('text', { x: graph.left - 6, y: graphY(p) + 5, 'text-anchor': 'end', 'font-size': 12 }, label));
    }
    game.stops.forEach((stop, at) => {
      if (stop.move && stop.move.judgement) {
        svg.append(shape('circle', { cx: graphX(at), cy: graphY(stop.p), r: 5, fill: `var(--${stop.move.judgement})`, stroke: 'var(--paper)' }));
      }
    });
    svg.append(shape('line', { id: 'cursor', y1: 4, y2: graph.height - 4, stroke: 'var(--mark)', 'stroke-width': 3 }));
    const low = Math.min(...game.stops.map((stop) => stop.p));
    const high = Math.max(...game.stops.map((stop) => stop.p));
    svg.setAttribute('aria-label', `White’s win probability, position by position: from ${percent(game.stops[0].p)} at the start to ${percent(game.stops.at(-1).p)} at the end, between ${percent(low)} and ${percent(high)}.`);
  };

  // ----- the path through the space
  const path = { width: 600, height: 300, room: 26 };
  let place = () => [0, 0];
  const drawPath = () => {
    const svg = byId('path');
    const wide = Math.max(0.05, ...game.stops.map((stop) => Math.abs(stop.x)));
    const high = Math.max(0.05, ...game.stops.map((stop) => Math.abs(stop.y)));
    place = (stop) => [
      path.width / 2 + (path.width / 2 - path.room) * (stop.x / wide),
      path.height / 2 - (path.height / 2 - path.room) * (stop.y / high),
    ];
    const middle = path.height / 2;
    const points = game.stops.map((stop) => place(stop).map((at) => at.toFixed(1)).join(','));
    svg.replaceChildren(
      shape('line', { x1: 8, x2: path.width - 16, y1: middle, y2: middle, stroke: 'var(--soft)', 'stroke-dasharray': '6 4' }),
      shape('polygon', { points: `${path.width - 16},${middle - 5} ${path.width - 4},${middle} ${path.width - 16},${middle + 5}`, fill: 'var(--soft)' }),
      shape('text', { x: 10, y: path.height - 10 }, `lost (cosine ${(-wide).toFixed(2)})`),
      shape('text', { x: path.width - 10, y: path.height - 10, 'text-anchor': 'end' }, `won (${wide.toFixed(2)})`),
      shape('polyline', { points: points.join(' '), fill: 'none', stroke: 'var(--curve)', 'stroke-width': 1.5, opacity: 0.6 }),
      shape('polyline', { id: 'travelled', fill: 'none', stroke: 'var(--blunder)', 'stroke-width': 2.5 }),
    );
    game.stops.forEach((stop) => {
      const [cx, cy] = place(stop);
      svg.append(shape('circle', { cx, cy, r: 2.5, fill: 'var(--curve)' }));
    });
    svg.append(shape('circle', { id: 'here', class: 'lit', r: 7, fill: 'var(--blunder)', stroke: 'var(--paper)', 'stroke-width': 2 }));
    svg.setAttribute('aria-label', `The game’s positions in the space: cosine with the advantage axis ${game.stops[0].x.toFixed(2)} at the start, ${game.stops.at(-1).x.toFixed(2)} at the end.`);
  };

  // ----- the moves
  const drawMoves = () => {
    const list = byId('moves');
    list.replaceChildren();
    let row = null;
    game.stops.forEach((stop, at) => {
      const move = stop.move;
      if (!move) return;
      if (!row || move.white) {
        row = element('li', {}, element('span', { class: 'number' }, `${move.number}.`));
        list.append(row);
        if (!move.white) row.append(element('span', {}, '…'));
      }
      const button = element('button', { type: 'button', 'data-ply': at }, move.san);
      if (move.judgement) {
        button.append(' ', element('span', { class: `glyph ${move.judgement}`, title: move.judgement }, glyphs[move.judgement]));
      }
      button.addEventListener('click', () => show(at));
      row.append(button);
    });
    const last = list.lastElementChild;
    if (last && last.childElementCount === 2) last.append(element('span'));
  };

  // ----- what there is to say of the current position
  const about = (stop) => {
    const list = element('dl');
    const say = (term, text) => list.append(element('dt', {}, term), element('dd', {}, text));
    const move = stop.move;
    const title = element('h2', {}, move ? `${move.number}${move.white ? '.' : '…'} ${move.san}` : 'The start');
    if (move && move.judgement) {
      title.append(' ', element('span', { class: move.judgement }, `${glyphs[move.judgement]} ${move.judgement}`));
    }
    say('White’s win probability', `${percent(stop.p)} (${stop.score})`);
    if (stop.wdl) {
      const [wins, draws, loses] = stop.wdl.map((permille) => percent(permille / 1000));
      say('White', `wins ${wins}, draws ${draws}, loses ${loses}`);
    }
    if (move) {
      say('Given away', `${percent(move.loss)} of win probability`);
      say('At first sight', `${move.rank} of ${move.of} legal moves`);
      const before = game.stops[ply - 1];
      if (move.judgement && before.best) say('Better', before.best.line);
      if (move.clock) say('Clock', move.clock);
      if (move.eval) say('In the file', move.eval);
      if (move.comment) say('Comment', move.comment);
    }
    if (stop.best) say('Next, best', stop.best.line);
    say('Cosine', stop.x.toFixed(4));
    byId('about').replaceChildren(title, list);
  };

  const show = (at) => {
    ply = Math.max(0, Math.min(game.stops.length - 1, at));
    const stop = game.stops[ply];
    board.set({
      fen: stop.fen, check: stop.check, turnColor: stop.fen.split(' ')[1] === 'w' ? 'white' : 'black',
      lastMove: stop.move ? [stop.move.from, stop.move.to] : undefined,
    });
    // After a mistake, the better move; elsewhere the best one.
    const better = stop.move && stop.move.judgement ? game.stops[ply - 1].best : null;
    const arrow = better ?? stop.best;
    board.setAutoShapes(arrow ? [{ orig: arrow.from, dest: arrow.to, brush: better ? 'green' : 'paleBlue' }] : []);
    byId('board').setAttribute('aria-label', describe(stop.fen));
    for (const name of ['x1', 'x2']) byId('cursor').setAttribute(name, graphX(ply));
    const [cx, cy] = place(stop);
    byId('here').setAttribute('cx', cx);
    byId('here').setAttribute('cy', cy);
    const travelled = game.stops.slice(0, ply + 1).map((stop) => place(stop).join(','));
    byId('travelled').setAttribute('points', travelled.join(' '));
    about(stop);
    // A link to this position.
    history.replaceState(null, '', `#${data.games.indexOf(game) + 1}.${ply}`);
    const list = byId('moves');
    list.querySelector('[aria-current]')?.removeAttribute('aria-current');
    const current = list.querySelector(`[data-ply="${ply}"]`);
    current?.setAttribute('aria-current', 'true');
    // Only the list moves, never the page.
    if (current) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 2;
    else list.scrollTop = 0;
  };

  const open = (number) => {
    game = data.games[number];
    byId('title').textContent = game.title;
    byId('tags').textContent = game.tags;
    document.title = game.title;
    drawGraph();
    drawPath();
    drawMoves();
    show(0);
  };

  // The position after the next mistake or blunder, or the previous one; the same if there is none.
  const mistake = (step) => {
    for (let at = ply + step; at >= 0 && at < game.stops.length; at += step) {
      if (['mistake', 'blunder'].includes(game.stops[at].move?.judgement)) return at;
    }
    return ply;
  };
  const steps = { first: () => 0, previous: () => ply - 1, next: () => ply + 1, last: () => game.stops.length - 1 };
  for (const [id, to] of Object.entries(steps)) byId(id).addEventListener('click', () => show(to()));
  byId('flip').addEventListener('click', () => board.toggleOrientation());
  const keys = {
    ArrowLeft: steps.previous, ArrowRight: steps.next, ArrowUp: steps.first, ArrowDown: steps.last,
    Home: steps.first, End: steps.last, n: () => mistake(1), p: () => mistake(-1),
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === 'SELECT') return;
    if (event.key === 'f') { board.toggleOrientation(); return; }
    const to = keys[event.key];
    if (to) { event.preventDefault(); show(to()); }
  });
  byId('graph').addEventListener('click', (event) => {
    const box = byId('graph').getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * graph.width;
    show(Math.round((x - graphX(0)) / (graphX(1) - graphX(0))));
  });
  byId('path').addEventListener('click', (event) => {
    const box = byId('path').getBoundingClientRect();
    const at = [(event.clientX - box.left) / box.width * path.width, (event.clientY - box.top) / box.height * path.height];
    const distance = (stop) => Math.hypot(place(stop)[0] - at[0], place(stop)[1] - at[1]);
    const nearest = game.stops.reduce((best, stop, index) => distance(stop) < distance(game.stops[best]) ? index : best, 0);
    show(nearest);
  });
  data.games.forEach((one, number) => byId('games').append(element('option', { value: number }, one.title)));
  byId('choice').hidden = data.games.length < 2;
  byId('games').addEventListener('change', (event) => open(Number(event.target.value)));
  // Opens the position of a link, else the start of the first game.
  const follow = () => {
    const [number, linked] = location.hash.slice(1).split('.').map(Number);
    const known = Number.isInteger(number) && number >= 1 && number <= data.games.length;
    byId('games').value = known ? number - 1 : 0;
    open(known ? number - 1 : 0);
    if (known && Number.isInteger(linked)) show(linked);
  };
  window.addEventListener('hashchange', follow);
  follow();
})();
