// Bundles the page's script into dist/board.js, which the engine embeds.
import { build } from 'esbuild';

await build({
  entryPoints: ['src/main.ts'],
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  banner: {
    js: '/* Azimuth, GPL-3.0-or-later. With chessground and chessops, by lichess, GPL-3.0-or-later. */',
  },
  outfile: process.argv[2] ?? 'dist/board.js',
});
