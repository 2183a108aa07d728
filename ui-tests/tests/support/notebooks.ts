// The saved notebooks that the tests open: written once a run into the root of the test server.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const UI_TESTS = path.join(__dirname, '../..');
const PYTHON = process.env.MEMTRACK_PYTHON ?? path.join(UI_TESTS, '../.venv/bin/python');
const FOLDER = 'saved';

/** A notebook of fixtures/notebooks.py. */
export type SavedNotebook =
  | 'advice'
  | 'comparison'
  | 'devices'
  | 'diagnosis'
  | 'gpt2'
  | 'large'
  | 'leak'
  | 'plans'
  | 'ranks'
  | 'snapshot';

/** Returns the path, on the server, of a notebook with a saved report and no kernel. */
export function savedNotebook(name: SavedNotebook): string {
  const folder = path.join(serverRoot(), FOLDER);
  const file = `${name}.ipynb`;
  if (!fs.existsSync(path.join(folder, file))) {
    execFileSync(PYTHON, [path.join(UI_TESTS, 'fixtures/notebooks.py'), folder]);
  }
  return `${FOLDER}/${file}`;
}

/** Writes the notebook `file` with these cells of code, for the kernel of the test environment. */
export function writeNotebook(file: string, cells: readonly string[]): string {
  const notebook = {
    cells: cells.map((source, index) => ({
      cell_type: 'code',
      execution_count: null,
      id: `cell-${index}`,
      metadata: {},
      outputs: [],
      source
    })),
    metadata: { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } },
    nbformat: 4,
    nbformat_minor: 5
  };
  fs.writeFileSync(path.join(serverRoot(), file), JSON.stringify(notebook));
  return file;
}

/** Copies the example `file` to the server. */
export function exampleNotebook(file: string): string {
  fs.copyFileSync(path.join(UI_TESTS, '../examples', file), path.join(serverRoot(), file));
  return file;
}

function serverRoot(): string {
  const home = process.env.MEMTRACK_TEST_HOME;
  if (home === undefined) {
    throw new Error('playwright.config.js names the folder of the test server.');
  }
  return path.join(home, 'notebooks');
}
