// Bundles the script of the page: node build.mjs [FILE] writes that of `azimuth serve`, which the
// engine embeds; node build.mjs --site FOLDER those of the page with the engine in it.
import { build } from 'esbuild';

const [first = 'dist/board.js', folder] = process.argv.slice(2);

/** @param {import('esbuild').BuildOptions} options */
const bundle = (options) =>
  build({
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    banner: {
      js: '/* Azimuth, GPL-3.0-or-later. With chessground and chessops, by lichess, GPL-3.0-or-later. */',
    },
    ...options,
  });

if (first === '--site') {
  await bundle({ entryPoints: ['src/site/main.ts'], conditions: ['site'], outfile: `${folder}/board.js` });
  await bundle({ entryPoints: ['src/site/worker.ts'], outfile: `${folder}/worker.js` });
} else {
  await bundle({ entryPoints: ['src/main.ts'], outfile: first });
}
