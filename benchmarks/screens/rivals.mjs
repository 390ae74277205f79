// What pixelmatch, odiff and looks-same count on pairs of pictures, one JSON object a line.
//   node rivals.mjs NODE_MODULES [ONE] < pairs (lines "before<TAB>after")  > counts
// ONE: pixelmatch or looks-same, which then compares alone, for its time.
import {createRequire} from 'node:module';
import {readFileSync, mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';

const modules = resolve(process.argv[2]), only = process.argv[3];
const require = createRequire(join(modules, 'x.js'));
const wanted = name => !only || only === name;

async function tools() {
  const found = {};
  if (wanted('pixelmatch')) {
    const {PNG} = require('pngjs');
    const pixelmatch = (await import(pathToFileURL(join(modules, 'pixelmatch', 'index.js')))).default;
    found.pixelmatch = (before, after) => {
      const a = PNG.sync.read(readFileSync(before)), b = PNG.sync.read(readFileSync(after));
      if (a.width !== b.width || a.height !== b.height) return 1;
      return pixelmatch(a.data, b.data, null, a.width, a.height, {threshold: 0.1}) / (a.width * a.height);
    };
  }
  if (wanted('odiff')) {
    const {compare} = require('odiff-bin');
    const scratch = join(mkdtempSync(join(tmpdir(), 'rivals-')), 'diff.png');
    found.odiff = async (before, after) => {
      const answer = await compare(before, after, scratch, {antialiasing: true});
      return answer.match ? 0 : answer.reason === 'layout-diff' ? 1 : answer.diffPercentage / 100;
    };
  }
  if (wanted('looks-same')) {
    const looksSame = require('looks-same');
    found['looks-same'] = async (before, after) => {
      const answer = await looksSame(before, after, only ? {} : {createDiffImage: true});
      if (answer.equal) return 0;
      return answer.differentPixels === undefined ? 1 : answer.differentPixels / answer.totalPixels;
    };
  }
  return found;
}

const found = await tools();
for (const line of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const [before, after] = line.split('\t');
  const counts = {};
  for (const [name, count] of Object.entries(found)) counts[name] = await count(before, after);
  console.log(JSON.stringify(counts));
}
