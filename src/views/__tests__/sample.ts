// Reports and services for tests of views.
import { nullTranslator } from '@jupyterlab/translation';

import { randomRun } from '../../model/__tests__/run';
import { highest } from '../../model/timeline';
import type { IReport, IView } from '../../wire';

// jsdom cannot paint; without a canvas, widths of text are estimated.
HTMLCanvasElement.prototype.getContext = () => null;

export const trans = nullTranslator.load('memtrack');

const LABEL = 'gpt2 · run 14';

export function viewOf(seed = 1, changes: Partial<IView> = {}): IView {
  const { timeline } = randomRun(seed, 100);
  const bytes = highest(timeline);
  return {
    device: { kind: 'cuda', index: 0, name: 'NVIDIA H200', total: 100 * bytes },
    headline: { en: 'Peak 9 KiB', zh_CN: '峰值 9 KiB' },
    details: [
      { en: 'Half of it is logits.', zh_CN: '其中一半是 logits。' },
      { en: 'More.', zh_CN: '还有。' }
    ],
    peak: {
      bytes,
      cut: timeline.points.cut[timeline.peakPoint] ?? 0,
      timeNs: 0,
      step: 0,
      phase: 'forward',
      layer: -1
    },
    ledger: {
      total: 1000,
      allocated: 300,
      rounding: 0,
      parts: [
        { id: 'parameter', bytes: 100, certainty: 'measured', details: [] },
        { id: 'activation', bytes: 200, certainty: 'measured', details: [] },
        { id: 'cache', bytes: 50, certainty: 'estimated', details: [] },
        { id: 'free', bytes: 650, certainty: 'estimated', details: [] }
      ]
    },
    layers: { numbers: new Map(), texts: new Map(), outside: new Map() },
    timeline,
    pools: [],
    growth: [],
    peaks: undefined,
    markPeaks: undefined,
    summary: undefined,
    lines: undefined,
    map: undefined,
    ...changes
  };
}

export function reportOf(changes: Partial<IReport> = {}): IReport {
  const { tree, phases } = randomRun(1, 100);
  return {
    identifier: 'run',
    state: 'complete',
    evidence: 'measured',
    label: LABEL,
    started: '2026-11-29T20:15:00+00:00',
    versions: new Map(),
    steps: 2,
    stepNs: 41e6,
    notices: [{ en: 'Work on other threads is not seen.' }],
    layers: tree,
    phases,
    marks: { cut: [20], timeNs: [20_000], label: ['here'] },
    views: [viewOf()],
    ...changes
  };
}

/** Resolves after the next frame has been drawn. */
export function nextFrame(): Promise<void> {
  return new Promise(resolve => requestAnimationFrame(() => resolve()));
}

/** Presses a key on `node`; returns whether it was taken. */
export function press(node: Element, key: string, shiftKey = false): boolean {
  const event = new KeyboardEvent('keydown', { key, shiftKey, bubbles: true, cancelable: true });
  node.dispatchEvent(event);
  return event.defaultPrevented;
}
