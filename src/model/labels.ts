// Where labels go so that they never overlap. Lengths are in pixels, positions along the bar.

/** A label that wants to be at `centre`, `width` wide. */
export interface ILabel {
  readonly centre: number;
  readonly width: number;
}

const GAP = 10;

/**
 * Returns the left edge of each label in one row of `length`, or undefined where it does not fit:
 * the first of `order` has the first choice.
 */
export function fitLabels(
  labels: readonly ILabel[],
  order: readonly number[],
  length: number
): readonly (number | undefined)[] {
  const lefts = labels.map((): number | undefined => undefined);
  const taken: [number, number][] = [];
  for (const index of order) {
    const label = labels[index];
    if (label === undefined || label.width > length) {
      continue;
    }
    const left = Math.min(Math.max(0, label.centre - label.width / 2), length - label.width);
    const right = left + label.width;
    if (taken.every(([from, to]) => right + GAP <= from || left >= to + GAP)) {
      taken.push([left, right]);
      lefts[index] = left;
    }
  }
  return lefts;
}

/**
 * Returns the row of each label when it hangs to the right of a line down from its centre, and no
 * line crosses a label: from right to left, each goes into the first row that is free.
 */
export function flagRows(labels: readonly ILabel[]): readonly number[] {
  const rows = labels.map(() => 0);
  const starts: number[] = [];
  const rightToLeft = labels.map((_, index) => index).reverse();
  for (const index of rightToLeft) {
    const { centre, width } = labels[index] ?? { centre: 0, width: 0 };
    const free = starts.findIndex(start => centre + width + GAP <= start);
    const row = free < 0 ? starts.length : free;
    // The line down to it takes its place in the rows above as well.
    starts.fill(centre, 0, row);
    starts[row] = centre;
    rows[index] = row;
  }
  return rows;
}

/**
 * Returns the longest bar in `length` whose every label still ends within it; `centres` are shares
 * of the bar, `widths` pixels.
 */
export function barLength(
  centres: readonly number[],
  widths: readonly number[],
  length: number
): number {
  const limits = centres.map((centre, index) =>
    centre > 0 ? (length - (widths[index] ?? 0)) / centre : length
  );
  return Math.max(0, Math.min(length, ...limits));
}

/**
 * Returns left edges in one row, in order and without overlap, each as near its centre as that
 * allows; undefined when together they are longer than `length`.
 */
export function spreadLabels(
  labels: readonly ILabel[],
  length: number
): readonly number[] | undefined {
  const together = labels.reduce((sum, label) => sum + label.width, 0);
  if (together > length) {
    return undefined;
  }
  const lefts: number[] = [];
  let end = 0;
  for (const { centre, width } of labels) {
    const left = Math.max(end, centre - width / 2);
    lefts.push(left);
    end = left + width;
  }
  // What was pushed over the end is pushed back, its neighbours with it.
  let limit = length;
  for (let index = labels.length - 1; index >= 0; index--) {
    const width = labels[index]?.width ?? 0;
    const left = Math.min(lefts[index] ?? 0, limit - width);
    lefts[index] = left;
    limit = left;
  }
  return lefts;
}
