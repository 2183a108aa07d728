// How wide columns are: in em, so that they grow with the text. What is left is shared out.
import type { ColumnKind, ILayerColumn } from '../../model/layers';

const LEAST_EM: Readonly<Record<ColumnKind, number>> = {
  bytes: 6,
  count: 4.4,
  flag: 5,
  text: 9.4,
  time: 6
};

/** A sign takes its room too. */
const SIGN_EM = 0.5;

/** Takes the width of the column of names from the style sheet, which narrows it in narrow places. */
const NAME_WIDTH = 'var(--memtrack-layers-name)';

/** A scroll bar, which takes its room from the columns. */
const SCROLL_BAR_EM = 1.5;

// Narrower than this, a column of names and three of figures are all that can be seen.
const NARROW_PX = 520;

/** Whether a table of `widthPx` has room for few columns only; one that is not laid out has not. */
export function isNarrow(widthPx: number): boolean {
  return widthPx > 0 && widthPx < NARROW_PX;
}

/** Returns `columns` with bytes before what explains them. */
export function bytesFirst(columns: readonly ILayerColumn[]): readonly ILayerColumn[] {
  const isBytes = ({ kind }: ILayerColumn): boolean => kind === 'bytes';
  return [...columns.filter(isBytes), ...columns.filter(column => !isBytes(column))];
}

/** Returns the value of `grid-template-columns` that all lines share. */
export function gridTemplate(columns: readonly ILayerColumn[]): string {
  const figures = columns.map(column => `minmax(${leastEm(column)}em, ${shareOf(column)}fr)`);
  // More than the least where the figures leave it: names are what differs most in length.
  const room = `100cqi - ${(figuresEm(columns) + SCROLL_BAR_EM).toFixed(1)}em`;
  const name = `clamp(${NAME_WIDTH}, min(34cqi, ${room}), 30em)`;
  return [`minmax(${name}, 4fr)`, ...figures].join(' ');
}

/** Returns the width below which the table scrolls sideways. */
export function leastWidth(columns: readonly ILayerColumn[]): string {
  return `calc(${NAME_WIDTH} + ${figuresEm(columns).toFixed(1)}em)`;
}

function figuresEm(columns: readonly ILayerColumn[]): number {
  return columns.reduce((total, column) => total + leastEm(column), 0);
}

function leastEm(column: ILayerColumn): number {
  // A word of a heading may not be cut; the padding takes 1.3 em.
  const longest = Math.max(...column.label.split(' ').map(widthEm));
  const sign = column.isSigned ? SIGN_EM : 0;
  return Math.max(LEAST_EM[column.kind] + sign, longest + 1.3);
}

/** About how wide a word is: the signs of East Asian scripts, which come late in Unicode, are square. */
function widthEm(word: string): number {
  return [...word].reduce((sum, sign) => sum + (sign > '\u2e80' ? 1 : 0.66), 0);
}

function shareOf(column: ILayerColumn): number {
  return column.kind === 'bytes' && !column.isSigned ? 1 : 0.5;
}
