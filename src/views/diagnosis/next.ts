// What to look at next, and the two commands that every failure of device memory leads to.
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IDiagnosis } from '../../wire/diagnosis';
import { element } from '../dom';
import type { Copying } from './copying';
import { section } from './section';
import type { Say } from './why';

/** Returns the next checks with their code; undefined where there is nothing to look at. */
export function nextSection(
  { checks, isDeviceMemory }: IDiagnosis,
  copying: Copying,
  say: Say,
  trans: TranslationBundle
): HTMLElement | undefined {
  const steps = checks.map(({ text, code: codes }) => {
    const [sentence, code] = [say(text), say(codes)];
    const block = code === '' ? [] : [copying.block(code, sentence)];
    return element('li', {}, element('span', { dir: 'auto' }, sentence), ...block);
  });
  const told = new Set(checks.map(({ code }) => say(code).trim()));
  const commands = [
    { code: '%memtrack who', what: trans.__('Who holds it') },
    { code: '%memtrack free', what: trans.__('Free it') }
  ].filter(({ code }) => isDeviceMemory && !told.has(code));
  if (steps.length === 0 && commands.length === 0) {
    return undefined;
  }
  return section(
    'next',
    steps.length === 0 ? trans.__('Next') : trans._n('Next check', 'Next checks', steps.length),
    ...(steps.length === 0
      ? []
      : [
          element(
            steps.length === 1 ? 'ul' : 'ol',
            { class: 'memtrack-Diagnosis-checks' },
            ...steps
          )
        ]),
    ...(commands.length === 0
      ? []
      : [
          element(
            'ul',
            { class: 'memtrack-Diagnosis-commands' },
            ...commands.map(({ code, what }) =>
              element('li', {}, element('span', {}, what), copying.block(code, what))
            )
          )
        ])
  );
}
