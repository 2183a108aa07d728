// What is said in place of a diagnosis that cannot be shown.
import type { TranslationBundle } from '@jupyterlab/translation';

import { WireError } from '../../wire';

export { failureWidget } from '../report/failure';

/** Returns one sentence for the reader; an error of ours is thrown on. */
export function failureText(error: unknown, trans: TranslationBundle): string {
  if (!(error instanceof WireError)) {
    throw error;
  }
  return error.kind === 'version'
    ? trans.__(
        'This explanation was written by another version of memtrack. Run the cell again, or update memtrack in this Jupyter.'
      )
    : trans.__(
        'This explanation is damaged and cannot be shown (%1). Run the cell again.',
        error.message
      );
}
