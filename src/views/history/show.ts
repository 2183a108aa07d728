// A history as a payload has it, as a widget.
import type { Widget } from '@lumino/widgets';

import type { ILiveHistory } from '../../model/history/live';
import { decodeHistory } from '../../wire/decoderuns';
import { failureText, failureWidget } from '../report/failure';
import { HistoryWidget } from '.';

/** Returns the view of `payload`, answered by what `liveOf` its model's id gives, or why there is none. */
export function historyOf(
  payload: unknown,
  liveOf: (id: string) => ILiveHistory | undefined,
  options: HistoryWidget.IOptions
): Widget {
  try {
    const history = decodeHistory(payload);
    const widget = new HistoryWidget(history, options);
    widget.live = liveOf(history.modelId);
    return widget;
  } catch (error) {
    return failureWidget(failureText(error, options.trans));
  }
}
