// Counts as people write them, and the stops of a slider over them.
import { formatCount } from '../../base/bytes';

const SCALES: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, b: 1e9, g: 1e9, t: 1e12 };

/** Returns the number that `7B`, `1.3 b` or `4096` stands for; undefined for what is none. */
export function parseCount(text: string): number | undefined {
  const match = /^(\d[\d_,]*(?:\.\d+)?|\.\d+)\s*([kmbgt]?)$/i.exec(text.trim());
  if (match === null) {
    return undefined;
  }
  const [, digits = '', suffix = ''] = match;
  const count = Math.round(
    Number(digits.replace(/[_,]/g, '')) * (SCALES[suffix.toLowerCase()] ?? 1)
  );
  return Number.isSafeInteger(count) ? count : undefined;
}

/** Returns a count in few characters: `7B`, `8.03B`, `4096`; exact below a million. */
export function writtenCount(count: number): string {
  for (const [suffix, scale] of [
    ['T', 1e12],
    ['B', 1e9],
    ['M', 1e6]
  ] as const) {
    const digits = String(count / scale);
    if (count >= scale && digits.length <= 5) {
      return `${digits}${suffix}`;
    }
  }
  return count < 1e6 ? String(count) : formatCount(count).replace(' ', '');
}

/** Powers of two from 2^from to 2^to. */
export function powers(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => 2 ** (from + index));
}

/** More parameters than any model has. */
export const MOST_PARAMETERS = 1e13;

/** Model sizes from 100 M to 2 T, evenly spread to the eye. */
export const MODEL_SIZES: readonly number[] = [1e8, 1e9, 1e10, 1e11, 1e12]
  .flatMap(scale => [1, 1.3, 1.5, 2, 3, 4, 5, 7, 8].map(step => Math.round(step * scale)))
  .filter(count => count <= 2e12);

/** The stop nearest to `count`, by ratio. */
export function nearestStop(stops: readonly number[], count: number): number {
  const distance = (stop: number): number =>
    Math.abs(Math.log(Math.max(stop, 0.5) / Math.max(count, 0.5)));
  return stops.reduce(
    (best, stop, index) => (distance(stop) < distance(stops[best] ?? 0) ? index : best),
    0
  );
}
