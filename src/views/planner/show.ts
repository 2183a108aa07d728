// A payload to a planner, or to a sentence that says why there is none.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';

import { WireError } from '../../wire';
import { decodePlan } from '../../wire/decodeplan';
import { failureWidget } from '../report/failure';
import { PlannerWidget } from '.';

/** Returns what shows the payload `data`; an error of ours is thrown on. */
export function plannerOf(data: unknown, trans: TranslationBundle): Widget {
  try {
    const plan = decodePlan(data);
    const planner = new PlannerWidget({ trans });
    planner.setPlan(plan);
    return planner;
  } catch (error) {
    if (!(error instanceof WireError)) {
      throw error;
    }
    return failureWidget(
      error.kind === 'version'
        ? trans.__(
            'This plan was written by another version of memtrack. Run the cell again, or update memtrack in this Jupyter.'
          )
        : trans.__(
            'This plan is damaged and cannot be shown (%1). Run the cell again.',
            error.message
          )
    );
  }
}
