// The words of the summary table: PyTorch's own where it has them.
import type { TranslationBundle } from '@jupyterlab/translation';

import { at } from '../../base/assert';
import type { IMoments, ISummaryGroup, MetricId } from '../../model/summary';
import { statistic } from '../../model/summary';
import type { ISummaryWords } from '../../model/summarytext';
import type { IDevice, ISummary } from '../../wire';
import { phaseId, readingId, textAt } from '../../wire';
import { phaseName } from '../names';

/** Returns the words of the table of `moments`. */
export function summaryWords(
  summary: ISummary,
  moments: IMoments,
  device: IDevice,
  trans: TranslationBundle
): ISummaryWords {
  const index = String(Math.max(0, device.index));
  const kind = device.kind.toUpperCase();
  const heading = trans.__('PyTorch %1 memory summary, device ID %2', kind, index);
  const { first, second } = moments;
  const title = momentTitle(summary, first, trans);
  return {
    headings:
      second === undefined
        ? [heading, title]
        : [
            heading,
            trans.__('First: %1', title),
            trans.__('Second: %1', momentTitle(summary, second, trans))
          ],
    counters: countersOf(summary, moments, trans),
    metric: trans.__('Metric'),
    columns: columnTitles(moments, trans),
    isCompared: second !== undefined,
    rowName: (group, row) => rowName(group, row, trans)
  };
}

/** Returns the titles of the four columns of figures. */
export function columnTitles({ second }: IMoments, trans: TranslationBundle): readonly string[] {
  return second === undefined
    ? [trans.__('Cur Usage'), trans.__('Peak Usage'), trans.__('Tot Alloc'), trans.__('Tot Freed')]
    : [
        trans.__('Cur First'),
        trans.__('Cur Second'),
        trans.__('Difference'),
        trans.__('Peak Diff.')
      ];
}

/** Returns how often memory ran out, and how often emptying the cache found some. */
export function countersOf(
  summary: ISummary,
  { first, second }: IMoments,
  trans: TranslationBundle
): readonly [string, string] {
  const count = (name: string): string => {
    const before = statistic(summary, first, name);
    const latest = second === undefined ? before : statistic(summary, second, name);
    if (before === undefined || latest === undefined) {
      return '-';
    }
    const change = latest - before;
    return change === 0 ? String(latest) : `${latest} (${change > 0 ? '+' : ''}${change})`;
  };
  return [
    trans.__('CUDA OOMs: %1', count('num_ooms')),
    trans.__('cudaMalloc retries: %1', count('num_alloc_retries'))
  ];
}

/** Returns a reading as words: `after forward of step 3`. */
export function momentTitle(summary: ISummary, reading: number, trans: TranslationBundle): string {
  const title = plainTitle(summary, reading, trans);
  const number = at(summary.number, reading);
  return number > 0 ? trans.__('%1 (no. %2)', title, String(number)) : title;
}

function plainTitle(summary: ISummary, reading: number, trans: TranslationBundle): string {
  const step = String(at(summary.step, reading) + 1);
  switch (readingId(at(summary.kind, reading))) {
    case 'start':
      return trans.__('start of the recording');
    case 'end':
      return trans.__('end of the recording');
    case 'step':
      return trans.__('after step %1', step);
    case 'mark':
      return trans.__("mark '%1'", textAt(summary.label, reading));
    case 'phase': {
      const phase = phaseId(at(summary.phase, reading));
      const name = phase === 'other' ? trans.__('other code') : phaseName(phase, trans);
      return trans.__('after %1 of step %2', name, step);
    }
  }
}

/** Returns the name of a row: the metric's, or its pool's. */
export function rowName(group: ISummaryGroup, row: number, trans: TranslationBundle): string {
  switch (at(group.rows, row).pool) {
    case 'large_pool':
      return trans.__('from large pool');
    case 'small_pool':
      return trans.__('from small pool');
    case 'all':
      return metricName(group.metric, trans);
  }
}

function metricName(metric: MetricId, trans: TranslationBundle): string {
  switch (metric) {
    case 'allocated_bytes':
      return trans.__('Allocated memory');
    case 'active_bytes':
      return trans.__('Active memory');
    case 'requested_bytes':
      return trans.__('Requested memory');
    case 'reserved_bytes':
      return trans.__('GPU reserved memory');
    case 'inactive_split_bytes':
      return trans.__('Non-releasable memory');
    case 'allocation':
      return trans.__('Allocations');
    case 'active':
      return trans.__('Active allocs');
    case 'segment':
      return trans.__('GPU reserved segments');
    case 'inactive_split':
      return trans.__('Non-releasable allocs');
    case 'oversize_allocations':
      return trans.__('Oversize allocations');
    case 'oversize_segments':
      return trans.__('Oversize GPU segments');
  }
}
