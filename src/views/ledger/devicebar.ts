// The bar of a device and, where the tensors are too small a part of it to be told apart, a second
// bar that shows them alone.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import { formatBytes } from '../../base/bytes';
import type { ILedger } from '../../wire';
import { CATEGORY_IDS } from '../../wire';
import { element } from '../dom';
import type { BarLabels } from './bar';
import { LedgerBar } from './bar';

// Below this share of the device, five parts of the tensors are a few pixels each.
const SMALL_SHARE = 0.25;

/** Where the bytes of a device are, from zero to its total. */
export class DeviceBar implements IDisposable {
  readonly node: HTMLElement;
  private readonly _device: LedgerBar;
  private readonly _tensors: LedgerBar;
  private readonly _caption = element('div', { class: 'memtrack-Bars-caption' });
  private readonly _magnified: HTMLElement;

  constructor(
    private readonly _trans: TranslationBundle,
    labels: BarLabels
  ) {
    this._device = new LedgerBar(_trans, labels);
    this._tensors = new LedgerBar(_trans, 'fitting');
    this._magnified = element(
      'div',
      { class: 'memtrack-Bars-magnified' },
      this._caption,
      this._tensors.node
    );
    this.node = element('div', { class: 'memtrack-Bars' }, this._device.node, this._magnified);
  }

  get isDisposed(): boolean {
    return this._device.isDisposed;
  }

  dispose(): void {
    this._device.dispose();
    this._tensors.dispose();
  }

  set ledger(ledger: ILedger) {
    this._device.ledger = ledger;
    const categories: readonly string[] = CATEGORY_IDS;
    const parts = ledger.parts.filter(part => categories.includes(part.id));
    const total = parts.reduce((sum, part) => sum + part.bytes, 0);
    const isClear = total === 0 || total >= SMALL_SHARE * ledger.total;
    this._magnified.hidden = isClear;
    this._caption.textContent = this._trans.__('The tensors alone, %1', formatBytes(total));
    this._tensors.ledger = { total, allocated: total, parts: isClear ? [] : parts, rounding: 0 };
  }
}
