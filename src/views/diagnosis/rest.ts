// What is there for those who want to see for themselves: later errors and the message.
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IDiagnosis } from '../../wire/diagnosis';
import { element } from '../dom';
import type { Say } from './why';

/** Returns the parts at the end of a diagnosis, folded. */
export function restParts(
  { later, message }: IDiagnosis,
  say: Say,
  trans: TranslationBundle
): readonly HTMLElement[] {
  const parts: HTMLElement[] = [];
  if (later.length > 0) {
    parts.push(
      fold(
        trans._n('%1 later error', '%1 later errors', later.length),
        element('ul', {}, ...later.map(text => element('li', { dir: 'auto' }, say(text))))
      )
    );
  }
  if (message !== '') {
    const attributes = {
      class: 'memtrack-Diagnosis-message',
      dir: 'auto',
      // It scrolls, so those without a mouse have to reach it.
      tabindex: '0',
      role: 'group',
      'aria-label': trans.__('The original message')
    };
    parts.push(fold(trans.__('The original message'), element('pre', attributes, message)));
  }
  return parts;
}

function fold(title: string, content: HTMLElement): HTMLElement {
  return element(
    'details',
    { class: 'memtrack-Diagnosis-rest' },
    element('summary', {}, title),
    content
  );
}
