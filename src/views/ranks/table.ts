// All ranks as rows with their peaks to one scale; a radio button in each chooses the one to look into.
import type { TranslationBundle } from '@jupyterlab/translation';

import { at } from '../../base/assert';
import { formatBytes } from '../../base/bytes';
import type { IRank, IRanks } from '../../wire/ranks';
import { NUMBER, bytesCell, captioned, timeCell } from '../captioned';
import { element } from '../dom';
import { partsBar, partsLegend } from '../partsbar';
import { devicePlace, peakPlace, stateName } from './words';

/** More would hide those that are there; the sentences above name them all. */
const MOST_MISSING = 16;
const CHOSEN = 'memtrack-mod-chosen';

let tables = 0;

/** Returns the table; `choose` hears the place of the rank that the reader wants to see. */
export function ranksTable(
  ranks: IRanks,
  first: number,
  choose: (index: number) => void,
  trans: TranslationBundle
): HTMLElement {
  const group = `memtrack-ranks-${++tables}`;
  const rows = ranks.ranks.map((rank, index) => {
    const radio = element('input', { type: 'radio', name: group });
    const row = rankRow(ranks, index, radio, trans);
    const apply = (): void => {
      rows.forEach(other => other.node.classList.toggle(CHOSEN, other.node === row));
      choose(index);
    };
    radio.addEventListener('change', apply);
    radio.checked = index === first;
    row.classList.toggle(CHOSEN, radio.checked);
    // The whole row is easier to hit than its button, which it clicks.
    row.addEventListener('click', ({ target }) => {
      if (!(target instanceof Element && target.closest('label'))) {
        radio.click();
      }
    });
    return { rank: rank.rank, node: row };
  });
  const missing = ranks.missing
    .slice(0, MOST_MISSING)
    .map(rank => ({ rank, node: missingRow(ranks, rank, trans) }));
  const all = [...rows, ...missing].sort((a, b) => a.rank - b.rank).map(({ node }) => node);
  const table = captioned(trans.__('Peaks of the ranks'), columnsOf(ranks, trans), all);
  table.classList.add('memtrack-Ranks-table');
  table.style.setProperty(
    '--memtrack-mean',
    `${(100 * ranks.meanPeak) / Math.max(1, ranks.maxPeak)}%`
  );
  return table;
}

/** Returns what the colours of the bars and the line across them stand for. */
export function ranksLegend(
  { categories, meanPeak }: IRanks,
  trans: TranslationBundle
): HTMLElement {
  const mean = trans.__('mean: %1', formatBytes(meanPeak));
  return partsLegend(categories, trans, element('span', { class: 'memtrack-Ranks-mean' }, mean));
}

/** Reserved memory is not known of every recording: without it there is no column. */
function hasReserved({ ranks }: IRanks): boolean {
  return ranks.some(({ reserved }) => reserved >= 0);
}

function columnsOf(
  ranks: IRanks,
  trans: TranslationBundle
): readonly (readonly [string, string?])[] {
  return [
    [trans.__('Rank')],
    [trans.__('Device')],
    [trans.__('Peak'), NUMBER],
    [trans.__('To one scale')],
    ...(hasReserved(ranks) ? [[trans.__('Reserved'), NUMBER] as const] : []),
    [trans.__('Steps'), NUMBER],
    [trans.__('A step'), NUMBER],
    [trans.__('State')],
    [trans.__('Where')]
  ];
}

function rankRow(
  ranks: IRanks,
  index: number,
  radio: HTMLElement,
  trans: TranslationBundle
): HTMLTableRowElement {
  const rank = at(ranks.ranks, index);
  const { peak } = rank;
  const parts = ranks.categories.map(({ id, bytes }) => ({ id, bytes: bytes[index] ?? 0 }));
  return element(
    'tr',
    {},
    element(
      'th',
      { scope: 'row' },
      element(
        'label',
        { class: 'memtrack-Ranks-rank' },
        radio,
        trans.__('rank %1', String(rank.rank))
      )
    ),
    element('td', { title: rank.device?.name }, devicePlace(rank)),
    bytesCell(peak?.bytes),
    peak === undefined
      ? element('td', {}, trans.__('no memory seen'))
      : element('td', { class: 'memtrack-Ranks-bar' }, partsBar(parts, ranks.maxPeak, trans)),
    ...(hasReserved(ranks) ? [bytesCell(rank.reserved < 0 ? undefined : rank.reserved)] : []),
    element('td', { class: NUMBER }, String(rank.steps)),
    timeCell(rank.stepNs),
    element('td', {}, ...stateOf(rank, trans)),
    element('td', { dir: 'auto' }, peak ? peakPlace(peak, trans) : '')
  );
}

/** A rank that did not end well stands out. */
function stateOf({ state }: IRank, trans: TranslationBundle): readonly (HTMLElement | string)[] {
  const word = stateName(state, trans);
  if (state === 'complete') {
    return [word];
  }
  const title = state === 'recording' ? trans.__('It was killed, or still runs') : undefined;
  return [element('span', { class: 'memtrack-Badge memtrack-mod-interrupted', title }, word)];
}

function missingRow(ranks: IRanks, rank: number, trans: TranslationBundle): HTMLTableRowElement {
  return element(
    'tr',
    { class: 'memtrack-Ranks-missing' },
    element('th', { scope: 'row' }, trans.__('rank %1', String(rank))),
    element('td', { colspan: String(columnsOf(ranks, trans).length - 1) }, trans.__('no recording'))
  );
}
