// The bar of a device from zero to its total: every part in its place, named under it.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import { formatBytes, formatPercent } from '../../base/bytes';
import { watchWidth } from '../../draw/sight';
import { textMeasure } from '../../draw/textwidth';
import type { ILedger } from '../../wire';
import { element } from '../dom';
import { partName } from '../names';
import { cssName, paint } from '../swatch';
import type { IPlacedPart } from './barlabels';
import { everyLabel, fittingLabels } from './barlabels';

/** How the bar is labelled: `fitting` names what fits in one row, `every` all, however many rows. */
export type BarLabels = 'fitting' | 'every';

/** A bar that follows the width it is given. */
export class LedgerBar implements IDisposable {
  readonly node: HTMLElement;
  private readonly _bar = element('div', { class: 'memtrack-Bar-parts' });
  private readonly _labels = element('div', { class: 'memtrack-Bar-labels' });
  private readonly _watch: IDisposable;
  private _ledger: ILedger | undefined;
  private _widthPx = 0;

  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _kind: BarLabels
  ) {
    this.node = element(
      'div',
      { class: `memtrack-Bar memtrack-mod-${_kind}`, role: 'img' },
      this._bar,
      this._labels
    );
    this._watch = watchWidth(this.node, widthPx => {
      this._widthPx = widthPx;
      this._drawLabels();
    });
  }

  get isDisposed(): boolean {
    return this._watch.isDisposed;
  }

  dispose(): void {
    this._watch.dispose();
  }

  set ledger(ledger: ILedger) {
    this._ledger = ledger;
    this._widthPx ||= this.node.clientWidth;
    this._bar.replaceChildren(...this._segments(ledger));
    this.node.setAttribute('aria-label', this._description(ledger));
    this._drawLabels();
  }

  private _drawLabels(): void {
    const ledger = this._ledger;
    if (ledger === undefined || this._widthPx === 0) {
      return;
    }
    const parts = this._placed(ledger);
    const measure = textMeasure(`11px ${getComputedStyle(this.node).fontFamily}`);
    const { barPx, heightPx, nodes } =
      this._kind === 'fitting'
        ? fittingLabels(parts, formatBytes(ledger.total), this._widthPx, measure)
        : everyLabel(parts, this._widthPx, measure);
    this._bar.style.width = `${barPx}px`;
    this._labels.style.height = `${heightPx}px`;
    this._labels.replaceChildren(...nodes);
  }

  private _placed(ledger: ILedger): readonly IPlacedPart[] {
    let before = 0;
    return ledger.parts.map(({ id, bytes }) => {
      const left = before / Math.max(1, ledger.total);
      before += bytes;
      const share = bytes / Math.max(1, ledger.total);
      return { id, left, share, name: partName(id, this._trans), bytes: formatBytes(bytes) };
    });
  }

  private _segments(ledger: ILedger): readonly HTMLElement[] {
    return this._placed(ledger).map(({ id, left, share, name, bytes }) => {
      const node = element('span', {
        class: `memtrack-Bar-part memtrack-mod-${cssName(id)}`,
        title: `${name}: ${bytes} (${formatPercent(share, 1)})`
      });
      node.style.left = `${100 * left}%`;
      node.style.width = `${100 * share}%`;
      return paint(node, id);
    });
  }

  private _description(ledger: ILedger): string {
    const named = ledger.parts.map(
      part => `${partName(part.id, this._trans)} ${formatBytes(part.bytes)}`
    );
    return this._trans.__('%1 in all: %2', formatBytes(ledger.total), named.join(', '));
  }
}
