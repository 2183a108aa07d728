// A timeline's columns to answers: a layer's bytes over time, what is alive at a moment, the peak of
// each step. A block is alive at cut c when start < c <= end.
import { at } from '../base/assert';
import type { ILayerTree, IPhases, ITimeline } from '../wire';
import { firstAtLeast, lastAtMost } from './search';

/** Returns the bytes that `row` and the layers under it hold at each point of `timeline`. */
export function layerSeries(timeline: ITimeline, tree: ILayerTree, row: number): Float64Array {
  const { points, allocations } = timeline;
  const end = row + at(tree.subtree, row);
  const changes = new Float64Array(points.length + 1);
  for (let index = 0; index < allocations.length; index++) {
    const layer = at(allocations.layer, index);
    if (layer >= row && layer < end) {
      const first = firstAtLeast(points.cut, at(allocations.start, index) + 1);
      const past = firstAtLeast(points.cut, at(allocations.end, index) + 1);
      const bytes = at(allocations.bytes, index);
      changes[first] = at(changes, first) + bytes;
      changes[past] = at(changes, past) - bytes;
    }
  }
  return runningSum(changes.subarray(0, points.length));
}

/** Returns the rows of `timeline.allocations` alive at `cut`, largest first, ties in their order. */
export function aliveAt(timeline: ITimeline, cut: number): readonly number[] {
  const { start, end, bytes, length } = timeline.allocations;
  const rows: number[] = [];
  for (let index = 0; index < length; index++) {
    if (at(start, index) < cut && cut <= at(end, index)) {
      rows.push(index);
    }
  }
  return rows.sort((a, b) => at(bytes, b) - at(bytes, a) || a - b);
}

/** The most allocated in one step, at the resolution of the points. */
export interface IStepPeak {
  readonly step: number;
  readonly point: number;
  readonly bytes: number;
  /** Row of the phases it lies in. */
  readonly phase: number;
}

/** Returns the peak of each step that has a point, in order; steps are contiguous in `phases`. */
export function peaksByStep(timeline: ITimeline, phases: IPhases): readonly IStepPeak[] {
  const peaks = new Map<number, IStepPeak>();
  const { points } = timeline;
  for (let point = 0; point < points.length; point++) {
    const phase = phaseAt(phases, at(points.cut, point));
    const step = phase < 0 ? -1 : at(phases.step, phase);
    const bytes = at(points.allocated, point);
    if (step >= 0 && bytes > (peaks.get(step)?.bytes ?? -1)) {
      peaks.set(step, { step, point, bytes, phase });
    }
  }
  return [...peaks.values()].sort((a, b) => a.step - b.step);
}

/**
 * Returns the row of the phase that `cut` lies in, -1 for none. On the border of two it is the
 * earlier: the moment after an event belongs to the phase of that event.
 */
export function phaseAt(phases: IPhases, cut: number): number {
  const row = firstAtLeast(phases.end, cut);
  return row < phases.length && at(phases.start, row) <= cut ? row : -1;
}

/** Returns the point whose value holds at `cut`: the last at or before it, else the first. */
export function pointAt(timeline: ITimeline, cut: number): number {
  return Math.max(0, lastAtMost(timeline.points.cut, cut));
}

/** Returns the largest of allocated and reserved at any point, 0 without points. */
export function highest(timeline: ITimeline): number {
  let most = 0;
  for (const column of [timeline.points.allocated, timeline.points.reserved ?? []]) {
    for (const bytes of column) {
      most = Math.max(most, bytes);
    }
  }
  return most;
}

function runningSum(changes: Float64Array): Float64Array {
  let sum = 0;
  return changes.map(change => (sum += change));
}
