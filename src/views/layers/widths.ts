// How wide columns are: in em, so that they grow with the text. What is left is shared out.
import type { ColumnKind, ILayerColumn } from '../../model/layers';

const LEAST_EM: Readonly<Record<ColumnKind, number>> = {
  bytes: 6,
  change: 6.5,
  count: 4.4,
  flag: 5,
  text: 9.4,
  time: 6
};

/** Takes the width of the column of names from the style sheet, which narrows it in narrow places. */
const NAME_WIDTH = 'var(--memtrack-layers-name)';

/** Returns the value of `grid-template-columns` that all lines share. */
export function gridTemplate(columns: readonly ILayerColumn[]): string {
  const figures = columns.map(column => `minmax(${leastEm(column)}em, ${shareOf(column)}fr)`);
  return [`minmax(${NAME_WIDTH}, 4fr)`, ...figures].join(' ');
}

/** Returns the width below which the table scrolls sideways. */
export function leastWidth(columns: readonly ILayerColumn[]): string {
  const sum = columns.reduce((total, column) => total + leastEm(column), 0);
  return `calc(${NAME_WIDTH} + ${sum.toFixed(1)}em)`;
}

function leastEm(column: ILayerColumn): number {
  // A word of a heading may not be cut; the padding takes 1.3 em.
  const longest = Math.max(...column.label.split(' ').map(widthEm));
  return Math.max(LEAST_EM[column.kind], longest + 1.3);
}

/** About how wide a word is: the signs of East Asian scripts, which come late in Unicode, are square. */
function widthEm(word: string): number {
  return [...word].reduce((sum, sign) => sum + (sign > '\u2e80' ? 1 : 0.66), 0);
}

function shareOf(column: ILayerColumn): number {
  return column.kind === 'bytes' ? 1 : 0.5;
}
