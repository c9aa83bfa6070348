// The explanation's page: the position, and the chosen move as an arrow.
(() => {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);
  const board = chessground.Chessground(document.getElementById('board'), {
    fen: data.fen, orientation: data.black ? 'black' : 'white', viewOnly: true, coordinates: true, animation: { enabled: false },
  });
  board.setAutoShapes([{ orig: data.from, dest: data.to, brush: 'paleBlue' }]);
  document.getElementById('flip').addEventListener('click', () => board.toggleOrientation());
  document.addEventListener('keydown', (event) => {
    if (event.key === 'f' && !event.ctrlKey && !event.altKey && !event.metaKey) board.toggleOrientation();
  });
})();
