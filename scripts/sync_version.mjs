// Write the version of package.json to where Python and TypeScript read it. Run by `npm version`.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const files = ['python_pkg/memtrack/_version.py', 'src/base/version.ts'];

for (const file of files) {
  const text = readFileSync(file, 'utf8');
  const changed = text.replace(/(VERSION|__version__)( = )(['"]).*?\3/, `$1$2$3${version}$3`);
  if (changed !== text) {
    writeFileSync(file, changed);
  }
}
if (process.env.npm_command === 'version') {
  execFileSync('git', ['add', ...files]);
}
