// The timelines known of one run, coarse and fine: which to draw for a window, what to ask for.
import { at } from '../base/assert';
import type { ITimeline } from '../wire';
import { firstAtLeast } from './search';
import type { IWindow } from './window';

// A few steps back when zooming out again; each is at most some hundred kB.
const MOST_KEPT = 8;
// With fewer points than this in sight a finer timeline shows more: one in two pixels of a column.
const ENOUGH_POINTS = 500;

/** The timeline of a whole run and finer ones of parts of it. */
export class Levels {
  private _finer: readonly ITimeline[] = [];

  constructor(readonly whole: ITimeline) {}

  /** Keep a finer timeline of some part; the oldest are let go. */
  add(timeline: ITimeline): void {
    this._finer = [timeline, ...this._finer].slice(0, MOST_KEPT);
  }

  /** The finest known timeline that covers `window`. */
  best(window: IWindow): ITimeline {
    return this._finer
      .filter(timeline => covers(timeline, window))
      .reduce((best, next) => (next.bucketEvents < best.bucketEvents ? next : best), this.whole);
  }

  /** The window to ask for when `window` deserves finer data than is known. */
  wanted(window: IWindow): IWindow | undefined {
    const best = this.best(window);
    const { cut } = best.points;
    const inSight = firstAtLeast(cut, window.end) - firstAtLeast(cut, window.start);
    if (best.bucketEvents <= 1 || inSight >= ENOUGH_POINTS) {
      return undefined;
    }
    // Half a window more on each side, so that a small pan needs no new answer.
    const margin = Math.round((window.end - window.start) / 2);
    return {
      start: Math.max(0, window.start - margin),
      end: Math.min(this.whole.cuts, window.end + margin)
    };
  }
}

function covers(timeline: ITimeline, window: IWindow): boolean {
  const { cut, length } = timeline.points;
  return length > 0 && at(cut, 0) <= window.start && at(cut, length - 1) >= window.end;
}
