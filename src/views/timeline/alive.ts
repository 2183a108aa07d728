// The list of what is alive at one moment, largest first: bytes, category, layer, source line.
import type { TranslationBundle } from '@jupyterlab/translation';

import { at } from '../../base/assert';
import { formatBytes } from '../../base/bytes';
import { areaOfBlock } from '../../model/areas';
import { aliveAt } from '../../model/timeline';
import type { ILayerTree, ITimeline } from '../../wire';
import { CATEGORY_IDS, textAt } from '../../wire';
import { element } from '../dom';
import { categoryName } from '../names';
import { cutInside, splitLayerPath, splitSite } from '../pathparts';
import { swatch } from '../swatch';

// The rest is counted, not listed: beyond this nobody reads, and drawing would cost.
const MOST_LISTED = 100;

/** A list box of blocks; choosing one chooses its layer. */
export class AliveList {
  readonly node: HTMLElement;
  private readonly _list: HTMLElement;
  private readonly _rest = element('p', { class: 'memtrack-Timeline-rest' });
  private _timeline: ITimeline | undefined;
  private _cut = -1;
  private _layers: readonly number[] = [];
  private _active = 0;

  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _id: string,
    private readonly _choose: (layer: number) => void
  ) {
    const trans = _trans;
    this._list = element('div', {
      class: 'memtrack-Timeline-blocks',
      role: 'listbox',
      tabindex: '0',
      'aria-label': trans.__('Alive at this moment, largest first')
    });
    this._list.addEventListener('click', event => this._click(event));
    this._list.addEventListener('keydown', event => this._key(event));
    this.node = element('div', { class: 'memtrack-Timeline-alive' }, this._list, this._rest);
  }

  /** List what is alive at `cut`; the blocks of `chosen` and the layers under it are marked. */
  show(timeline: ITimeline, tree: ILayerTree, cut: number, chosen: number): void {
    if (this._timeline !== timeline || this._cut !== cut) {
      this._timeline = timeline;
      this._cut = cut;
      this._fill(timeline, tree, cut);
    }
    const end = chosen < 0 ? -1 : chosen + at(tree.subtree, chosen);
    this._layers.forEach((layer, index) => {
      const isChosen = layer >= chosen && layer < end;
      this._list.children[index]?.classList.toggle('memtrack-mod-chosen', isChosen);
    });
  }

  private _fill(timeline: ITimeline, tree: ILayerTree, cut: number): void {
    const rows = aliveAt(timeline, cut);
    const shown = rows.slice(0, MOST_LISTED);
    this._layers = shown.map(row => at(timeline.allocations.layer, row));
    this._active = 0;
    this._list.replaceChildren(
      ...shown.map((row, index) => this._option(timeline, tree, row, index))
    );
    const hasSites = tree.length > 0 && shown.some(row => at(timeline.allocations.site, row) >= 0);
    this._list.classList.toggle('memtrack-mod-sites', hasSites);
    this._list.classList.toggle('memtrack-mod-lines', tree.length === 0);
    this._list.scrollTop = 0;
    this._activate(0, false);
    this._rest.textContent = this._restText(timeline, rows.slice(MOST_LISTED));
  }

  private _option(timeline: ITimeline, tree: ILayerTree, row: number, index: number): HTMLElement {
    const { allocations, names, sites } = timeline;
    const category = at(CATEGORY_IDS, at(allocations.category, row));
    const layer = at(allocations.layer, row);
    const name = names[at(allocations.name, row)];
    const site = sites[at(allocations.site, row)];
    const trans = this._trans;
    const bytes = formatBytes(at(allocations.bytes, row));
    // Where no layers are known, the line of code is what tells one block from the next.
    const hasLayers = tree.length > 0;
    const path = layer < 0 ? trans.__('outside layers') : textAt(tree.path, layer);
    const line = site ?? trans.__('no line known');
    const isKnown = category !== 'unknown' || hasLayers;
    const kind = [isKnown ? categoryName(category, trans) : '', name].filter(Boolean).join(' · ');
    const texts = (hasLayers ? [bytes, path, kind, site ?? ''] : [bytes, line, kind]).filter(
      Boolean
    );
    const node = element(
      'div',
      {
        class: 'memtrack-Timeline-block',
        role: 'option',
        id: `${this._id}-${index}`,
        'aria-selected': 'false',
        // What is cut is said and shown in full.
        'aria-label': texts.join(' '),
        title: texts.join('\n')
      },
      swatch(areaOfBlock(timeline, row)),
      element('span', { class: 'memtrack-Timeline-bytes' }, bytes),
      cutInside('memtrack-Timeline-what', hasLayers ? splitLayerPath(path) : splitSite(line)),
      ...(kind === '' ? [] : [element('span', { class: 'memtrack-Timeline-where' }, kind)]),
      ...(site === undefined || !hasLayers
        ? []
        : [cutInside('memtrack-Timeline-where', splitSite(site))])
    );
    node.dataset.index = String(index);
    return node;
  }

  private _restText(timeline: ITimeline, rest: readonly number[]): string {
    const trans = this._trans;
    const bytes = rest.reduce((sum, row) => sum + at(timeline.allocations.bytes, row), 0);
    const parts: string[] = [];
    if (rest.length > 0) {
      parts.push(
        trans._n(
          'and %1 more block, %2',
          'and %1 more blocks, %2 in all',
          rest.length,
          formatBytes(bytes)
        )
      );
    }
    if (timeline.omittedAllocations > 0) {
      parts.push(
        trans.__(
          'small blocks of at most %1 together are not listed',
          formatBytes(timeline.omittedBytes)
        )
      );
    }
    return parts.join('; ');
  }

  private _click(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target.closest('[data-index]') : null;
    if (target instanceof HTMLElement) {
      this._activate(Number(target.dataset.index), false);
      this._chooseActive();
    }
  }

  private _key(event: KeyboardEvent): void {
    const last = this._layers.length - 1;
    const targets: Readonly<Record<string, number>> = {
      ArrowUp: this._active - 1,
      ArrowDown: this._active + 1,
      PageUp: this._active - 10,
      PageDown: this._active + 10,
      Home: 0,
      End: last
    };
    const target = targets[event.key];
    if (target !== undefined) {
      this._activate(Math.min(Math.max(0, target), last), true);
    } else if (event.key === 'Enter' || event.key === ' ') {
      this._chooseActive();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private _activate(index: number, scrolls: boolean): void {
    const options = this._list.children;
    options[this._active]?.setAttribute('aria-selected', 'false');
    this._active = index;
    const option = options[index];
    if (option === undefined) {
      this._list.removeAttribute('aria-activedescendant');
      return;
    }
    option.setAttribute('aria-selected', 'true');
    this._list.setAttribute('aria-activedescendant', option.id);
    if (scrolls) {
      option.scrollIntoView?.({ block: 'nearest' });
    }
  }

  private _chooseActive(): void {
    const layer = this._layers[this._active];
    if (layer !== undefined && layer >= 0) {
      this._choose(layer);
    }
  }
}
