// How a run is called, and what is said where a history did not do what was asked.
import type { TranslationBundle } from '@jupyterlab/translation';

import { HistoryError } from '../../model/history/live';
import { textIn } from '../../wire';
import type { IRun } from '../../wire/runs';
import { failureText } from '../report/failure';

const COMMIT_DIGITS = 8;

/** Returns the name of a run with its number. */
export function runName({ id, name, label }: IRun, trans: TranslationBundle): string {
  const called = name || label;
  return called === ''
    ? trans.__('Run %1', String(id))
    : trans.__('Run %1, %2', String(id), called);
}

/** Returns when a run began, in the reader's time zone and language. */
export function whenText(created: number, language: string): string {
  return new Date(created).toLocaleString(language.replace('_', '-'), {
    dateStyle: 'medium',
    timeStyle: 'short'
  });
}

/** Returns the commit in short, and whether there were changes besides. */
export function commitText({ commit, dirty }: IRun, trans: TranslationBundle): string {
  const short = commit.slice(0, COMMIT_DIGITS);
  return short !== '' && dirty ? trans.__('%1 and changes', short) : short;
}

/** Returns one sentence for the reader; an error of ours is thrown on. */
export function failureSentence(
  error: unknown,
  language: string,
  trans: TranslationBundle
): string {
  if (!(error instanceof HistoryError)) {
    return failureText(error, trans);
  }
  return error.sentence === undefined
    ? trans.__('The kernel of this list is gone. Run the cell again to change runs.')
    : textIn(error.sentence, language);
}
