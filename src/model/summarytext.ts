// The table of the allocator's statistics as text, line for line as PyTorch prints it: 75 columns,
// figures rounded down to whole units, one unit for each column of a group, one for each difference.
import type { ISummaryGroup } from './summary';

/** The words of the table, in the reader's language. */
export interface ISummaryWords {
  /** Lines above the table: the device, then its moments. */
  readonly headings: readonly string[];
  /** How often memory ran out, how often emptying the cache found some. */
  readonly counters: readonly [string, string];
  readonly metric: string;
  readonly columns: readonly string[];
  /** Whether the last two columns are differences. */
  readonly isCompared: boolean;
  readonly rowName: (group: ISummaryGroup, row: number) => string;
}

const WIDTH = 75;
const NAME = 21;
const CELL = 11;
const BYTES_LIMIT = 768 * 1024;
const COUNTS_LIMIT = 750 * 1000;
// A signed figure has a digit less, so that it fits its column.
const SIGNED_LIMIT = 100_000;

interface IUnit {
  readonly size: number;
  readonly suffix: string;
}

const BYTES: readonly IUnit[] = ['B  ', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'].map((suffix, power) => ({
  size: 1024 ** power,
  suffix
}));
const COUNTS: readonly IUnit[] = ['  ', 'K ', 'M '].map((suffix, power) => ({
  size: 1000 ** power,
  suffix
}));

/** Returns the table of `groups` as text, without a line break at its end. */
export function summaryText(groups: readonly ISummaryGroup[], words: ISummaryWords): string {
  const [ooms, retries] = words.counters;
  const lines = [
    '='.repeat(WIDTH),
    ...words.headings.map(centred),
    '-'.repeat(WIDTH),
    `${left(' '.repeat(12) + ooms, 36)}|${left(' '.repeat(8) + retries, 38)}`,
    '='.repeat(WIDTH),
    titleLine(words)
  ];
  for (const group of groups) {
    lines.push('-'.repeat(WIDTH), ...groupLines(group, words));
  }
  return [...lines, '='.repeat(WIDTH)].map(line => `|${line}|`).join('\n');
}

/** Returns how many columns of a terminal `text` takes: East Asian characters take two. */
export function displayWidth(text: string): number {
  return [...text].reduce((width, character) => width + (isWide(character) ? 2 : 1), 0);
}

function isWide(character: string): boolean {
  return /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/.test(
    character
  );
}

function left(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

function centred(text: string): string {
  const cell = shortened(text, WIDTH - 2);
  return left(' '.repeat(Math.floor((WIDTH - displayWidth(cell)) / 2)) + cell, WIDTH);
}

function shortened(text: string, width: number): string {
  if (displayWidth(text) <= width) {
    return text;
  }
  let kept = '';
  for (const character of text) {
    if (displayWidth(kept + character) > width - 1) {
      break;
    }
    kept += character;
  }
  return `${kept}…`;
}

function titleLine({ metric, columns }: ISummaryWords): string {
  const before = ' '.repeat(Math.max(0, Math.floor((NAME + 2 - displayWidth(metric)) / 2)));
  const cells = columns.map(name => ` ${left(name, CELL)}`);
  return [left(before + metric, NAME + 2), ...cells].join('|');
}

function groupLines(group: ISummaryGroup, words: ISummaryWords): readonly string[] {
  const columns = words.columns.map((_, column) =>
    cellsOf(
      group.rows.map(row => row.figures[column]),
      group.isBytes,
      words.isCompared && column >= 2
    )
  );
  return group.rows.map((_, row) => {
    const name = (row > 0 ? ' '.repeat(6) : '') + words.rowName(group, row);
    const cells = columns.map(column => ` ${left(column[row] ?? '', CELL)}`);
    return [` ${left(name, NAME)} `, ...cells].join('|');
  });
}

/** The figures of a column of one group in the unit of the first, differences each in its own. */
function cellsOf(
  figures: readonly (number | undefined)[],
  isBytes: boolean,
  isSigned: boolean
): readonly string[] {
  const first = figures.find(figure => figure !== undefined) ?? 0;
  const limit = isSigned ? SIGNED_LIMIT : isBytes ? BYTES_LIMIT : COUNTS_LIMIT;
  const units = isBytes ? BYTES : COUNTS;
  const width = isBytes ? 6 : 7;
  return figures.map(figure => {
    // The pools may have grown and shrunk by much more, or less, than both together.
    const most = Math.abs((isSigned ? figure : first) ?? 0);
    const unit = units.find(({ size }) => most < limit * size) ?? units[units.length - 1];
    if (figure === undefined || unit === undefined) {
      return '-'.padStart(width).padEnd(CELL - 1);
    }
    const sign = figure < 0 ? '-' : isSigned && figure > 0 ? '+' : '';
    const whole = Math.floor(Math.abs(figure) / unit.size);
    return `${`${sign}${whole}`.padStart(width)} ${unit.suffix}`;
  });
}
