// The memory map: every segment of the allocator as a bar to scale, with the blocks in it and the
// free gaps between them. Pointing, or the arrow keys, tell what each is.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { DisposableSet } from '@lumino/disposable';

import { at } from '../../base/assert';
import { formatBytes } from '../../base/bytes';
import { FrameTask } from '../../draw/frame';
import { drawMap } from '../../draw/memorymap';
import { watchWidth } from '../../draw/sight';
import { readTheme, watchTheme } from '../../draw/theme';
import { groupOf } from '../../model/areas';
import type { IMapLayout, IMapSpot } from '../../model/memorymap';
import { layoutMap, spotAt, spots } from '../../model/memorymap';
import type { Selection } from '../../model/selection';
import type { IMemoryMap, IReport, IView } from '../../wire';
import { categoryId, textAt } from '../../wire';
import { element } from '../dom';
import { poolName } from '../ledger/pools';
import { categoryName } from '../names';

/** The map of one device; its owner attaches, shows and disposes of it. */
export class MemoryMapView implements IDisposable {
  readonly node: HTMLElement;
  private readonly _canvas = element('canvas', {
    class: 'memtrack-Map-canvas',
    'aria-hidden': 'true'
  });
  private readonly _titles = element('div', { class: 'memtrack-Map-titles' });
  private readonly _surface: HTMLElement;
  private readonly _spot = element('p', { class: 'memtrack-Map-spot', role: 'status' });
  private readonly _rest = element('p', { class: 'memtrack-Ledger-note' });
  private readonly _task = new FrameTask(() => this._draw());
  private readonly _watches = new DisposableSet();
  private _shown: { readonly report: IReport; readonly view: IView } | undefined;
  private _layout: IMapLayout | undefined;
  private _pointed: IMapSpot | undefined;
  private _width = 0;

  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _selection: Selection
  ) {
    this._surface = element(
      'div',
      {
        class: 'memtrack-Map-surface',
        role: 'application',
        tabindex: '0',
        'aria-label': _trans.__(
          'Map of the allocator’s segments at the peak. Left and right go from block to block, up and down from segment to segment, Enter chooses the layer of a block.'
        )
      },
      this._canvas,
      this._titles
    );
    this._surface.addEventListener('pointermove', event => this._point(event));
    this._surface.addEventListener('pointerleave', () => this._show(undefined));
    this._surface.addEventListener('click', () => this._choose());
    this._surface.addEventListener('keydown', event => this._key(event));
    this.node = element(
      'section',
      { class: 'memtrack-Map' },
      element('p', { class: 'memtrack-Map-title' }, _trans.__('Where the blocks lie at the peak')),
      this._spot,
      this._surface,
      this._rest
    );
    this._watches.add(watchWidth(this._surface, width => this._resize(width)));
    this._watches.add(watchTheme(() => this._task.request()));
    _selection.changed.connect(this._task.request, this._task);
  }

  get isDisposed(): boolean {
    return this._watches.isDisposed;
  }

  dispose(): void {
    this._selection.changed.disconnect(this._task.request, this._task);
    this._watches.dispose();
    this._task.dispose();
  }

  /** Show the map of `view`, if it has one. */
  setView(report: IReport, view: IView): void {
    this._shown = { report, view };
    const { map } = view;
    this.node.hidden = map === undefined || map.segments.length === 0;
    this._pointed = undefined;
    this._rest.textContent =
      map !== undefined && map.omitted > 0
        ? this._trans._n(
            'and %1 more segment, %2',
            'and %1 more segments, %2 in all',
            map.omitted,
            formatBytes(map.omittedBytes)
          )
        : '';
    this._resize(this._surface.clientWidth || this._width);
    this._show(undefined);
  }

  private _resize(width: number): void {
    const map = this._shown?.view.map;
    if (map === undefined || width <= 0) {
      return;
    }
    this._width = width;
    this._layout = layoutMap(map, width);
    this._surface.style.height = `${this._layout.height}px`;
    this._titles.replaceChildren(
      ...this._layout.pools.map(pool => {
        const { pools } = this._shown?.view ?? { pools: [] };
        const title = element(
          'span',
          { class: 'memtrack-Map-pool' },
          this._trans.__(
            '%1: %2; a full row is %3',
            poolName(at(pools, pool.pool), pools, this._trans),
            formatBytes(pool.bytes),
            formatBytes(pool.rowBytes)
          )
        );
        title.style.top = `${pool.top}px`;
        return title;
      })
    );
    this._task.request();
  }

  private _draw(): void {
    const [shown, layout] = [this._shown, this._layout];
    const map = shown?.view.map;
    if (shown === undefined || map === undefined || layout === undefined) {
      return;
    }
    const ratio = window.devicePixelRatio || 1;
    const canvas = this._canvas;
    canvas.width = Math.round(this._width * ratio);
    canvas.height = Math.round(layout.height * ratio);
    canvas.style.width = `${this._width}px`;
    canvas.style.height = `${layout.height}px`;
    const { row } = this._selection;
    const { subtree, length } = shown.report.layers;
    const end = row >= 0 && row < length ? row + at(subtree, row) : -1;
    drawMap(
      canvas,
      {
        map,
        layout,
        theme: readTheme(this._surface),
        colourOf: block => this._colourOf(map, block),
        pointed: this._pointed,
        chosen: { first: row < 0 ? 0 : row, end }
      },
      ratio
    );
  }

  private _colourOf(map: IMemoryMap, block: number): string {
    const groups = this._shown?.view.timeline.groups;
    return groups === undefined
      ? categoryId(at(map.blocks.category, block))
      : groupOf(groups, map.sites[at(map.blocks.site, block)] ?? '');
  }

  private _point(event: PointerEvent): void {
    const map = this._shown?.view.map;
    if (map !== undefined && this._layout !== undefined) {
      const { left, top } = this._surface.getBoundingClientRect();
      this._show(spotAt(map, this._layout, event.clientX - left, event.clientY - top));
    }
  }

  private _show(spot: IMapSpot | undefined): void {
    this._pointed = spot;
    const text =
      spot === undefined
        ? this._trans.__('Point at a block, or use the arrow keys, to see what it is.')
        : this._textOf(spot);
    if (this._spot.textContent !== text) {
      this._spot.textContent = text;
      this._task.request();
    }
  }

  private _textOf(spot: IMapSpot): string {
    const { report, view } = this._shown ?? {};
    const map = view?.map;
    if (report === undefined || map === undefined) {
      return '';
    }
    const trans = this._trans;
    const size = formatBytes(at(map.segments.bytes, spot.segment));
    const where = trans.__('segment of %1', size);
    if (spot.block < 0) {
      return [trans.__('%1 free', formatBytes(spot.bytes)), where].join(' · ');
    }
    const layer = at(map.blocks.layer, spot.block);
    const site = map.sites[at(map.blocks.site, spot.block)];
    return [
      formatBytes(spot.bytes),
      at(map.blocks.pending, spot.block) > 0 ? trans.__('awaiting a stream') : '',
      categoryName(categoryId(at(map.blocks.category, spot.block)), trans),
      layer < 0 ? '' : textAt(report.layers.path, layer),
      site ?? '',
      where
    ]
      .filter(Boolean)
      .join(' · ');
  }

  private _choose(): void {
    const map = this._shown?.view.map;
    const block = this._pointed?.block ?? -1;
    const layer = map === undefined || block < 0 ? -1 : at(map.blocks.layer, block);
    if (layer >= 0) {
      this._selection.row = layer;
    }
  }

  private _key(event: KeyboardEvent): void {
    const moves: Readonly<Record<string, readonly [number, number]>> = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, -1],
      ArrowDown: [0, 1]
    };
    const move = moves[event.key];
    if (move !== undefined) {
      this._move(...move);
    } else if (event.key === 'Enter') {
      this._choose();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** Go `by` blocks or gaps on, across segments, or `segments` segments to their first. */
  private _move(by: number, segments: number): void {
    const map = this._shown?.view.map;
    const boxes = this._layout?.boxes ?? [];
    if (map === undefined || boxes.length === 0) {
      return;
    }
    const [now, last] = [this._pointed, boxes.length - 1];
    if (now === undefined) {
      this._show(spots(map, at(boxes, 0))[0]);
      return;
    }
    const here = spots(map, at(boxes, now.segment));
    const next = here[here.findIndex(({ start }) => start === now.start) + by];
    if (segments === 0 && next !== undefined) {
      this._show(next);
      return;
    }
    const segment = Math.min(Math.max(0, now.segment + (segments || by)), last);
    const there = spots(map, at(boxes, segment));
    const isEnd = segment === now.segment && segments === 0;
    this._show(isEnd ? now : there[by < 0 ? there.length - 1 : 0]);
  }
}
