// What was needed and what there was, and what else the message says, as two short lists.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatBytes } from '../../base/bytes';
import type { IDiagnosis, IProcess } from '../../wire/diagnosis';
import { element } from '../dom';
import { section } from './section';
import { NUMBER_IDS, numberName } from './words';

type Row = readonly [name: string, bytes: number | undefined];

/** Returns the request against what could have served it; undefined where no figure is known. */
export function neededSection(
  { needed, otherProcesses }: IDiagnosis,
  trans: TranslationBundle
): HTMLElement | undefined {
  const rows: readonly Row[] = [
    [trans.__('asked for'), needed.requested],
    [
      trans.__('wanted of the device for it'),
      needed.segment === needed.requested ? undefined : needed.segment
    ],
    [trans.__('largest free block'), needed.largestFree],
    [trans.__('free in the allocator cache'), needed.cached],
    [trans.__('free on the device'), needed.deviceFree],
    [trans.__('held by other processes'), needed.others]
  ];
  const list = figures([...rows, ...otherProcesses.map(process => processRow(process, trans))]);
  const untold = otherProcesses.filter(({ bytes }) => bytes < 0);
  const note = element(
    'p',
    { class: 'memtrack-Diagnosis-note' },
    trans.__(
      'The driver does not tell how much these processes hold: %1',
      untold.map(({ pid }) => String(pid)).join(', ')
    )
  );
  if (list === undefined && untold.length === 0) {
    return undefined;
  }
  return section(
    'needed',
    trans.__('Needed, and what there was'),
    ...(list === undefined ? [] : [list]),
    ...(untold.length === 0 ? [] : [note])
  );
}

/** Returns the figures of the message that are not told yet; undefined where there are none. */
export function numbersSection(
  { numbers, needed }: IDiagnosis,
  trans: TranslationBundle
): HTMLElement | undefined {
  const isTold = (id: string): boolean =>
    (id === 'requested' && numbers.get(id) === needed.requested) ||
    (id === 'free' && numbers.get(id) === needed.deviceFree);
  const rows = NUMBER_IDS.filter(id => !isTold(id)).map((id): Row => [
    numberName(id, trans) ?? id,
    numbers.get(id)
  ]);
  const list = figures(rows);
  return list && section('numbers', trans.__('From the message'), list);
}

function processRow({ pid, bytes }: IProcess, trans: TranslationBundle): Row {
  return [trans.__('process %1', pid), bytes < 0 ? undefined : bytes];
}

/** A list of those figures that are known. */
function figures(rows: readonly Row[]): HTMLElement | undefined {
  const known = rows.flatMap(([name, bytes]) =>
    bytes === undefined
      ? []
      : [
          element(
            'div',
            {},
            element('dt', {}, name),
            element('dd', { title: `${bytes} B` }, formatBytes(bytes))
          )
        ]
  );
  return known.length === 0
    ? undefined
    : element('dl', { class: 'memtrack-Diagnosis-figures' }, ...known);
}
