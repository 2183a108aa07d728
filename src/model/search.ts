// Binary search in ascending columns.
import { at } from '../base/assert';
import type { INumbers } from '../wire';

/** Returns the first index whose value is at least `value`; the length when there is none. */
export function firstAtLeast(column: INumbers, value: number): number {
  let low = 0;
  let high = column.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(column, middle) < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** Returns the last index whose value is at most `value`; -1 when there is none. */
export function lastAtMost(column: INumbers, value: number): number {
  let low = 0;
  let high = column.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(column, middle) <= value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - 1;
}
