// Several ranks as a widget, or a sentence why there is none.
import type { Widget } from '@lumino/widgets';

import { decodeRanks } from '../../wire/decoderanks';
import type { ReportWidget } from '../report';
import { failureText, failureWidget } from '../report/failure';
import { RanksWidget } from '.';

/** Returns the view of what a notebook has. */
export function ranksOf(data: unknown, options: ReportWidget.IOptions): Widget {
  try {
    return new RanksWidget(decodeRanks(data), options);
  } catch (error) {
    return failureWidget(failureText(error, options.trans));
  }
}
