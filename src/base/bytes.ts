// Bytes, times and counts as people read them: the twin of python_pkg/memtrack/units.py. Both are
// checked against python_pkg/tests/fixtures/units.json, so that text and pixels never differ.
import { at } from './assert';

interface IUnit {
  readonly size: number;
  readonly name: string;
}

const BINARY: readonly IUnit[] = [
  { size: 2 ** 40, name: 'TiB' },
  { size: 2 ** 30, name: 'GiB' },
  { size: 2 ** 20, name: 'MiB' },
  { size: 2 ** 10, name: 'KiB' }
];
const SHORT: readonly IUnit[] = [
  { size: 1e12, name: 'T' },
  { size: 1e9, name: 'B' },
  { size: 1e6, name: 'M' },
  { size: 1e3, name: 'k' }
];
const SECONDS: readonly IUnit[] = [
  { size: 1e9, name: 's' },
  { size: 1e6, name: 'ms' },
  { size: 1e3, name: 'µs' }
];

/** Returns bytes with three significant digits and a binary unit: `1.50 KiB`, `-3.00 GiB`. */
export function formatBytes(bytes: number): string {
  const magnitude = Math.abs(bytes);
  const text = magnitude < 1024 ? `${magnitude} B` : withUnit(magnitude, BINARY, 1024);
  return (bytes < 0 ? '-' : '') + text;
}

/** Returns a difference in bytes, always signed: `+1.50 KiB`, `-3.00 GiB`, `±0 B`. */
export function formatChange(bytes: number): string {
  return withSign(bytes, formatBytes);
}

/** Returns a difference as `format` writes its size, always signed. */
export function withSign(change: number, format: (size: number) => string): string {
  const sign = change === 0 ? '±' : change > 0 ? '+' : '-';
  return sign + format(Math.abs(change));
}

/** Returns a time span with three significant digits: `950 ns`, `41.2 ms`, `1 min 15 s`. */
export function formatDuration(nanoseconds: number): string {
  if (nanoseconds < 999.5) {
    return `${rounded(nanoseconds, 0)} ns`;
  }
  if (nanoseconds < 59.95e9) {
    return withUnit(nanoseconds, SECONDS, 1000);
  }
  const seconds = Number(rounded(nanoseconds / 1e9, 0));
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Returns a count with short suffixes as the field writes them: `124 M`, `1.56 B`. */
export function formatCount(count: number): string {
  const magnitude = Math.abs(count);
  const text = magnitude < 1000 ? String(magnitude) : withUnit(magnitude, SHORT, 1000);
  return (count < 0 ? '-' : '') + text;
}

/** Returns `part` of `whole` as a whole percentage; `<1 %` for a part that rounds to nothing. */
export function formatPercent(part: number, whole: number): string {
  if (whole <= 0) {
    return '0 %';
  }
  const share = (100 * part) / whole;
  return share > 0 && share < 1 ? '<1 %' : `${rounded(share, 0)} %`;
}

/** Three digits in the largest unit that fits; what rounds up to `base` is 1 of the next. */
function withUnit(magnitude: number, units: readonly IUnit[], base: number): string {
  const found = units.findIndex(unit => magnitude >= unit.size);
  let index = found < 0 ? units.length - 1 : found;
  let text = threeDigits(magnitude / at(units, index).size);
  if (text === String(base) && index > 0) {
    index -= 1;
    text = threeDigits(magnitude / at(units, index).size);
  }
  return `${text} ${at(units, index).name}`;
}

function threeDigits(value: number): string {
  return rounded(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

/** As Python rounds: a tie goes to the even digit, where `toFixed` goes up (1.125 is 1.12). */
function rounded(value: number, digits: number): string {
  const scaled = value * 10 ** digits;
  const below = Math.floor(scaled);
  if (scaled - below !== 0.5) {
    return value.toFixed(digits);
  }
  return ((below % 2 === 0 ? below : below + 1) / 10 ** digits).toFixed(digits);
}

/** Returns `text` with every figure and its unit on one line. */
export function together(text: string): string {
  return text.replace(/(\d) (?=(?:[KMGT]i)?B\b|%|min\b|[smhd]\b)/g, '$1\u00a0');
}
