// Check what a browser has to load: little at start, plotly.js only when a chart is drawn.
// In: a production build. Out: one line for each bound that is broken, and exit code 1.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const STATIC = 'python_pkg/memtrack/labextension/static';
const AMD = ['dist/index.js', 'python_pkg/memtrack/nbextension/index.js'];

// JupyterLab loads the entry and the list of plugins at every start, chart or no chart.
const MAX_ENTRY = 20_000;
const MAX_PLUGINS = 20_000;
const MAX_STYLE = 88_000;
// plotly.js core with the traces in use is 1.5 MB; the full build would be 4.7 MB.
const MAX_CHUNK = 1_600_000;
const MAX_AMD = 2_400_000;
// Strings of plotly.js that minification leaves as they are.
const LATE = ['plotly', 'maplibre', 'scattergl'];

const problems = [];
const bound = (what, bytes, most) => {
  if (bytes > most) {
    problems.push(`${what} has ${bytes} bytes, at most ${most} are allowed`);
  }
};

const files = readdirSync(STATIC).filter(name => name.endsWith('.js'));
const entry = files.find(name => name.startsWith('remoteEntry.'));
const text = name => readFileSync(path.join(STATIC, name), 'utf8');
const size = name => statSync(path.join(STATIC, name)).size;

/** Files of the chunks that the entry loads for one of the modules it exposes. */
function chunksOf(exposed) {
  const modules = /"\.\/(extension|style)":\(\)=>(.*?)(?=,"\.\/|\}[,;])/gs;
  const body = [...text(entry).matchAll(modules)].find(match => match[1] === exposed)?.[2];
  if (body === undefined) {
    throw new Error(`${entry} does not expose ./${exposed}: was it built with build:prod?`);
  }
  const ids = [...body.matchAll(/\.e\("?([^")]+)"?\)/g)].map(match => match[1]);
  return files.filter(name => ids.some(id => name.startsWith(`${id}.`)));
}

const plugins = chunksOf('extension');
bound(`The entry ${entry}`, size(entry), MAX_ENTRY);
bound(
  'The list of plugins',
  plugins.reduce((sum, name) => sum + size(name), 0),
  MAX_PLUGINS
);
bound(
  'The style',
  chunksOf('style').reduce((sum, name) => sum + size(name), 0),
  MAX_STYLE
);
for (const name of [entry, ...plugins]) {
  for (const word of LATE.filter(word => text(name).toLowerCase().includes(word))) {
    problems.push(`${name} is loaded at start and holds '${word}'`);
  }
}
for (const name of files) {
  bound(`The chunk ${name}`, size(name), MAX_CHUNK);
}
for (const file of AMD) {
  bound(file, statSync(file).size, MAX_AMD);
  if (/\.f\.j\s*=|importScripts|createElement\("script"\)/.test(readFileSync(file, 'utf8'))) {
    problems.push(`${file} loads further files, which fails outside JupyterLab`);
  }
}

for (const problem of problems) {
  console.log(problem);
}
process.exitCode = problems.length > 0 ? 1 : 0;
