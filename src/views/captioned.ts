// A small table under its caption, and the cells that such tables share.
import { formatBytes, formatChange, formatDuration } from '../base/bytes';
import { element } from './dom';

/** The class of cells and headings of figures. */
export const NUMBER = 'memtrack-mod-number';

/** Returns a table; one that is too wide scrolls by itself, with the keyboard too. */
export function captioned(
  label: string,
  columns: readonly (readonly [string, string?])[],
  rows: readonly HTMLElement[],
  sum?: HTMLElement
): HTMLElement {
  const head = columns.map(([text, kind]) => element('th', { scope: 'col', class: kind }, text));
  const made = element(
    'table',
    { class: 'memtrack-Table memtrack-Captioned' },
    element('caption', {}, label),
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...rows),
    ...(sum === undefined ? [] : [element('tfoot', {}, sum)])
  );
  return element(
    'div',
    { class: 'memtrack-Captioned-scroll', tabindex: '0', role: 'group', 'aria-label': label },
    made
  );
}

/** Returns bytes as a cell, an empty one where they are not known. */
export function bytesCell(bytes: number | undefined): HTMLElement {
  return bytes === undefined
    ? element('td', {})
    : element('td', { class: NUMBER, title: `${bytes} B` }, formatBytes(bytes));
}

/** Returns a time as a cell, an empty one where there is none. */
export function timeCell(nanoseconds: number | undefined): HTMLElement {
  return nanoseconds === undefined || nanoseconds === 0
    ? element('td', {})
    : element('td', { class: NUMBER, title: `${nanoseconds} ns` }, formatDuration(nanoseconds));
}

/** Returns a change as text with the class that tells more from less. */
export function changeCell(change: number): HTMLElement {
  const kind = change > 0 ? ' memtrack-mod-more' : change < 0 ? ' memtrack-mod-less' : '';
  return element('td', { class: `${NUMBER}${kind}`, title: `${change} B` }, formatChange(change));
}
