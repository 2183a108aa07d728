// What helps, in the order of least harm: what it saves, what it costs, the code, and its traps.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatBytes } from '../../base/bytes';
import type { IDiagnosis, IRemedy } from '../../wire/diagnosis';
import { element } from '../dom';
import { Folds } from '../folds';
import type { Copying } from './copying';
import { codeText } from './copying';
import { section } from './section';
import type { Say } from './why';

/** Returns the table of remedies; undefined where nothing is advised. */
export function remediesSection(
  { remedies }: IDiagnosis,
  copying: Copying,
  say: Say,
  trans: TranslationBundle
): HTMLElement | undefined {
  if (remedies.length === 0) {
    return undefined;
  }
  const figures = remedies.filter(({ savingBytes }) => savingBytes !== undefined).length;
  const folds = new Folds();
  const rows = remedies.flatMap((remedy, index) => {
    const details = detailsOf(remedy, say);
    const head = headOf(remedy, figures > 0, copying, say, trans);
    return folds.rows(`${index}`, head, details === undefined ? [] : [details]);
  });
  const title = trans.__('What helps, the least harmful first');
  const note = trans.__('Each saving is that of one remedy alone: they do not add up.');
  return section(
    'remedies',
    title,
    tableOf(title, figures > 0, rows, trans),
    ...(figures > 1 ? [element('p', { class: 'memtrack-Diagnosis-note' }, note)] : [])
  );
}

// The roles are written out, as narrow tables are laid out as a grid.
function tableOf(
  title: string,
  hasSavings: boolean,
  rows: readonly HTMLElement[],
  trans: TranslationBundle
): HTMLElement {
  const head = (text: string, kind?: string): HTMLElement =>
    element('th', { scope: 'col', role: 'columnheader', class: kind }, text);
  const kind = hasSavings ? '' : ' memtrack-mod-unmeasured';
  return element(
    'table',
    { class: `memtrack-Table memtrack-Remedies${kind}`, role: 'table', 'aria-label': title },
    element(
      'thead',
      { role: 'rowgroup' },
      element(
        'tr',
        { role: 'row' },
        head(trans.__('Remedy')),
        ...(hasSavings ? [head(trans.__('Saves'), 'memtrack-mod-number')] : []),
        head(trans.__('Costs')),
        head(trans.__('Code'))
      )
    ),
    element('tbody', { role: 'rowgroup' }, ...rows)
  );
}

function headOf(
  { title, savingBytes, cost, code: codes }: IRemedy,
  hasSavings: boolean,
  copying: Copying,
  say: Say,
  trans: TranslationBundle
): HTMLElement {
  const code = say(codes);
  const copy = code === '' ? [] : [copying.button(code, say(title))];
  const saving = element(
    'td',
    { class: 'memtrack-mod-number', role: 'cell' },
    ...(savingBytes === undefined ? [] : [labelNode(trans.__('Saves'))]),
    savingNode(savingBytes, trans)
  );
  return element(
    'tr',
    { role: 'row' },
    element('th', { scope: 'row', role: 'rowheader', dir: 'auto' }, say(title)),
    ...(hasSavings ? [saving] : []),
    element(
      'td',
      { class: 'memtrack-Remedies-cost', role: 'cell' },
      labelNode(trans.__('Costs')),
      element('span', { dir: 'auto' }, say(cost))
    ),
    element('td', { class: 'memtrack-Remedies-copy', role: 'cell' }, ...copy)
  );
}

/** The name of a column, seen where there is no room for columns; those who hear the table have it. */
function labelNode(name: string): HTMLElement {
  return element('span', { class: 'memtrack-Remedies-label', 'aria-hidden': 'true' }, `${name} `);
}

function savingNode(bytes: number | undefined, trans: TranslationBundle): HTMLElement {
  const unknown = trans.__('No figure is known');
  return bytes === undefined
    ? element('span', { title: unknown, role: 'img', 'aria-label': unknown }, '—')
    : element('span', { title: `${bytes} B` }, formatBytes(bytes));
}

/** The code and the traps, in a row of their own; undefined for neither. */
function detailsOf({ code: codes, caveats }: IRemedy, say: Say): HTMLElement | undefined {
  const code = say(codes);
  const lines = caveats.map(text => element('li', { dir: 'auto' }, say(text)));
  const content = [
    ...(code === '' ? [] : [codeText(code)]),
    ...(lines.length === 0 ? [] : [element('ul', {}, ...lines)])
  ];
  return content.length === 0
    ? undefined
    : element('tr', { role: 'row' }, element('td', { colspan: '4', role: 'cell' }, ...content));
}
