// A history as the path of a drawing that is 100 units wide and high, the newest at the right.
import type { IStretch } from './history';

/** The line over the values and the area under it; "" for none. */
export interface ISparkPath {
  readonly line: string;
  readonly area: string;
}

/** Returns the paths of `stretches` over the `spanMs` before `now`, `most` being the top. */
export function sparkPath(
  stretches: readonly IStretch[],
  now: number,
  spanMs: number,
  most: number
): ISparkPath {
  const lines: string[] = [];
  const areas: string[] = [];
  for (const { times, values } of stretches) {
    const points = times.map((time, index) => {
      const x = 100 * (1 - (now - time) / spanMs);
      const y = 100 - (100 * Math.min(most, values[index] ?? 0)) / Math.max(1, most);
      return `${rounded(x)} ${rounded(y)}`;
    });
    const first = points[0]?.split(' ')[0] ?? '0';
    const last = points[points.length - 1]?.split(' ')[0] ?? '0';
    lines.push(`M${points.join('L')}`);
    areas.push(`M${first} 100L${points.join('L')}L${last} 100Z`);
  }
  return { line: lines.join(''), area: areas.join('') };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
