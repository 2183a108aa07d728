// The table of remedies: the peak with each, what it saves and costs, its code; why and the traps unfold.
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IAdvice, IAdvisedRemedy, Text } from '../../wire';
import type { Copying } from '../diagnosis/copying';
import { element } from '../dom';
import type { Folds } from '../folds';
import { peakBar } from './bar';
import type { IBarScale } from './bar';
import { evidenceSentence, evidenceWord, intervalWord, savingWords, timeWord } from './words';

/** What the rows are made with. */
export interface IRowTools {
  readonly trans: TranslationBundle;
  readonly say: (text: Text) => string;
  readonly copying: Copying;
  readonly folds: Folds;
}

/** Returns the table of `remedies`, all of which have a figure. */
export function remedyTable(
  advice: IAdvice,
  remedies: readonly IAdvisedRemedy[],
  tools: IRowTools
): HTMLElement {
  const { trans, folds } = tools;
  const top = Math.max(advice.peak, ...remedies.map(({ peak }) => peak ?? 0));
  const scale = { top, budget: advice.budget };
  const isMixed = new Set(remedies.map(({ evidence }) => evidence)).size > 1;
  const rows = remedies.flatMap(remedy =>
    folds.rows(remedy.id, headOf(remedy, advice, scale, isMixed, tools), [detailsOf(remedy, tools)])
  );
  const head = (text: string, kind?: string): HTMLElement =>
    element('th', { scope: 'col', class: kind }, text);
  return element(
    'table',
    {
      class: `memtrack-Table memtrack-mod-lined memtrack-Advice-table${isMixed ? ' memtrack-mod-mixed' : ''}`,
      'aria-label': trans.__('What helps')
    },
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        head(trans.__('Remedy')),
        head(trans.__('Peak after')),
        head(trans.__('Saves'), 'memtrack-mod-number'),
        head(trans.__('Time')),
        head(trans.__('Code'))
      )
    ),
    element('tbody', {}, baseRow(advice, scale, trans), ...rows)
  );
}

/** The run as it is, for the bars to be seen against. */
function baseRow(advice: IAdvice, scale: IBarScale, trans: TranslationBundle): HTMLElement {
  return element(
    'tr',
    { class: 'memtrack-Advice-base' },
    element('th', { scope: 'row', class: 'memtrack-mod-plain' }, trans.__('as it is')),
    element('td', {}, peakBar(advice.peak, 'measured', scale)),
    element('td', {}),
    element('td', {}),
    element('td', {})
  );
}

function headOf(
  remedy: IAdvisedRemedy,
  advice: IAdvice,
  scale: IBarScale,
  isMixed: boolean,
  { trans, say, copying }: IRowTools
): HTMLElement {
  const [bytes, share] = figuresOf(remedy, advice, trans);
  const code = say(remedy.code);
  const worse = (remedy.saving ?? 0) < 0 ? ' memtrack-mod-worse' : '';
  const evidence = element(
    'span',
    { class: `memtrack-Advice-evidence memtrack-mod-${remedy.evidence}` },
    evidenceWord(remedy.evidence, trans)
  );
  return element(
    'tr',
    {},
    element('th', { scope: 'row', dir: 'auto' }, say(remedy.title)),
    element(
      'td',
      {},
      peakBar(remedy.peak ?? 0, remedy.evidence, scale, ...(isMixed ? [evidence] : []))
    ),
    element(
      'td',
      { class: `memtrack-mod-number memtrack-Advice-saving${worse}` },
      element('span', {}, bytes),
      ' ',
      element('span', { class: 'memtrack-Advice-share' }, share)
    ),
    element('td', { class: 'memtrack-Advice-time' }, timeWord(remedy.costClass, trans)),
    element(
      'td',
      { class: 'memtrack-Advice-copy' },
      ...(code === '' ? [] : [copying.button(code, say(remedy.title))])
    )
  );
}

/** What is saved of the peak; where that is nothing, what is saved of the reserved bytes. */
function figuresOf(
  { saving = 0, reserved }: IAdvisedRemedy,
  advice: IAdvice,
  trans: TranslationBundle
): readonly [string, string] {
  const released = (advice.reserved ?? 0) - (reserved ?? advice.reserved ?? 0);
  if (saving > 0 || released <= 0) {
    return savingWords(saving, advice.peak);
  }
  return [savingWords(released, 1)[0], trans.__('reserved')];
}

function detailsOf(remedy: IAdvisedRemedy, { trans, say, copying }: IRowTools): HTMLElement {
  const interval = intervalWord(remedy, trans);
  const code = say(remedy.code);
  const told = [say(remedy.why), say(remedy.cost)].filter(line => line !== '');
  const known = [evidenceSentence(remedy.evidence, trans), ...(interval ? [interval] : [])];
  const caveats = remedy.caveats.map(text => element('li', { dir: 'auto' }, say(text)));
  return element(
    'tr',
    {},
    element(
      'td',
      { colspan: '5' },
      ...told.map(line => element('p', { dir: 'auto' }, line)),
      element('p', { class: 'memtrack-Advice-known' }, known.join(' ')),
      ...(caveats.length === 0
        ? []
        : [
            element('p', { class: 'memtrack-Advice-caveats' }, trans.__('Mind:')),
            element('ul', {}, ...caveats)
          ]),
      ...(code === '' ? [] : [copying.block(code, say(remedy.title))])
    )
  );
}
