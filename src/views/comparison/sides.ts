// The two runs side by side: both peaks as bars on one scale, and what they are made of.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatBytes, formatDuration } from '../../base/bytes';
import type { IComparison, ISide } from '../../wire/comparison';
import { element } from '../dom';
import { phaseName } from '../names';
import { partsBar, partsLegend } from '../partsbar';
import { sideName } from './words';

/** Returns both runs: name, facts, and the peak as a bar by category, to one scale. */
export function sidesOf(comparison: IComparison, trans: TranslationBundle): HTMLElement {
  const { a, b, peak, categories } = comparison;
  const top = Math.max(peak.before, peak.after, 1);
  return element(
    'div',
    { class: 'memtrack-Comparison-sides' },
    sideOf(a, trans.__('before'), comparison, 'before', top, trans),
    sideOf(b, trans.__('after'), comparison, 'after', top, trans),
    partsLegend(
      categories.filter(({ before, after }) => before > 0 || after > 0),
      trans
    )
  );
}

function sideOf(
  side: ISide,
  role: string,
  { categories, peak }: IComparison,
  which: 'before' | 'after',
  top: number,
  trans: TranslationBundle
): HTMLElement {
  return element(
    'div',
    { class: 'memtrack-Comparison-side' },
    element('span', { class: 'memtrack-Comparison-role' }, role),
    element(
      'span',
      { class: 'memtrack-Comparison-name', dir: 'auto' },
      sideName(side, trans),
      ...evidenceMark(side, trans)
    ),
    element('span', { class: 'memtrack-Comparison-facts' }, factsOf(side, trans)),
    partsBar(
      categories.map(part => ({ id: part.id, bytes: part[which] })),
      top,
      trans
    ),
    element(
      'span',
      { class: 'memtrack-Comparison-figure', title: `${peak[which]} B` },
      formatBytes(peak[which])
    )
  );
}

/** What is not measured says so beside the name. */
function evidenceMark({ evidence }: ISide, trans: TranslationBundle): readonly HTMLElement[] {
  const words: Readonly<Record<string, string>> = {
    predicted: trans.__('predicted'),
    opened: trans.__('opened')
  };
  const word = words[evidence];
  return word === undefined
    ? []
    : [element('span', { class: `memtrack-Badge memtrack-mod-${evidence}` }, word)];
}

function factsOf(side: ISide, trans: TranslationBundle): string {
  return [
    side.device,
    side.steps > 0 ? trans._n('%1 step', '%1 steps', side.steps) : '',
    side.stepNs === undefined ? '' : trans.__('%1 a step', formatDuration(side.stepNs)),
    side.phase === ''
      ? ''
      : side.layer === ''
        ? side.phase === 'other'
          ? trans.__('peak between the phases')
          : trans.__('peak in %1', phaseName(side.phase, trans))
        : trans.__('peak in %1 of %2', phaseName(side.phase, trans), side.layer),
    side.reserved === undefined ? '' : trans.__('%1 reserved', formatBytes(side.reserved))
  ]
    .filter(Boolean)
    .join(' · ');
}
