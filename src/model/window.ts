// The part of a run that is looked at: cuts from start to end, always within the run.
import type { ITimeline } from '../wire';

/** Cuts `start` to `end`, `start < end` unless the run is empty. */
export interface IWindow {
  readonly start: number;
  readonly end: number;
}

// Closer than this there is nothing more to see: eight events fill the width.
const LEAST_CUTS = 8;

/** Returns the window of the whole run. */
export function wholeOf(timeline: ITimeline): IWindow {
  return { start: 0, end: timeline.cuts };
}

export function isWhole(window: IWindow, cuts: number): boolean {
  return window.start <= 0 && window.end >= cuts;
}

/** Returns `window` moved by `share` of its width, stopped by the ends of the run. */
export function panned(window: IWindow, share: number, cuts: number): IWindow {
  const width = window.end - window.start;
  return within(window.start + share * width, width, cuts);
}

/** Returns `window` with `factor` times its width, `centre` staying where it is on the screen. */
export function zoomed(window: IWindow, factor: number, centre: number, cuts: number): IWindow {
  const width = window.end - window.start;
  const wanted = Math.min(cuts, Math.max(LEAST_CUTS, width * factor));
  const share = width > 0 ? (centre - window.start) / width : 0;
  return within(centre - share * wanted, wanted, cuts);
}

/** Returns the window between two cuts in any order, widened to the least width. */
export function between(one: number, other: number, cuts: number): IWindow {
  const start = Math.min(one, other);
  const width = Math.max(LEAST_CUTS, Math.abs(other - one));
  return within(start - (width - Math.abs(other - one)) / 2, width, cuts);
}

/** Returns `window` moved just far enough that `cut` lies in it. */
export function including(window: IWindow, cut: number, cuts: number): IWindow {
  if (cut >= window.start && cut <= window.end) {
    return window;
  }
  const width = window.end - window.start;
  return within(cut - width / 2, width, cuts);
}

function within(start: number, width: number, cuts: number): IWindow {
  const fitted = Math.min(Math.round(width), cuts);
  const first = Math.min(Math.max(0, Math.round(start)), cuts - fitted);
  return { start: first, end: first + fitted };
}
