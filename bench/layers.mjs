// How fast the layer table is with 10 000 layers, in the machine's own Chromium:
//
//     node bench/layers.mjs [--out bench/results/layers.json]
//
// `frame` is the time from frame to frame, `main thread` the processor time that the page's main
// thread needs for one, which a busy machine hardly changes. It fails when that is more than 60 frames
// a second allow at the speed of a wheel.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { rspack } from '@rspack/core';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const FRAMES = 300;
/** Pixels that pass in a frame; a row has 24. A brisk wheel passes 100, a thrown touch pad 400. */
const SPEEDS = { 'three rows': 72, 'fifteen rows': 360 };
const FRAME_MS = 1000 / 60;

const { chromium } = createRequire(join(ROOT, 'ui-tests/package.json'))('playwright-core');

async function bundle(folder) {
  const rule = {
    test: /\.ts$/,
    loader: 'builtin:swc-loader',
    options: { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }
  };
  const compiler = rspack({
    context: ROOT,
    mode: 'production',
    devtool: false,
    entry: './bench/layers/page.ts',
    output: { path: folder, filename: 'page.js' },
    resolve: { extensions: ['.ts', '.js'], fallback: { path: false } },
    module: {
      rules: [rule, { test: /\.(css|svg)$/, type: 'asset/source' }]
    },
    performance: { hints: false }
  });
  const stats = await new Promise((done, fail) => {
    compiler.run((error, result) => (error ? fail(error) : done(result)));
  });
  if (stats.hasErrors()) {
    throw new Error(stats.toString('errors-only'));
  }
}

function page(folder) {
  const styles = ['base', 'report', 'layers', 'columnmenu'].map(name =>
    readFileSync(join(ROOT, `style/${name}.css`), 'utf8')
  );
  const file = join(folder, 'page.html');
  writeFileSync(
    file,
    `<!doctype html><meta charset="utf-8"><style>${styles.join('\n')}</style>
     <body><script src="page.js"></script></body>`
  );
  return `file://${file}`;
}

function summary(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = share => Number(sorted[Math.floor(share * (sorted.length - 1))].toFixed(2));
  return sorted.length === 1 ? at(0) : { median: at(0.5), p95: at(0.95), most: at(1) };
}

async function measure(address, executablePath) {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const tab = await browser.newPage({ viewport: { width: 1000, height: 700 } });
  await tab.goto(address);
  const once = await tab.evaluate(() => window.layers.open());
  const scrolling = {};
  for (const [name, pixels] of Object.entries(SPEEDS)) {
    await browser.startTracing(tab, { categories: ['__metadata', 'toplevel'] });
    const frames = await tab.evaluate(
      ([count, pxPerFrame]) => window.layers.scroll(count, pxPerFrame),
      [FRAMES, pixels]
    );
    const trace = JSON.parse((await browser.stopTracing()).toString('utf8'));
    scrolling[name] = { frame: summary(frames), 'main thread': mainThreadMs(trace) };
  }
  const rows = await tab.evaluate(() => document.querySelectorAll('[role="row"]').length);
  const version = browser.version();
  await browser.close();
  const first = Object.entries(once).map(([what, times]) => [what, summary(times)]);
  return {
    machine: { chromium: version, processor: cpus()[0].model, cores: cpus().length },
    rows,
    ms: { ...Object.fromEntries(first), scrolling }
  };
}

/** Processor time of the page's main thread, of each frame, in milliseconds. */
function mainThreadMs({ traceEvents }) {
  const mains = traceEvents.filter(
    ({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain'
  );
  const isMain = event => mains.some(({ pid, tid }) => pid === event.pid && tid === event.tid);
  const tasks = traceEvents.filter(
    event => event.name === 'ThreadControllerImpl::RunTask' && isMain(event)
  );
  const sum = tasks.reduce((total, { tdur }) => total + (tdur ?? 0), 0);
  return Number((sum / 1000 / FRAMES).toFixed(2));
}

const folder = mkdtempSync(join(tmpdir(), 'memtrack-bench-'));
try {
  await bundle(folder);
  const path = execFileSync('bash', [join(ROOT, 'scripts/chromium.sh')], { encoding: 'utf8' });
  const results = await measure(page(folder), path.trim());
  const text = `${JSON.stringify(results, undefined, 2)}\n`;
  process.stdout.write(text);
  const out = process.argv.indexOf('--out');
  if (out > 0) {
    writeFileSync(process.argv[out + 1], text);
  }
  process.exitCode = results.ms.scrolling['three rows']['main thread'] > FRAME_MS ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
