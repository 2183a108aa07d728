// Cuts to positions on the horizontal axis and back. A position is a cut or nanoseconds.
import { at } from '../base/assert';
import type { INumbers, ITimeline } from '../wire';
import { lastAtMost } from './search';

/** What the horizontal axis may count. */
export const AXES = ['events', 'time'] as const;

/** What the horizontal axis counts. */
export type Axis = (typeof AXES)[number];

/** The horizontal axis over one timeline; between its points, time is interpolated. */
export class Scale {
  constructor(
    private readonly _timeline: ITimeline,
    readonly axis: Axis
  ) {}

  /** The position of each point. */
  get positions(): INumbers {
    return this.axis === 'events' ? this._timeline.points.cut : this._timeline.points.timeNs;
  }

  positionOf(cut: number): number {
    const { points, cuts, durationNs } = this._timeline;
    return this.axis === 'events'
      ? cut
      : interpolated(points.cut, points.timeNs, cut, [cuts, durationNs]);
  }

  /** The cut at `position`; between two points it may be fractional. */
  cutAt(position: number): number {
    const { points, cuts, durationNs } = this._timeline;
    return this.axis === 'events'
      ? position
      : interpolated(points.timeNs, points.cut, position, [durationNs, cuts]);
  }
}

/** Linear between the rows of two ascending columns, from (0, 0) before them to `last` after. */
function interpolated(
  from: INumbers,
  to: INumbers,
  value: number,
  last: readonly [number, number]
): number {
  const row = lastAtMost(from, value);
  const [x0, y0] = row < 0 ? [0, 0] : [at(from, row), at(to, row)];
  const [x1, y1] =
    row + 1 < from.length ? [at(from, row + 1), at(to, row + 1)] : [last[0], last[1]];
  return x1 > x0 ? y0 + ((y1 - y0) * (value - x0)) / (x1 - x0) : y0;
}
