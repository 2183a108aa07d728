import { at } from '../../base/assert';
import type { ITimeline } from '../../wire';
import { aliveAt, highest, layerSeries, peaksByStep, phaseAt, pointAt } from '../timeline';
import { randomRun } from './run';

const RUNS = [1, 2, 3, 4, 5].flatMap(seed => [randomRun(seed), randomRun(seed, 200, 7)]);

function aliveSlowly({ allocations }: ITimeline, cut: number): number[] {
  return Array.from({ length: allocations.length }, (_, row) => row).filter(
    row => at(allocations.start, row) < cut && cut <= at(allocations.end, row)
  );
}

function bytesOf({ allocations }: ITimeline, rows: readonly number[]): number {
  return rows.reduce((sum, row) => sum + at(allocations.bytes, row), 0);
}

describe('what is alive', () => {
  it.each(RUNS)('adds up to what is allocated at every point, largest first', ({ timeline }) => {
    const { points, allocations } = timeline;
    for (let point = 0; point < points.length; point++) {
      const rows = aliveAt(timeline, at(points.cut, point));
      expect(bytesOf(timeline, rows)).toBe(at(points.allocated, point));
      expect([...rows].sort((a, b) => a - b)).toEqual(aliveSlowly(timeline, at(points.cut, point)));
      const sizes = rows.map(row => at(allocations.bytes, row));
      expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    }
  });
});

describe('the bytes of a layer', () => {
  it.each(RUNS)('are those of the blocks of its subtree at every point', ({ timeline, tree }) => {
    for (let layer = 0; layer < tree.length; layer++) {
      const series = layerSeries(timeline, tree, layer);
      const end = layer + at(tree.subtree, layer);
      const slowly = Array.from(timeline.points.cut, cut =>
        bytesOf(
          timeline,
          aliveSlowly(timeline, cut).filter(row => {
            const owner = at(timeline.allocations.layer, row);
            return owner >= layer && owner < end;
          })
        )
      );
      expect([...series]).toEqual(slowly);
    }
  });

  it.each(RUNS)('add up to the whole with what is outside', ({ timeline, tree }) => {
    const roots = [layerSeries(timeline, tree, 0), layerSeries(timeline, tree, 4)];
    for (let point = 0; point < timeline.points.length; point++) {
      const outside = aliveSlowly(timeline, at(timeline.points.cut, point)).filter(
        row => at(timeline.allocations.layer, row) < 0
      );
      const sum = roots.reduce((total, series) => total + at(series, point), 0);
      expect(sum + bytesOf(timeline, outside)).toBe(at(timeline.points.allocated, point));
    }
  });
});

describe('a moment', () => {
  it.each(RUNS)('belongs to the phase of the event before it', ({ timeline, phases }) => {
    for (let cut = 1; cut <= timeline.cuts; cut++) {
      const row = phaseAt(phases, cut);
      expect(at(phases.start, row)).toBeLessThan(cut);
      expect(at(phases.end, row)).toBeGreaterThanOrEqual(cut);
    }
    expect(phaseAt(phases, 0)).toBe(0);
    expect(phaseAt(phases, timeline.cuts + 1)).toBe(-1);
  });

  it('has the value of the last point at or before it', () => {
    const { timeline } = randomRun(9, 100, 5);
    const { cut } = timeline.points;
    for (let moment = 0; moment <= 100; moment++) {
      const point = pointAt(timeline, moment);
      expect(at(cut, point)).toBeLessThanOrEqual(moment);
      expect(cut[point + 1] ?? Infinity).toBeGreaterThan(moment);
    }
  });
});

describe('the peak of a step', () => {
  it.each(RUNS)('is the most allocated at a point of one of its phases', run => {
    const { timeline, phases } = run;
    const most = new Map<number, number>();
    for (let point = 0; point < timeline.points.length; point++) {
      const row = phaseAt(phases, at(timeline.points.cut, point));
      const step = at(phases.step, row);
      most.set(step, Math.max(most.get(step) ?? 0, at(timeline.points.allocated, point)));
    }
    most.delete(-1);
    const peaks = peaksByStep(timeline, phases);
    expect(peaks.map(peak => [peak.step, peak.bytes])).toEqual([...most]);
    for (const peak of peaks) {
      expect(at(timeline.points.allocated, peak.point)).toBe(peak.bytes);
      expect(at(phases.step, peak.phase)).toBe(peak.step);
    }
  });
});

it('reaches as high as what is reserved', () => {
  const { timeline } = randomRun(1);
  const most = Math.max(...timeline.points.allocated);
  expect(highest(timeline)).toBe(most);
  const reserved = Array.from(timeline.points.cut, () => most + 5);
  expect(highest({ ...timeline, points: { ...timeline.points, reserved } })).toBe(most + 5);
});
