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

/** Returns when a run began, in the reader's time zone and language; of this year without the year. */
export function whenText(created: number, language: string, now = new Date()): string {
  const date = new Date(created);
  return date.toLocaleString(language.replace('_', '-'), {
    ...(date.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' }),
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit'
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
