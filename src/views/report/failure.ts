// What is said in place of a report that cannot be shown.
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { WireError } from '../../wire';

/** Returns one sentence for the reader; an error of ours is thrown on. */
export function failureText(error: unknown, trans: TranslationBundle): string {
  if (!(error instanceof WireError)) {
    throw error;
  }
  switch (error.kind) {
    case 'version':
      return trans.__(
        'This memory report was written by another version of memtrack. Run the cell again, or update memtrack in this Jupyter.'
      );
    case 'malformed':
    case 'corrupt':
      return trans.__(
        'This memory report is damaged and cannot be shown (%1). Run the cell again.',
        error.message
      );
  }
}

/** Returns a widget that says `sentence` in place of a report. */
export function failureWidget(sentence: string): Widget {
  const widget = new Widget();
  widget.addClass('memtrack-Failure');
  widget.node.setAttribute('role', 'alert');
  widget.node.textContent = sentence;
  return widget;
}
