// The words of the picture in the reader's language.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatBytes, formatDuration } from '../../base/bytes';
import type { IWords } from '../../draw/scene';
import { categoryName, phaseName } from '../names';

/** Returns the words of a timeline; `language` as in `zh-CN` groups the digits of counts. */
export function timelineWords(trans: TranslationBundle, language: string): IWords {
  const counts = new Intl.NumberFormat(language);
  return {
    category: id => categoryName(id, trans),
    otherLines: trans.__('other lines'),
    phase: id => phaseName(id, trans),
    // People count from one, as the headline does.
    step: step => trans.__('step %1', String(step + 1)),
    stepNumber: step => String(step + 1),
    bytes: bytes => roundFigure(formatBytes(bytes)),
    events: trans.__('events'),
    count: count => counts.format(count),
    duration: nanoseconds => roundFigure(formatDuration(nanoseconds)),
    reserved: trans.__('reserved')
  };
}

/** `2.00 GiB` on an axis is `2 GiB`. */
function roundFigure(figure: string): string {
  return figure.replace(/\.(\d*?)0+(?= )/, (_, kept: string) => (kept ? `.${kept}` : ''));
}
