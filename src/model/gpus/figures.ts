// Bytes in the reader's unit and spans of time in one breath, of widths that hardly change.
import { formatBytes } from '../../base/bytes';
import type { Units } from './settings';

/** Returns `bytes` in the unit that fits or in the one the reader chose: `14.2 GiB`, `14,541 MiB`. */
export function bytesIn(units: Units, bytes: number): string {
  switch (units) {
    case 'MiB':
      return `${Math.round(bytes / 2 ** 20).toLocaleString('en-US')} MiB`;
    case 'GiB':
      return `${(bytes / 2 ** 30).toFixed(2)} GiB`;
    default:
      return formatBytes(bytes);
  }
}

/** The unit of a span of time and how many of it are over. */
export interface ISpan {
  readonly unit: 'second' | 'minute' | 'hour' | 'day';
  readonly count: number;
}

/** Returns the largest unit of which `seconds` has one, and how many: 7300 s are two hours. */
export function spanOf(seconds: number): ISpan {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) {
    return { unit: 'second', count: whole };
  }
  if (whole < 3600) {
    return { unit: 'minute', count: Math.floor(whole / 60) };
  }
  return whole < 86_400
    ? { unit: 'hour', count: Math.floor(whole / 3600) }
    : { unit: 'day', count: Math.floor(whole / 86_400) };
}
