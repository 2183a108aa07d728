// What moved the peak, phase by phase, part by part of the device, and what else is not the same.
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IComparison, INamedPair, IPhasePair } from '../../wire/comparison';
import { NUMBER, bytesCell, captioned, changeCell, timeCell } from '../captioned';
import { element } from '../dom';
import { categoryName, partName, phaseName } from '../names';
import { swatch } from '../swatch';

/** More would be a list of layers, which the table of layers is. */
const MOST_MOVERS = 12;

/** Returns what moved the peak: categories with their layers, the largest change first. */
export function moversTable(comparison: IComparison, trans: TranslationBundle): HTMLElement {
  const { movers } = comparison;
  const rest = movers.slice(MOST_MOVERS);
  const rows = movers
    .slice(0, MOST_MOVERS)
    .map(({ category, where, layers, isRest, change }) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, swatch(category), categoryName(category, trans)),
        element(
          'td',
          { class: 'memtrack-mod-path', dir: 'auto' },
          where || (isRest ? trans.__('elsewhere') : trans.__('in many places')),
          ...(layers > 1 ? [` (${trans._n('%1 layer', '%1 layers', layers)})`] : [])
        ),
        changeCell(change)
      )
    );
  if (rest.length > 0) {
    const sum = rest.reduce((bytes, { change }) => bytes + change, 0);
    rows.push(
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, trans._n('%1 more', '%1 more', rest.length)),
        element('td', {}),
        changeCell(sum)
      )
    );
  }
  const total = comparison.peak.after - comparison.peak.before;
  return captioned(
    trans.__('What moved the peak'),
    [[trans.__('Category')], [trans.__('Where')], [trans.__('Change'), NUMBER]],
    rows,
    element(
      'tr',
      { class: 'memtrack-mod-sum' },
      element('th', { scope: 'row' }, trans.__('Peak')),
      element('td', {}),
      changeCell(total)
    )
  );
}

/** Returns categories at both peaks, or the parts of the device. */
export function pairsTable(
  pairs: readonly INamedPair[],
  label: string,
  trans: TranslationBundle
): HTMLElement {
  return captioned(
    label,
    [
      [trans.__('Part')],
      [trans.__('Before'), NUMBER],
      [trans.__('After'), NUMBER],
      [trans.__('Change'), NUMBER]
    ],
    pairs.map(({ id, before, after }) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, swatch(id), partName(id, trans)),
        bytesCell(before),
        bytesCell(after),
        changeCell(after - before)
      )
    )
  );
}

/** Returns the most bytes and the time of each phase, before and after. */
export function phasesTable(phases: readonly IPhasePair[], trans: TranslationBundle): HTMLElement {
  return captioned(
    trans.__('By phase'),
    [
      [trans.__('Phase')],
      [trans.__('Before'), NUMBER],
      [trans.__('After'), NUMBER],
      [trans.__('Change'), NUMBER],
      [trans.__('Time before'), NUMBER],
      [trans.__('Time after'), NUMBER]
    ],
    phases.map(({ id, before, after, beforeNs, afterNs }) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, phaseName(id, trans)),
        bytesCell(before),
        bytesCell(after),
        before === undefined || after === undefined
          ? element('td', {})
          : changeCell(after - before),
        timeCell(beforeNs),
        timeCell(afterNs)
      )
    )
  );
}

/** Returns settings, versions and code that are not the same. */
export function settingsTable({ settings }: IComparison, trans: TranslationBundle): HTMLElement {
  return captioned(
    trans.__('Settings and code'),
    [[trans.__('What')], [trans.__('Before')], [trans.__('After')]],
    settings.map(({ name, before, after }) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row', dir: 'auto' }, name),
        element('td', { class: 'memtrack-mod-value', dir: 'auto' }, before || '–'),
        element('td', { class: 'memtrack-mod-value', dir: 'auto' }, after || '–')
      )
    )
  );
}
