// What was needed and what there was, and what else the message says, as two short lists.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatBytes } from '../../base/bytes';
import type { IDiagnosis } from '../../wire/diagnosis';
import { element } from '../dom';
import { section } from './section';
import { NUMBER_IDS, numberName } from './words';

/** A figure with its name; undefined bytes are not known, negative ones not told. */
type Row = readonly [name: string, bytes: number | undefined, isDetail?: boolean];

/** Returns the request against what could have served it; undefined where no figure is known. */
export function neededSection(
  diagnosis: IDiagnosis,
  trans: TranslationBundle
): HTMLElement | undefined {
  const { needed, numbers, otherProcesses } = diagnosis;
  const { segment } = needed;
  const requested = requestedBytes(diagnosis);
  const isSame =
    requested !== undefined &&
    segment !== undefined &&
    formatBytes(requested) === formatBytes(segment);
  const list = figures(
    [
      [trans.__('asked for'), requested],
      [trans.__('as the allocator asked the driver for it'), isSame ? undefined : segment],
      [trans.__('largest free block that could serve it'), needed.largestFree],
      [trans.__('free inside the allocator, all blocks together'), needed.cached],
      [trans.__('free on the device'), needed.deviceFree ?? numbers.get('free')],
      [trans.__('held by other processes'), needed.others],
      ...otherProcesses.map(({ pid, bytes }): Row => [trans.__('process %1', pid), bytes, true])
    ],
    trans
  );
  return list && section('needed', trans.__('What was needed, and what there was'), list);
}

/** Returns what else the message says; undefined where it says nothing. */
export function numbersSection(
  { numbers }: IDiagnosis,
  trans: TranslationBundle
): HTMLElement | undefined {
  const rows = NUMBER_IDS.map((id): Row => [numberName(id, trans), numbers.get(id)]);
  const list = figures(rows, trans);
  return list && section('numbers', trans.__('From the message'), list);
}

/** Returns the size of what was asked for, from what was seen or else from the message. */
export function requestedBytes({ needed, numbers }: IDiagnosis): number | undefined {
  return needed.requested ?? numbers.get('requested');
}

/** A list of those figures that are known. */
function figures(rows: readonly Row[], trans: TranslationBundle): HTMLElement | undefined {
  const known = rows.flatMap(([name, bytes, isDetail]) =>
    bytes === undefined
      ? []
      : [
          element(
            'div',
            { class: isDetail === true ? 'memtrack-mod-detail' : undefined },
            element('dt', {}, name),
            bytes < 0
              ? element('dd', {}, trans.__('not told by the driver'))
              : element('dd', { title: `${bytes} B` }, formatBytes(bytes))
          )
        ]
  );
  return known.length === 0
    ? undefined
    : element('dl', { class: 'memtrack-Diagnosis-figures' }, ...known);
}
