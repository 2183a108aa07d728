// Columns to the outline of an SVG area.
import { at } from '../base/assert';
import type { INumbers } from '../wire';

/** The range of positions and the largest value that the outline spans. */
export interface IExtent {
  readonly first: number;
  readonly last: number;
  readonly most: number;
}

/** A box of this size is stretched over the drawing, so that nothing depends on pixels. */
export const BOX = { width: 1000, height: 100 } as const;

/** Returns the path of the area under steps: each value holds until the next position. */
export function stepArea(positions: INumbers, values: INumbers, extent: IExtent): string {
  if (positions.length === 0) {
    return '';
  }
  const x = (position: number): number =>
    round(((position - extent.first) / Math.max(1e-9, extent.last - extent.first)) * BOX.width);
  const y = (value: number): number => round((1 - value / Math.max(1, extent.most)) * BOX.height);
  const parts = [`M${x(at(positions, 0))} ${BOX.height}`];
  for (let row = 0; row < positions.length; row++) {
    parts.push(`H${x(at(positions, row))}V${y(at(values, row))}`);
  }
  parts.push(`H${x(extent.last)}V${BOX.height}Z`);
  return parts.join('');
}

/** Rows at one position, least and most of what happened there, as one row each. */
export interface IRange {
  readonly positions: INumbers;
  readonly least: INumbers;
  readonly most: INumbers;
}

/** Returns the least and the most at each position, of rows in the order of their positions. */
export function rangeOf(positions: INumbers, values: INumbers): IRange {
  const found: number[] = [];
  const least: number[] = [];
  const most: number[] = [];
  for (let row = 0; row < positions.length; row++) {
    const value = at(values, row);
    const last = found.length - 1;
    if (last >= 0 && at(found, last) === at(positions, row)) {
      least[last] = Math.min(at(least, last), value);
      most[last] = Math.max(at(most, last), value);
    } else {
      found.push(at(positions, row));
      least.push(value);
      most.push(value);
    }
  }
  return { positions: found, least, most };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
