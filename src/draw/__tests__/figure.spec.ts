import type { Data } from 'plotly.js';

import { at } from '../../base/assert';
import { phaseBands, stepBands } from '../../model/bands';
import { randomRun } from '../../model/__tests__/run';
import { Scale } from '../../model/scale';
import { highest, layerSeries } from '../../model/timeline';
import { FIGURE_CONFIG, buildFigure } from '../figure';
import type { IScene } from '../scene';
import { Frame, MARGIN } from '../scene';

const { timeline, tree, phases } = randomRun(4, 100);
const [MARK, PEAK, NET] = ['here', 'Peak <b>', 'net'] as const;

function scene(changes: Partial<IScene> = {}): IScene {
  const window = changes.window ?? { start: 0, end: timeline.cuts };
  const bands = phaseBands(phases, window);
  return {
    timeline,
    scale: new Scale(timeline, 'events'),
    window,
    mostBytes: highest(timeline),
    phases: bands,
    steps: stepBands(bands),
    marks: [{ cut: 20, label: MARK }],
    peak: {
      cut: at(timeline.points.cut, timeline.peakPoint),
      bytes: highest(timeline),
      label: PEAK
    },
    layer: undefined,
    width: 900,
    height: 300,
    theme: {
      text: 'rgb(0, 0, 0)',
      mutedText: 'rgb(90, 90, 90)',
      background: 'rgb(255, 255, 255)',
      line: 'rgb(200, 200, 200)',
      accent: 'rgb(0, 0, 255)',
      fontFamily: 'sans-serif',
      fontSize: 13,
      category: id => `rgb(${id.length}, 0, 0)`
    },
    measure: text => 6 * text.length,
    words: {
      category: id => id,
      otherLines: 'other lines',
      phase: id => id,
      step: step => `step ${step + 1}`,
      stepNumber: step => String(step + 1),
      bytes: bytes => `${bytes} B`,
      events: 'events',
      count: count => String(count),
      duration: nanoseconds => `${nanoseconds} ns`,
      reserved: 'reserved'
    },
    ...changes
  };
}

/** The values of a trace, as the test needs them. */
interface ITrace {
  readonly name: string;
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly stackgroup?: string;
  readonly line: { readonly shape: string };
}

function traces(data: readonly Data[]): readonly ITrace[] {
  return data as unknown as ITrace[];
}

function notes(made: IScene): readonly string[] {
  return (buildFigure(made).layout.annotations ?? []).map(note => String(note.text));
}

describe('the figure of a timeline', () => {
  it('stacks the categories to exactly what is allocated, in steps', () => {
    const all = traces(buildFigure(scene()).data);
    const areas = all.filter(trace => trace.stackgroup !== undefined);
    expect(areas.map(area => area.name)).toEqual(['parameter', 'activation', 'temporary']);
    const sums = areas.reduce<number[]>(
      (sum, area) => area.y.map((bytes, index) => bytes + (sum[index] ?? 0)),
      []
    );
    expect(sums).toEqual([...timeline.points.allocated]);
    expect(areas.every(area => area.line.shape === 'hv')).toBe(true);
  });

  it('draws only the points in sight and one more on each side', () => {
    const { x } = at(traces(buildFigure(scene({ window: { start: 40, end: 60 } })).data), 0);
    expect([x[0], x[x.length - 1]]).toEqual([40, 60]);
  });

  it('has the line of reserved only where there is a caching allocator', () => {
    const names = (made: IScene): string[] =>
      traces(buildFigure(made).data).map(({ name }) => name);
    expect(names(scene())).not.toContain('reserved');
    const reserved = Array.from(timeline.points.cut, () => 7);
    const caching = { ...timeline, points: { ...timeline.points, reserved } };
    expect(names(scene({ timeline: caching }))).toContain('reserved');
  });

  it('draws the chosen layer in front, named with its most', () => {
    const bytes = layerSeries(timeline, tree, 0);
    const made = scene({ layer: { bytes, label: NET } });
    const drawn = traces(buildFigure(made).data).find(trace => trace.name === 'net');
    expect(drawn?.y).toEqual([...bytes]);
    expect(notes(made)).toContain(`net ${Math.max(...bytes)} B`);
  });

  it('pins the peak while it is in sight, its label being text and not markup', () => {
    const { cut } = scene().peak;
    expect(notes(scene())).toContain('<b>Peak &lt;b></b>');
    const elsewhere = cut > 50 ? { start: 0, end: 20 } : { start: 80, end: 100 };
    expect(notes(scene({ window: elsewhere }))).not.toContain('<b>Peak &lt;b></b>');
  });

  it('names the peak beside the line through it, at either end of the picture too', () => {
    const made = scene();
    const half = made.measure(made.peak.label) / 2;
    for (const cut of [0, made.peak.cut, made.window.end]) {
      const { layout } = buildFigure({ ...made, peak: { ...made.peak, cut } });
      const label = layout.annotations?.find(({ text }) => text?.startsWith('<b>Peak'));
      expect(Math.abs(label?.xshift ?? 0)).toBeGreaterThan(half);
    }
  });

  it('names phases, steps and marks where they fit', () => {
    expect(notes(scene())).toEqual(expect.arrayContaining(['backward', 'step 1', 'here']));
    expect(notes(scene({ width: 300 }))).not.toContain('backward');
    expect(notes(scene({ window: { start: 60, end: 90 } }))).not.toContain('here');
  });

  it('numbers steps at round distances where their names do not fit', () => {
    const steps = Array.from({ length: 50 }, (_, step) => ({
      step,
      start: 2 * step,
      end: 2 * step + 2,
      row: step
    }));
    const numbers = notes(scene({ steps, phases: [] })).filter(text => /^\d+$/.test(text));
    expect(numbers).toEqual(['2', '4', '6', '8', '10', ...numbers.slice(5)]);
    expect(numbers).toHaveLength(25);
  });

  it('says what the horizontal axis counts, and starts time at a plain 0', () => {
    expect(notes(scene())).toContain('events');
    const timed = scene({ scale: new Scale(timeline, 'time') });
    expect(notes(timed)).not.toContain('events');
    const texts = buildFigure(timed).layout.xaxis?.ticktext ?? [];
    expect(texts[0]).toBe('0');
    expect(texts[1]).toMatch(/ ns$/);
  });

  it('keeps the height of the axis when it is zoomed', () => {
    const range = (made: IScene): unknown => buildFigure(made).layout.yaxis?.range;
    expect(range(scene({ window: { start: 3, end: 20 } }))).toEqual(range(scene()));
  });
});

it('pixels and positions are each other’s inverse', () => {
  const frame = new Frame(scene({ window: { start: 20, end: 70 } }));
  expect(frame.plotWidth).toBe(900 - MARGIN.left - MARGIN.right);
  expect(frame.xPx(20)).toBe(0);
  expect(frame.xPx(70)).toBe(frame.plotWidth);
  expect(frame.positionAt(frame.xPx(33))).toBeCloseTo(33, 9);
});

it('nothing of a chart leaves the page', () => {
  expect(FIGURE_CONFIG).toMatchObject({
    showSendToCloud: false,
    plotlyServerURL: '',
    displaylogo: false
  });
});
