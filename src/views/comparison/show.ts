// A comparison as a message has it, with its buffers beside it, as a widget.
import type { Widget } from '@lumino/widgets';

import { decodeComparison } from '../../wire/decodecomparison';
import { readBuffers } from '../../wire/messages';
import { failureText, failureWidget } from '../report/failure';
import { ComparisonWidget } from '.';

/** Returns the view of `message`, or a sentence why there is none. */
export function comparisonOf(message: unknown, options: ComparisonWidget.IOptions): Widget {
  try {
    const { json, buffers } = readBuffers(message);
    return new ComparisonWidget(decodeComparison(json, buffers), options);
  } catch (error) {
    return failureWidget(failureText(error, options.trans));
  }
}
