import './streams';
import { decodeReport, textAt, textIn, unpackNotebook } from '..';
import type { INumbers, IStrings, IView } from '..';
import { readFixture, reportFixture } from './fixture';

interface IExpectedView {
  readonly name: string;
  readonly total: number;
  readonly headline: string;
  readonly peak: object;
  readonly ledger: Record<string, number>;
  readonly ledger_total: number;
  readonly points: number;
  readonly reserved_at_peak: number | null;
  readonly categories_at_peak: Record<string, number>;
  readonly allocations: number;
  readonly column_sums: Record<string, number>;
  readonly output_shape: string[];
  readonly outside: Record<string, number>;
  readonly rounding: number;
  readonly details: Record<string, number[]>;
  readonly pools: number[][];
  readonly peaks: number[];
  readonly mark_peaks: Record<string, number>;
  readonly readings: number;
  readonly lines: Record<string, number>;
}

const expected = readFixture('expected.json');
const views = expected.views as IExpectedView[];
const { json, buffers } = reportFixture();
const report = decodeReport(json, buffers);

function sum(values: Iterable<number> | undefined): number {
  return [...(values ?? [])].reduce((total, value) => total + value, 0);
}

function byName(names: IStrings | undefined, values: INumbers | undefined): object {
  const rows = Array.from({ length: names?.length ?? 0 }, (_, row) => row);
  return Object.fromEntries(rows.map(row => [names && textAt(names, row), values?.[row]]));
}

function atPeak(view: IView | undefined, column: INumbers | undefined): number | null {
  return column?.[view?.timeline.peakPoint ?? -1] ?? null;
}

describe('the report written by Python', () => {
  it('has the layers, phases and notices that Python says it has', () => {
    const { layers } = report;
    const paths = Array.from({ length: layers.length }, (_, row) => textAt(layers.path, row));
    expect(paths).toEqual(expected.layers);
    expect(report.phases.length).toBe(expected.phases);
    expect(report.marks.label).toEqual(expected.marks);
    expect(report.steps).toBe(expected.steps);
    expect(report.stepNs).toBe(expected.step_ns);
    expect(report.notices.map(notice => textIn(notice, 'en'))).toEqual(expected.notices);
    expect(report.views.length).toBe(views.length);
  });

  it.each(views.map((view, index) => [index, view] as const))(
    'has the figures of view %d',
    (i, want) => {
      const view = report.views[i];
      expect(view?.device).toMatchObject({ name: want.name, total: want.total });
      expect(view && textIn(view.headline, 'en')).toBe(want.headline);
      const { timeNs, ...peak } = view?.peak ?? {};
      expect({ ...peak, time_ns: timeNs }).toEqual(want.peak);
      const parts = view?.ledger.parts.map(part => [part.id, part.bytes]) ?? [];
      expect(Object.fromEntries(parts)).toEqual(want.ledger);
      expect(view?.ledger.total).toBe(want.ledger_total);
      expect(sum(view?.ledger.parts.map(part => part.bytes))).toBe(want.ledger_total);
      expect(view?.timeline.points.length).toBe(want.points);
      expect(view?.timeline.allocations.length).toBe(want.allocations);
      expect(atPeak(view, view?.timeline.points.reserved)).toBe(want.reserved_at_peak);
      const categories = [...(view?.timeline.categories ?? [])].map(([id, c]) => [
        id,
        atPeak(view, c)
      ]);
      expect(Object.fromEntries(categories)).toEqual(want.categories_at_peak);
    }
  );

  it.each(views.map((view, index) => [index, view] as const))(
    'has the columns of view %d',
    (i, want) => {
      const columns = report.views[i]?.layers;
      const sums = [...(columns?.numbers ?? [])].map(([id, values]) => [id, sum(values)]);
      expect(Object.fromEntries(sums)).toEqual(want.column_sums);
      expect(Object.fromEntries(columns?.outside ?? [])).toEqual(want.outside);
      const shape = columns?.texts.get('output_shape');
      const shapes = Array.from(
        { length: shape?.length ?? 0 },
        (_, row) => shape && textAt(shape, row)
      );
      expect(shapes).toEqual(want.output_shape);
    }
  );

  it.each(views.map((view, index) => [index, view] as const))(
    'has the answers of view %d',
    (i, want) => {
      const view = report.views[i];
      const { ledger, pools, peaks, markPeaks, summary, lines } = view ?? {};
      expect(ledger?.rounding).toBe(want.rounding);
      const details = ledger?.parts
        .filter(part => part.details.length > 0)
        .map(part => [part.id, part.details.map(({ bytes }) => bytes)]);
      expect(Object.fromEntries(details ?? [])).toEqual(want.details);
      expect(pools?.map(pool => [pool.reserved, pool.free, pool.largestFree])).toEqual(want.pools);
      expect([...(peaks?.bytes ?? [])]).toEqual(want.peaks);
      expect(byName(markPeaks?.label, markPeaks?.bytes)).toEqual(want.mark_peaks);
      expect(summary?.length ?? 0).toBe(want.readings);
      expect(byName(lines?.site, lines?.bytes)).toEqual(want.lines);
    }
  );

  it('is the same from a notebook file', async () => {
    const unpacked = await unpackNotebook(readFixture('notebook.json'));
    expect(unpacked.report).toEqual(report);
  });
});
