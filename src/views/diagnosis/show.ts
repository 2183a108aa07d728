// A diagnosis as a widget, or a sentence why there is none.
import type { Widget } from '@lumino/widgets';

import { decodeDiagnosis } from '../../wire/decodediagnosis';
import { failureText, failureWidget } from './failure';
import { DiagnosisWidget } from '.';

/** Returns the view of what a notebook has. */
export function diagnosisOf(data: unknown, options: DiagnosisWidget.IOptions): Widget {
  try {
    const diagnosis = decodeDiagnosis(data);
    const widget = new DiagnosisWidget(options);
    widget.setDiagnosis(diagnosis);
    return widget;
  } catch (error) {
    return failureWidget(failureText(error, options.trans));
  }
}
