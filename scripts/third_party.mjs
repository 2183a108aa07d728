// List the licences of all that our bundles carry, in THIRD_PARTY_LICENSES.
// In: a production build. Out: that file, or with --check, exit code 1 when it is not current.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const { rspack } = require('@rspack/core');

const OUTPUT = 'THIRD_PARTY_LICENSES';
// For packages that state the licence in their manifest alone.
const TERMS = {
  MIT: `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`,
  // That of this project, without its holder.
  'BSD-3-Clause': readFileSync('LICENSE', 'utf8').replace(/^.*?(?=Redistribution)/s, '')
};
const BUILDER_LIST = 'python_pkg/memtrack/labextension/static/third-party-licenses.json';

/** Folders of the packages whose files end in the AMD bundle. */
async function bundledFolders() {
  const [target] = require('../rspack.amd.config.cjs');
  const compiler = rspack({
    ...target,
    mode: 'none',
    optimization: { ...target.optimization, sideEffects: true, usedExports: true },
    output: { ...target.output, path: path.resolve('build/third-party') }
  });
  const stats = await new Promise((resolve, reject) => {
    compiler.run((error, result) => (error ? reject(error) : resolve(result)));
  });
  const { modules } = stats.toJson({ all: false, modules: true, nestedModules: true });
  const files = modules.flatMap(module => [module, ...(module.modules ?? [])]);
  return files.flatMap(module => packageFolder(module.nameForCondition ?? '') ?? []);
}

/** Folder of the package that a file belongs to, undefined for files of our own. */
function packageFolder(file) {
  const match = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file.replaceAll(path.sep, '/'));
  return match?.[1];
}

/** Folders of the packages that JupyterLab's builder found in the labextension. */
function builderFolders() {
  const { packages } = JSON.parse(readFileSync(BUILDER_LIST, 'utf8'));
  return packages.map(({ name }) => path.resolve('node_modules', name));
}

/** One entry of the list: a heading, the terms. */
function describe(folder) {
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const licence = manifest.license ?? manifest.licenses?.map(({ type }) => type).join(' or ');
  const author = manifest.author?.name ?? manifest.author;
  const texts = readdirSync(folder)
    .filter(name => /^(licen[cs]e|copying|notice)/i.test(name))
    .sort()
    .map(name => readFileSync(path.join(folder, name), 'utf8').trim());
  if (texts.length === 0) {
    const holder = author === undefined ? 'its authors' : author;
    texts.push(`Copyright (c) ${holder}; no licence file, the manifest says ${licence}.`);
    const terms = TERMS[licence];
    if (terms !== undefined) {
      texts.push(terms);
    }
  }
  const heading = `${manifest.name} ${manifest.version} (${licence})`;
  return `${'-'.repeat(80)}\n${heading}\n\n${texts.join('\n\n').replaceAll('\r\n', '\n')}\n`;
}

const folders = new Set([...(await bundledFolders()), ...builderFolders()]);
const entries = [...folders].map(describe).sort();
const list = `The JavaScript bundles of memtrack contain the packages below, under their own terms.
Written by scripts/third_party.mjs; not to be edited.

${[...new Set(entries)].join('\n')}`.replace(/[ \t]+$/gm, '');

if (!process.argv.includes('--check')) {
  writeFileSync(OUTPUT, list);
} else if (!existsSync(OUTPUT) || readFileSync(OUTPUT, 'utf8') !== list) {
  console.log(`${OUTPUT} is not current: run 'make third-party' and commit it`);
  process.exitCode = 1;
}
