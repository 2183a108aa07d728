// A comparison as a widget, or a sentence why there is none.
import type { Widget } from '@lumino/widgets';

import { decodeComparison, unpackComparison } from '../../wire/decodecomparison';
import { readBuffers } from '../../wire/messages';
import { failureText, failureWidget } from '../report/failure';
import { ComparisonWidget } from '.';

/** Returns the view of `message`, with its buffers beside it. */
export function comparisonOf(message: unknown, options: ComparisonWidget.IOptions): Widget {
  try {
    const { json, buffers } = readBuffers(message);
    return new ComparisonWidget(decodeComparison(json, buffers), options);
  } catch (error) {
    return failureWidget(failureText(error, options.trans));
  }
}

/** Returns the view of what a notebook has. */
export async function savedComparisonOf(
  data: unknown,
  options: ComparisonWidget.IOptions
): Promise<Widget> {
  try {
    return new ComparisonWidget(await unpackComparison(data), options);
  } catch (error) {
    return failureWidget(failureText(error, options.trans));
  }
}
