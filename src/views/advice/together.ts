// Remedies together, from mild to harsh, and what was weighed in vain.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatBytes } from '../../base/bytes';
import type { IAdvice, IAdvisedRemedy, ICombination, Text } from '../../wire';
import { element } from '../dom';
import { peakBar } from './bar';
import { savingWords } from './words';

type Say = (text: Text) => string;

/** Returns the titles of a combination, one after the other. */
export function titlesOf(one: ICombination, advice: IAdvice, say: Say): string {
  const titles = new Map(advice.remedies.map(({ id, title }) => [id, say(title)]));
  return one.ids.map(id => titles.get(id) ?? id).join(' + ');
}

/** Returns the combinations of something, in the order of their harshest remedy. */
function mildToHarsh(advice: IAdvice): readonly ICombination[] {
  const harm = new Map(advice.remedies.map(remedy => [remedy.id, remedy.harm ?? 0]));
  const worst = ({ ids }: ICombination): number => Math.max(...ids.map(id => harm.get(id) ?? 0));
  return advice.combinations
    .filter(({ ids }) => ids.length > 0)
    .sort((a, b) => worst(a) - worst(b) || a.ids.length - b.ids.length);
}

/** Returns the list of combinations; undefined for none. */
export function togetherSection(
  advice: IAdvice,
  say: Say,
  trans: TranslationBundle
): HTMLElement | undefined {
  const shown = mildToHarsh(advice);
  if (shown.length === 0) {
    return undefined;
  }
  const { budget, peak } = advice;
  const scale = { top: Math.max(peak, ...shown.map(one => one.peak)), budget };
  const rows = shown.map(one => {
    const [bytes, share] = savingWords(one.saving, peak);
    const fit = one.fits ? trans.__('fits') : trans.__('does not fit');
    return element(
      'tr',
      { class: budget !== undefined && one.fits ? 'memtrack-mod-fits' : undefined },
      element('th', { scope: 'row', dir: 'auto' }, titlesOf(one, advice, say)),
      element('td', {}, peakBar(one.peak, 'simulated', scale)),
      element(
        'td',
        { class: 'memtrack-mod-number memtrack-Advice-saving' },
        element('span', {}, bytes),
        ' ',
        element('span', { class: 'memtrack-Advice-share' }, share)
      ),
      ...(budget === undefined
        ? []
        : [element('td', { class: 'memtrack-Advice-fit' }, one.fits ? `✓ ${fit}` : fit)])
    );
  });
  const title =
    budget === undefined
      ? trans.__('Together, from mild to harsh')
      : trans.__('Together, from mild to harsh, to fit into %1', formatBytes(budget));
  return element(
    'section',
    { class: 'memtrack-Advice-section' },
    element('div', { class: 'memtrack-Advice-title', role: 'heading', 'aria-level': '4' }, title),
    element(
      'table',
      {
        class: 'memtrack-Table memtrack-mod-lined memtrack-Advice-table memtrack-mod-together',
        'aria-label': title
      },
      element('tbody', {}, ...rows)
    )
  );
}

/** Returns remedies with the reason that each has no figure, folded; undefined for none. */
export function reasonsSection(
  title: string,
  remedies: readonly IAdvisedRemedy[],
  say: Say
): HTMLElement | undefined {
  if (remedies.length === 0) {
    return undefined;
  }
  const items = remedies.flatMap(one => [
    element('dt', { dir: 'auto' }, say(one.title)),
    element('dd', { dir: 'auto' }, say(one.why))
  ]);
  return element(
    'details',
    { class: 'memtrack-Advice-reasons' },
    element('summary', {}, title),
    element('dl', {}, ...items)
  );
}
