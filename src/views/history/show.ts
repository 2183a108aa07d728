// A history as a payload has it, as a widget.
import type { Widget } from '@lumino/widgets';

import type { ILiveHistory } from '../../model/history/live';
import { decodeHistory } from '../../wire/decoderuns';
import { failureText, failureWidget } from '../report/failure';
import { HistoryWidget } from '.';

/** Returns the view of `payload`, answered by `live`, or a sentence why there is none. */
export function historyOf(
  payload: unknown,
  live: ILiveHistory | undefined,
  options: HistoryWidget.IOptions
): Widget {
  try {
    const widget = new HistoryWidget(decodeHistory(payload), options);
    widget.live = live;
    return widget;
  } catch (error) {
    return failureWidget(failureText(error, options.trans));
  }
}
