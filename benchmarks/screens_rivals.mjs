// What pixelmatch, odiff and looks-same count on pairs of pictures, one JSON object a line.
//   node screens_rivals.mjs NODE_MODULES < pairs (lines "before<TAB>after")  > counts
import {createRequire} from 'node:module';
import {readFileSync, mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';

const modules = resolve(process.argv[2]);
const require = createRequire(join(modules, 'x.js'));
const {PNG} = require('pngjs');
const looksSame = require('looks-same');
const {compare} = require('odiff-bin');
const pixelmatch = (await import(pathToFileURL(join(modules, 'pixelmatch', 'index.js')))).default;
const scratch = join(mkdtempSync(join(tmpdir(), 'rivals-')), 'diff.png');

async function timed(run) {
  const start = performance.now();
  const value = await run();
  return [value, performance.now() - start];
}

for (const line of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const [before, after] = line.split('\t');
  const [pixel, pixelTime] = await timed(() => {
    const a = PNG.sync.read(readFileSync(before)), b = PNG.sync.read(readFileSync(after));
    if (a.width !== b.width || a.height !== b.height) return 1;
    return pixelmatch(a.data, b.data, null, a.width, a.height, {threshold: 0.1}) / (a.width * a.height);
  });
  const [odiff, odiffTime] = await timed(async () => {
    const found = await compare(before, after, scratch, {antialiasing: true});
    return found.match ? 0 : found.reason === 'layout-diff' ? 1 : found.diffPercentage / 100;
  });
  const [looks, looksTime] = await timed(async () => {
    const found = await looksSame(before, after, {createDiffImage: true});
    return found.equal ? 0 : found.differentPixels === undefined ? 1 : found.differentPixels / found.totalPixels;
  });
  const [, verdictTime] = await timed(() => looksSame(before, after));
  console.log(JSON.stringify({pixelmatch: pixel, odiff, 'looks-same': looks,
    ms: {pixelmatch: pixelTime, odiff: odiffTime, 'looks-same': looksTime, 'looks-same verdict': verdictTime}}));
}
