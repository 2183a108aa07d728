// The ledger: the bar of one device with every part named, and the same as a table that adds up.
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { formatBytes, formatPercent } from '../../base/bytes';
import { Selection } from '../../model/selection';
import type { ILedgerPart, IReport, IView } from '../../wire';
import { CATEGORY_IDS } from '../../wire';
import { element } from '../dom';
import { Folds } from '../folds';
import { MemoryMapView } from '../memorymap';
import { detailName, partName } from '../names';
import { swatch } from '../swatch';
import { LedgerBar } from './bar';
import { poolsTable } from './pools';

/** What a part is a share of, in bytes. */
interface IWholes {
  readonly total: number;
  /** All tensors; undefined for what is none. */
  readonly ofTensors: number | undefined;
}

/** Shows where the bytes of one device are at the peak. */
export class LedgerView extends Widget {
  private readonly _bar: LedgerBar;
  private readonly _table = element('table', { class: 'memtrack-Table memtrack-Ledger-table' });
  private readonly _note = element('p', { class: 'memtrack-Ledger-note' });
  private readonly _pools = element('div', {});
  private readonly _folds = new Folds();
  private readonly _map: MemoryMapView;

  constructor(
    private readonly _trans: TranslationBundle,
    selection: Selection = new Selection()
  ) {
    super();
    this._map = new MemoryMapView(_trans, selection);
    this._bar = new LedgerBar(_trans, 'every');
    this.addClass('memtrack-Ledger');
    this.node.append(this._bar.node, this._table, this._note, this._pools, this._map.node);
  }

  /** Show the ledger of `view`, a device of `report`. */
  setView(view: IView, report: IReport): void {
    this._bar.ledger = view.ledger;
    const { _trans: trans } = this;
    const hasDetails = view.ledger.parts.some(part => part.details.length > 0);
    this._table.classList.toggle('memtrack-mod-folds', hasDetails);
    this._table.replaceChildren(
      element('caption', {}, trans.__('At the peak, %1', deviceName(view))),
      headOf(trans),
      ...bodiesOf(view, this._folds, trans)
    );
    this._pools.replaceChildren(...(view.pools.length > 0 ? [poolsTable(view.pools, trans)] : []));
    this._map.setView(report, view);
    this._note.textContent = view.ledger.parts.some(part => part.certainty === 'estimated')
      ? trans.__('Estimated: a remainder, or a sample taken near the peak.')
      : '';
  }

  override dispose(): void {
    this._bar.dispose();
    this._map.dispose();
    super.dispose();
  }
}

/** Returns the name of a device with its place: `NVIDIA H200 (cuda:0)`. */
export function deviceName({ device }: Pick<IView, 'device'>): string {
  const place = device.index < 0 ? device.kind : `${device.kind}:${device.index}`;
  return device.name && device.name !== device.kind ? `${device.name} (${place})` : place;
}

function headOf(trans: TranslationBundle): HTMLElement {
  const number = 'memtrack-mod-number';
  return element(
    'thead',
    {},
    element(
      'tr',
      {},
      element('th', { scope: 'col' }, trans.__('Part')),
      element('th', { scope: 'col', class: number }, trans.__('Memory')),
      element('th', { scope: 'col', class: number }, trans.__('Share')),
      element('th', { scope: 'col', class: number }, trans.__('Of the tensors')),
      element('th', { scope: 'col' }, trans.__('How known'))
    )
  );
}

/** Tensors with their sum, then what is around them, then the whole. */
function bodiesOf(
  { ledger, device }: IView,
  folds: Folds,
  trans: TranslationBundle
): readonly HTMLElement[] {
  const categories: readonly string[] = CATEGORY_IDS;
  const tensors = ledger.parts.filter(part => categories.includes(part.id));
  const around = ledger.parts.filter(part => !categories.includes(part.id));
  const held = tensors.reduce((sum, part) => sum + part.bytes, 0);
  const { total } = ledger;
  const rows = (parts: readonly ILedgerPart[], ofTensors?: number): readonly HTMLElement[] =>
    parts.flatMap(part => {
      const wholes = { total, ofTensors };
      const details = part.details.map(detail => rowOf(detail, wholes, trans));
      return folds.rows(part.id, rowOf(part, wholes, trans), details);
    });
  const whole = device.total < 0 ? trans.__('reserved') : trans.__('the whole device');
  return [
    element(
      'tbody',
      {},
      ...rows(tensors, held),
      sumOf(trans.__('allocated'), held, { total, ofTensors: held }),
      ...(ledger.rounding > 0
        ? [roundingOf(ledger.rounding, { total, ofTensors: held }, trans)]
        : [])
    ),
    ...(around.length > 0
      ? [
          element('tbody', {}, ...rows(around)),
          element('tfoot', {}, sumOf(whole, total, { total, ofTensors: undefined }))
        ]
      : [])
  ];
}

function rowOf(part: ILedgerPart, wholes: IWholes, trans: TranslationBundle): HTMLElement {
  const isDetail = part.id.includes('.');
  const name = isDetail
    ? [detailName(part.id, trans)]
    : [swatch(part.id), partName(part.id, trans)];
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, ...name),
    ...figures(part.bytes, wholes),
    element('td', {}, certaintyName(part.certainty, trans))
  );
}

function sumOf(name: string, bytes: number, wholes: IWholes): HTMLElement {
  return element(
    'tr',
    { class: 'memtrack-mod-sum' },
    element('th', { scope: 'row' }, name),
    ...figures(bytes, wholes),
    element('td', {})
  );
}

/** What of the tensors nobody asked for, under their sum. */
function roundingOf(bytes: number, wholes: IWholes, trans: TranslationBundle): HTMLElement {
  return element(
    'tr',
    {
      class: 'memtrack-mod-detail',
      title: trans.__('The allocator gives whole blocks: multiples of 512 bytes and more')
    },
    element('th', { scope: 'row' }, trans.__('of it rounding')),
    ...figures(bytes, wholes),
    element('td', {})
  );
}

function figures(bytes: number, { total, ofTensors }: IWholes): readonly HTMLElement[] {
  const number = { class: 'memtrack-mod-number' };
  return [
    element('td', { ...number, title: `${bytes} B` }, formatBytes(bytes)),
    element('td', number, formatPercent(bytes, total)),
    element('td', number, ofTensors === undefined ? '' : formatPercent(bytes, ofTensors))
  ];
}

function certaintyName(certainty: string, trans: TranslationBundle): string {
  switch (certainty) {
    case 'measured':
      return trans.__('measured');
    case 'estimated':
      return trans.__('estimated');
    default:
      return certainty;
  }
}
