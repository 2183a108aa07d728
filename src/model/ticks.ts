// Round values for axes: powers of two for bytes, 1-2-5 for times and counts.

/** Returns about `count` round byte values from 0 to at most `most`, each a multiple of the first. */
export function byteTicks(most: number, count: number): readonly number[] {
  const step = 2 ** Math.ceil(Math.log2(Math.max(1, most / count)));
  return multiples(0, most, step);
}

/** Returns about `count` round values in [start, end], at least `least` apart. */
export function roundTicks(
  start: number,
  end: number,
  count: number,
  least = 0
): readonly number[] {
  const rough = Math.max(least, (end - start) / count);
  if (!(rough > 0)) {
    return [start];
  }
  return multiples(start, end, roundStep(rough));
}

/** Returns the least of 1, 2, 5, 10, 20, … and their tenths that is at least `rough`. */
export function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
}

function multiples(start: number, end: number, step: number): readonly number[] {
  const first = Math.ceil(start / step);
  const count = Math.max(0, Math.floor(end / step) - first + 1);
  return Array.from({ length: count }, (_, index) => (first + index) * step);
}
