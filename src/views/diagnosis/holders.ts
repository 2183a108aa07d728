// Who held the memory, largest first, with bars to compare.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatBytes } from '../../base/bytes';
import type { IDiagnosis, IHolder } from '../../wire/diagnosis';
import { button, element } from '../dom';
import { cutInside, splitSite } from '../pathparts';
import { section } from './section';
import type { Say } from './why';

// More than these say little: the first ones are the answer.
const SHOWN = 6;

/** Returns the ranking of holders; undefined where none is known. */
export function holdersSection(
  { holders }: IDiagnosis,
  say: Say,
  trans: TranslationBundle
): HTMLElement | undefined {
  if (holders.length === 0) {
    return undefined;
  }
  const most = Math.max(1, ...holders.map(({ bytes }) => bytes));
  const hasBlocks = holders.some(({ allocations }) => allocations > 0);
  const rows = holders.map(holder => rowOf(holder, most, hasBlocks, say));
  const rest = rows.slice(SHOWN);
  const title = trans.__('Who held the memory');
  const number = 'memtrack-mod-number';
  const heads = [trans.__('Memory'), ...(hasBlocks ? [trans.__('Blocks')] : [])];
  const table = element(
    'table',
    { class: 'memtrack-Table memtrack-Holders' },
    element('caption', { class: 'memtrack-mod-heard' }, title),
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        element('th', { scope: 'col' }, trans.__('Holder')),
        ...heads.map(head => element('th', { scope: 'col', class: number }, head))
      )
    ),
    element('tbody', {}, ...rows)
  );
  return section('holders', title, table, ...(rest.length === 0 ? [] : [foldOf(rest, trans)]));
}

function rowOf(
  { name, bytes, allocations }: IHolder,
  most: number,
  hasBlocks: boolean,
  say: Say
): HTMLElement {
  const bar = element('span', { class: 'memtrack-Holders-bar', 'aria-hidden': 'true' });
  bar.style.width = `${(100 * bytes) / most}%`;
  const text = say(name);
  const number = { class: 'memtrack-mod-number' };
  const blocks = allocations > 0 ? allocations.toLocaleString() : '';
  return element(
    'tr',
    {},
    element(
      'th',
      { scope: 'row', title: text },
      element('span', { class: 'memtrack-Holders-name', dir: 'auto' }, nameNode(text)),
      bar
    ),
    element('td', { ...number, title: `${bytes} B` }, formatBytes(bytes)),
    ...(hasBlocks ? [element('td', number, blocks)] : [])
  );
}

/** A path gives way in its middle, all else is written on in the next line. */
function nameNode(text: string): Node | string {
  const parts = splitSite(text);
  return parts[0] === '' ? text : cutInside('memtrack-Holders-site', parts);
}

/** The button under the table that shows the smaller ones too. */
function foldOf(rest: readonly HTMLElement[], trans: TranslationBundle): HTMLElement {
  const apply = (isOpen: boolean): void => {
    rest.forEach(row => (row.hidden = !isOpen));
    toggle.setAttribute('aria-expanded', String(isOpen));
    toggle.textContent = isOpen ? trans.__('Fewer') : trans._n('%1 more', '%1 more', rest.length);
  };
  const toggle = button({ class: 'memtrack-Link' }, () =>
    apply(toggle.getAttribute('aria-expanded') !== 'true')
  );
  apply(false);
  return toggle;
}
