// The page that bench/layers.mjs measures: a layer table of 10 000 layers.
import { nullTranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { LayerTable } from '../../src/views/layers';
import { decodeReport } from '../../src/wire';
import { randomLayers, seeded } from '../../src/wire/__tests__/random';
import { samplePayload } from '../../src/wire/__tests__/sample';

const LAYERS = 10_000;

/** Milliseconds of each piece of work. */
type Times = Record<string, number[]>;

/** Measures opening, sorting and ranking; the table stays on the page, all layers in one list. */
function open(): Times {
  const times: Times = {};
  const timed = <T>(name: string, work: () => T): T => {
    const start = performance.now();
    const result = work();
    (times[name] ??= []).push(performance.now() - start);
    return result;
  };
  const { json, buffers } = samplePayload(randomLayers(seeded(4), LAYERS));
  const report = timed('decode', () => decodeReport(json, buffers));
  const table = new LayerTable({ trans: nullTranslator.load('memtrack') });
  timed('first view', () => {
    table.setView(report, 0);
    Widget.attach(table, document.body);
  });
  timed('other figures', () => table.setView(report, 0));
  const flat = table.node.querySelector<HTMLElement>('[aria-pressed]');
  timed('rank all', () => flat?.click());
  const headings = table.node.querySelectorAll<HTMLElement>('[role="columnheader"] > button');
  headings.forEach(heading => timed('sort', () => heading.click()));
  return times;
}

/** Milliseconds from frame to frame while the table scrolls by `pxPerFrame` in each. */
async function scroll(frames: number, pxPerFrame: number): Promise<number[]> {
  const times: number[] = [];
  const box = document.querySelector('.memtrack-LayerTable-box') ?? document.body;
  let last = await nextFrame();
  for (let frame = 0; frame < frames; frame++) {
    box.scrollTop = frame * pxPerFrame;
    const now = await nextFrame();
    times.push(now - last);
    last = now;
  }
  return times;
}

function nextFrame(): Promise<number> {
  return new Promise(resolve => requestAnimationFrame(resolve));
}

Object.assign(window, { layers: { open, scroll } });
