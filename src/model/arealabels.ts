// Where the name of an area fits inside it: the place with the most room above and below.
import { at } from '../base/assert';
import type { INumbers } from '../wire';
import { lastAtMost } from './search';

/** One area of a stack, in pixels: between `bottom` and `top` from each of `lefts` to the next. */
export interface IArea {
  readonly lefts: INumbers;
  readonly bottom: INumbers;
  readonly top: INumbers;
  /** Right edge of the last step. */
  readonly end: number;
}

/** A box for a name, in pixels of the area; `x` and `y` are its centre. */
export interface IPlace {
  readonly x: number;
  readonly y: number;
}

/**
 * Returns where a box of `width` × `height` fits inside `area` best; undefined for nowhere. Where there
 * is a line at `lineX`, the box lies on one side of it.
 */
export function placeInside(
  area: IArea,
  width: number,
  height: number,
  lineX = NaN
): IPlace | undefined {
  let best: IPlace | undefined;
  let mostRoom = height;
  for (let first = 0; first < area.lefts.length; first++) {
    const left = at(area.lefts, first);
    if (left + width > area.end) {
      break;
    }
    if (left <= lineX && lineX <= left + width) {
      continue;
    }
    const last = lastAtMost(area.lefts, left + width);
    const [low, high] = roomBetween(area, first, last, mostRoom);
    if (high - low > mostRoom) {
      mostRoom = high - low;
      best = { x: left + width / 2, y: (low + high) / 2 };
    }
  }
  return best;
}

/** The highest bottom and the lowest top from step `first` to `last`; gives up below `least`. */
function roomBetween(
  area: IArea,
  first: number,
  last: number,
  least: number
): readonly [number, number] {
  let low = -Infinity;
  let high = Infinity;
  for (let step = first; step <= last && high - low > least; step++) {
    low = Math.max(low, at(area.bottom, step));
    high = Math.min(high, at(area.top, step));
  }
  return [low, high];
}
