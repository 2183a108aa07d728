// The running recording in one row: what is going on, its figures, and the curve so far. Every cell
// keeps its place and width while the figures change.
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { at } from '../../base/assert';
import { formatBytes, formatDuration } from '../../base/bytes';
import { BOX, rangeOf, stepArea } from '../../draw/path';
import type { ITick } from '../../wire';
import { element, svgElement } from '../dom';
import { phaseName } from '../names';

/** Shows the latest tick. */
export class LiveStrip extends Widget {
  // No live region: it changes four times a second.
  private readonly _where = element('span', { class: 'memtrack-Live-where' });
  private readonly _least = svgElement('path', { class: 'memtrack-Live-area' });
  private readonly _most = svgElement('path', { class: 'memtrack-Live-area' });
  private readonly _figures = new Map<string, HTMLElement>();

  constructor(private readonly _trans: TranslationBundle) {
    super();
    const trans = _trans;
    this.addClass('memtrack-Live');
    const box = { viewBox: `0 0 ${BOX.width} ${BOX.height}`, preserveAspectRatio: 'none' };
    const label = trans.__('Allocated memory since the recording began, its least and its most');
    this.node.append(
      element(
        'div',
        { class: 'memtrack-Live-figures' },
        this._where,
        this._figure('allocated', trans.__('allocated')),
        this._figure('peak', trans.__('peak')),
        this._figure('reserved', trans.__('reserved')),
        this._figure('elapsed', trans.__('elapsed'))
      ),
      svgElement('svg', { ...box, role: 'img', 'aria-label': label }, this._most, this._least)
    );
  }

  /** Draw `tick`. */
  draw(tick: ITick): void {
    const trans = this._trans;
    const step = tick.step < 0 ? '' : trans.__('step %1', String(tick.step + 1));
    this._set(this._where, [step, phaseName(tick.phase, trans)].filter(Boolean).join(' · '));
    this._setFigure('allocated', formatBytes(tick.allocated));
    this._setFigure('peak', formatBytes(tick.peak));
    this._setFigure('reserved', tick.reserved === undefined ? '' : formatBytes(tick.reserved));
    this._setFigure('elapsed', formatDuration(tick.elapsedNs));
    const count = tick.timeNs.length;
    if (count > 0) {
      const extent = { first: at(tick.timeNs, 0), last: tick.elapsedNs, most: tick.peak };
      const { positions, least, most } = rangeOf(tick.timeNs, tick.curve);
      this._least.setAttribute('d', stepArea(positions, least, extent));
      this._most.setAttribute('d', stepArea(positions, most, extent));
    }
  }

  private _figure(id: string, name: string): HTMLElement {
    const value = element('span', { class: 'memtrack-Live-value' });
    this._figures.set(id, value);
    return element('span', { class: 'memtrack-Live-figure' }, name, ' ', value);
  }

  private _setFigure(id: string, text: string): void {
    const node = this._figures.get(id);
    if (node !== undefined) {
      this._set(node, text);
      // What the CPU's allocator does not tell has no figure.
      node.parentElement?.toggleAttribute('hidden', text === '');
    }
  }

  private _set(node: HTMLElement, text: string): void {
    if (node.textContent !== text) {
      node.textContent = text;
    }
  }
}
