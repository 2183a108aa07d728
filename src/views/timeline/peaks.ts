// The peak of each step as a table: the chart's content for those who do not see it.
import type { TranslationBundle } from '@jupyterlab/translation';

import { at } from '../../base/assert';
import { formatBytes } from '../../base/bytes';
import { kindOf } from '../../model/bands';
import type { IStepPeak } from '../../model/timeline';
import { peaksByStep } from '../../model/timeline';
import { textAt } from '../../wire';
import { button, element } from '../dom';
import { phaseName } from '../names';
import type { TimelineState } from './state';

const MOST_ROWS = 200;

/** Returns a disclosure with the table of `state`; its figures bring the chart to the moment. */
export function peaksTable(state: TimelineState, trans: TranslationBundle): HTMLElement {
  const peaks = peaksByStep(state.whole, state.report.phases);
  const head = [trans.__('Step'), trans.__('Peak'), trans.__('Phase'), trans.__('Layer')];
  return element(
    'details',
    { class: 'memtrack-Timeline-peaks' },
    element('summary', {}, trans.__('Peak of each step')),
    element(
      'div',
      { class: 'memtrack-Timeline-peaksBox' },
      element(
        'table',
        { class: 'memtrack-Table' },
        element(
          'thead',
          {},
          element('tr', {}, ...head.map(text => element('th', { scope: 'col' }, text)))
        ),
        element('tbody', {}, ...peaks.slice(0, MOST_ROWS).map(peak => rowOf(state, peak, trans)))
      )
    ),
    ...(peaks.length > MOST_ROWS
      ? [element('p', {}, trans.__('The first %1 of %2 steps.', MOST_ROWS, peaks.length))]
      : [])
  );
}

function rowOf(state: TimelineState, peak: IStepPeak, trans: TranslationBundle): HTMLElement {
  const { report, whole } = state;
  const layer = at(whole.points.layer, peak.point);
  const cut = at(whole.points.cut, peak.point);
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, String(peak.step + 1)),
    element(
      'td',
      { class: 'memtrack-mod-number' },
      button({ class: 'memtrack-Link' }, () => state.pin(cut), formatBytes(peak.bytes))
    ),
    element('td', {}, phaseName(kindOf(report.phases, peak.phase), trans)),
    element('td', {}, layer < 0 ? trans.__('outside layers') : textAt(report.layers.path, layer))
  );
}
