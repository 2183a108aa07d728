// The peaks of steps, phases and marks as tables: the chart's content for those who do not see it,
// and the way to a moment for all.
import type { TranslationBundle } from '@jupyterlab/translation';

import { at } from '../../base/assert';
import { formatBytes } from '../../base/bytes';
import { kindOf } from '../../model/bands';
import type { IPeakRow, IPhasePeak } from '../../model/nestedpeaks';
import { peakKinds, peakRows } from '../../model/nestedpeaks';
import type { IStepPeak } from '../../model/timeline';
import { peaksByStep } from '../../model/timeline';
import type { IMarkPeaks, PhaseId } from '../../wire';
import { textAt } from '../../wire';
import { button, element } from '../dom';
import { phaseName } from '../names';
import type { TimelineState } from './state';

const MOST_ROWS = 200;
const NUMBER = { class: 'memtrack-mod-number' } as const;

/** Returns a disclosure with the tables of `state`; their figures bring the chart to the moment. */
export function peaksTable(state: TimelineState, trans: TranslationBundle): HTMLElement {
  const { peaks, markPeaks } = state.view;
  const rows = peaks === undefined ? [] : peakRows(peaks);
  const byPoint = rows.length > 0 ? [] : peaksByStep(state.whole, state.report.phases);
  const count = rows.length + byPoint.length;
  const marked =
    markPeaks === undefined || markPeaks.length === 0 ? [] : [marksTable(state, markPeaks, trans)];
  const title =
    state.report.steps > 0 ? trans.__('Peaks by step and phase') : trans.__('Peaks by mark');
  const steps =
    rows.length > 0 ? phasesTable(state, rows, trans) : stepsTable(state, byPoint, trans);
  return element(
    'details',
    { class: 'memtrack-Timeline-peaks' },
    element('summary', {}, title),
    element(
      'div',
      { class: 'memtrack-Timeline-peaksBox', tabindex: '0', role: 'region', 'aria-label': title },
      ...(state.report.steps > 0 ? [steps] : []),
      ...marked
    ),
    ...(count > MOST_ROWS
      ? [element('p', {}, trans.__('The first %1 of %2 steps.', MOST_ROWS, count))]
      : [])
  );
}

function phasesTable(
  state: TimelineState,
  rows: readonly IPeakRow[],
  trans: TranslationBundle
): HTMLElement {
  const kinds = peakKinds(rows);
  const head = [trans.__('Step'), ...kinds.map(kind => phaseName(kind, trans))];
  return element(
    'table',
    { class: 'memtrack-Table' },
    headOf([...head, trans.__('Holds most at the peak')], kinds.length),
    element(
      'tbody',
      {},
      ...rows.slice(0, MOST_ROWS).map(row => {
        const peak = row.phases.get(row.highest);
        return element(
          'tr',
          {},
          element('th', { scope: 'row' }, String(row.step + 1)),
          ...kinds.map(kind => phaseCell(state, row, kind, trans)),
          element('td', {}, peak === undefined ? '' : layerName(state, peak.layer, trans))
        );
      })
    )
  );
}

function phaseCell(
  state: TimelineState,
  row: IPeakRow,
  kind: PhaseId,
  trans: TranslationBundle
): HTMLElement {
  const peak = row.phases.get(kind);
  if (peak === undefined) {
    return element('td', NUMBER);
  }
  const isHighest = kind === row.highest;
  const name = isHighest ? 'memtrack-mod-number memtrack-mod-highest' : NUMBER.class;
  return element('td', { class: name }, momentButton(state, peak, trans));
}

function marksTable(
  state: TimelineState,
  marks: IMarkPeaks,
  trans: TranslationBundle
): HTMLElement {
  const rows = Array.from({ length: Math.min(marks.length, MOST_ROWS) }, (_, row) => {
    const layer = at(marks.layer, row);
    const peak = { bytes: at(marks.bytes, row), cut: at(marks.cut, row), layer };
    const label = textAt(marks.label, row) || trans.__('before the first mark');
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, label),
      element('td', NUMBER, momentButton(state, peak, trans)),
      element('td', {}, layerName(state, layer, trans))
    );
  });
  const head = [trans.__('From mark'), trans.__('Peak'), trans.__('Holds most at the peak')];
  return element(
    'table',
    { class: 'memtrack-Table memtrack-Timeline-markPeaks' },
    headOf(head, 1),
    element('tbody', {}, ...rows)
  );
}

/** From the points of the timeline, in a report that has no such peaks. */
function stepsTable(
  state: TimelineState,
  peaks: readonly IStepPeak[],
  trans: TranslationBundle
): HTMLElement {
  const { report, whole } = state;
  const head = [trans.__('Step'), trans.__('Peak'), trans.__('Phase'), trans.__('Layer')];
  const rows = peaks.slice(0, MOST_ROWS).map(({ step, point, bytes, phase }) => {
    const layer = at(whole.points.layer, point);
    const peak = { bytes, cut: at(whole.points.cut, point), layer };
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, String(step + 1)),
      element('td', NUMBER, momentButton(state, peak, trans)),
      element('td', {}, phaseName(kindOf(report.phases, phase), trans)),
      element('td', {}, layerName(state, layer, trans))
    );
  });
  return element(
    'table',
    { class: 'memtrack-Table' },
    headOf(head, 1),
    element('tbody', {}, ...rows)
  );
}

/** The titles; those of `numbers` columns after the first stand over figures. */
function headOf(titles: readonly string[], numbers: number): HTMLElement {
  const cells = titles.map((title, index) => {
    const isNumber = index > 0 && index <= numbers;
    return element('th', { scope: 'col', class: isNumber ? NUMBER.class : undefined }, title);
  });
  return element('thead', {}, element('tr', {}, ...cells));
}

function momentButton(
  state: TimelineState,
  peak: IPhasePeak,
  trans: TranslationBundle
): HTMLElement {
  return button(
    { class: 'memtrack-Link', title: trans.__('Show this moment') },
    () => state.pin(peak.cut),
    formatBytes(peak.bytes)
  );
}

function layerName(state: TimelineState, layer: number, trans: TranslationBundle): string {
  return layer < 0 ? trans.__('outside layers') : textAt(state.report.layers.path, layer);
}
