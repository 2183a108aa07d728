// The layer table: where the bytes of one device are, by layer.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { at } from '../../base/assert';
import type { ILayerColumn } from '../../model/layers';
import {
  DEFAULT_COLUMNS,
  LayerData,
  LayerRows,
  LayerSelection,
  NO_ROW,
  layerColumns,
  toCsv,
  toTsv
} from '../../model/layers';
import type { IReport } from '../../wire';
import { copyText, saveFile } from '../clipboard';
import { element } from '../dom';
import type { IGridHost } from './control';
import { GridControl } from './control';
import { GridFocus } from './focus';
import { Grid } from './grid';
import { watchSize } from './size';
import type { ITable } from './table';
import type { IToolbarHost } from './toolbar';
import { Toolbar } from './toolbar';
import { bytesFirst, isNarrow } from './widths';
import { exportWords, foundText, orderText, rankText } from './words';

/** A table of the layers of a report, as a tree that can be sorted, filtered and copied. */
export class LayerTable extends Widget {
  private readonly _options: LayerTable.IOptions;
  private readonly _trans: TranslationBundle;
  private readonly _columns: readonly ILayerColumn[];
  private readonly _onColumnsChanged: (ids: readonly string[]) => void;
  private readonly _grid: Grid;
  private readonly _focus: GridFocus;
  private readonly _control: GridControl;
  private readonly _toolbar: Toolbar;
  private readonly _empty = element('p', { class: 'memtrack-LayerTable-empty' });
  private readonly _status = element('div', {
    class: 'memtrack-LayerTable-status',
    role: 'status'
  });
  private readonly _selectionChanged = new Signal<this, number>(this);
  private _chosenColumns: readonly string[];
  private _table: ITable | undefined;
  private _current = NO_ROW;
  private _isNarrow = false;
  private _sizeWatch: IDisposable | undefined;

  constructor(options: LayerTable.IOptions) {
    super();
    this.addClass('memtrack-LayerTable');
    const defaults = options.defaults ?? DEFAULT_COLUMNS;
    this._options = options;
    this._trans = options.trans;
    this._columns = options.definitions ?? layerColumns(options.trans);
    this._chosenColumns = options.columns ?? defaults;
    this._onColumnsChanged = options.onColumnsChanged ?? (() => undefined);
    this._grid = new Grid(options.trans, sort =>
      this._reorder(({ rows }) => (rows.sort = sort), orderText)
    );
    this._focus = new GridFocus(this._grid);
    this._control = new GridControl(this._grid, this._focus, this._gridHost());
    this._toolbar = new Toolbar(
      { trans: options.trans, defaults, controls: options.controls ?? [] },
      this._toolbarHost()
    );
    // Over the edge of what scrolls: the shade of what is still to come.
    const edge = element('div', { class: 'memtrack-LayerTable-edge', 'aria-hidden': 'true' });
    const frame = element('div', { class: 'memtrack-LayerTable-frame' }, this._grid.node, edge);
    this.node.append(this._toolbar.node, frame, this._empty, this._status);
  }

  /** Says the layer chosen last, a row of the report's layers, -1 for none. */
  get selectionChanged(): ISignal<this, number> {
    return this._selectionChanged;
  }

  /** The layer chosen last, -1 for none. */
  get selected(): number {
    return this._current;
  }

  /** Chooses a layer, -1 for none, and brings it into sight; the focus stays where it is. */
  select(row: number): void {
    const table = this._table;
    if (table === undefined || row >= table.rows.tree.length) {
      return;
    }
    if (row !== NO_ROW) {
      table.rows.reveal(row);
    }
    if (row === this._current) {
      this._show(); // It may be one of several, which stay chosen.
    } else {
      this._choose(selection => selection.choose(row));
    }
    if (row !== NO_ROW) {
      this._focus.pointTo(row);
    }
  }

  /**
   * Shows the device in row `viewIndex` of `report`. What is open, chosen, sorted and filtered stays
   * so, by the path of layers, and so does what is in sight: live figures make nothing jump.
   */
  setView(report: IReport, viewIndex: number): void {
    const view = at(report.views, viewIndex);
    this.setData(new LayerData(report.layers, view.layers), view.peak.layer);
  }

  /** Shows `data`; the same holds. The layer in row `peakLayer` ran at the peak, -1 for none. */
  setData(data: LayerData, peakLayer: number): void {
    const trans = this._trans;
    if (this._table === undefined) {
      this._table = {
        rows: new LayerRows(data, this._columns, this._options.main),
        selection: new LayerSelection(),
        columns: [],
        peakLayer,
        aliasText: this._options.aliasText ?? (path => trans.__('also %1', path)),
        trans
      };
    } else {
      this._update(this._table, data, peakLayer);
    }
    this._showColumns();
  }

  /** Shows the rows alone that are 1, and the parents of those; every row where undefined. */
  showOnly(rows: Uint8Array | undefined): void {
    this._reorder(
      table => (table.rows.only = rows),
      table => foundText(table.rows, this._trans)
    );
  }

  /** The ids of the columns shown, the one of names excluded. */
  get columns(): readonly string[] {
    return this._chosenColumns;
  }

  set columns(ids: readonly string[]) {
    this._chosenColumns = ids;
    this._showColumns();
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this._sizeWatch?.dispose();
    this._control.dispose();
    this._toolbar.dispose();
    super.dispose();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._sizeWatch ??= watchSize(this._grid.node, () => this._measure());
    this._measure();
  }

  protected override onBeforeDetach(message: Message): void {
    this._sizeWatch?.dispose();
    this._sizeWatch = undefined;
    super.onBeforeDetach(message);
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._measure();
  }

  protected override onResize(message: Widget.ResizeMessage): void {
    super.onResize(message);
    this._measure();
  }

  private _measure(): void {
    const narrow = isNarrow(this.node.clientWidth);
    if (narrow === this._isNarrow) {
      this._grid.measure();
    } else {
      this._isNarrow = narrow;
      this._showColumns();
    }
  }

  private _update(table: ITable, data: LayerData, peakLayer: number): void {
    const anchor = this._grid.anchor(this._focus.line);
    const moves = table.rows.setData(data);
    if (moves !== undefined) {
      table.selection.move(moves);
      this._focus.move(moves);
    }
    this._table = { ...table, peakLayer };
    this._show();
    if (anchor !== undefined) {
      const { line } = anchor;
      this._grid.restore(anchor, moves === undefined || line < 0 ? line : at(moves, line));
    }
    this._sayCurrent();
  }

  private _show(): void {
    const table = this._table;
    if (table === undefined) {
      return;
    }
    const { rows } = table;
    const isEmpty = rows.shown.rows.length === 0;
    // Sums of what is not there would say nothing; without a model they are all there is.
    this.toggleClass('memtrack-mod-unmatched', isEmpty && rows.isNarrowed);
    this._focus.show(table);
    this._toolbar.show(table);
    this._empty.hidden = !isEmpty;
    this._empty.textContent = rows.filter
      ? this._trans.__('No layer has “%1” in its path or type.', rows.filter)
      : (this._options.emptyText ??
        this._trans.__('No layers were recorded: memtrack was not given a model.'));
  }

  /** Shows the chosen columns that the report has; the same array while they are the same. */
  private _showColumns(): void {
    const table = this._table;
    if (table === undefined) {
      return;
    }
    const available = this._columns.filter(column => table.rows.data.has(column));
    const chosen = available.filter(({ id }) => this._chosenColumns.includes(id));
    const columns = this._isNarrow ? bytesFirst(chosen) : chosen;
    const isSame =
      columns.length === table.columns.length &&
      columns.every((column, index) => column === table.columns[index]);
    if (!isSame) {
      this._table = { ...table, columns };
    }
    this._toolbar.columns.show(available, this._chosenColumns);
    this._show();
    this._grid.measure();
  }

  private _reorder(change: (table: ITable) => void, say: (table: ITable) => string): void {
    const table = this._table;
    if (table === undefined) {
      return;
    }
    change(table);
    this._show();
    this._grid.scrollTo(0);
    this._status.textContent = say(table);
  }

  private _choose(change: (selection: LayerSelection, table: ITable) => void): void {
    if (this._table !== undefined) {
      change(this._table.selection, this._table);
      this._show();
      this._sayCurrent();
    }
  }

  private _sayCurrent(): void {
    const current = this._table?.selection.current ?? NO_ROW;
    if (current !== this._current) {
      this._current = current;
      this._selectionChanged.emit(current);
    }
  }

  private _setFilter(text: string): void {
    const table = this._table;
    if (table === undefined || text === table.rows.filter) {
      return;
    }
    this._reorder(
      ({ rows }) => (rows.filter = text),
      ({ rows }) => foundText(rows, this._trans)
    );
    if (text === '' && this._current !== NO_ROW) {
      // Found and chosen under the filter: now show where it is.
      this.select(this._current);
    }
  }

  /** The chosen rows, in the order shown, or else all that are shown with their sums. */
  private _text(): string {
    const table = this._table;
    if (table === undefined) {
      return '';
    }
    const { rows, selection, columns } = table;
    const chosen = rows.shown.rows.filter(row => selection.has(row));
    const isAll = chosen.length === 0;
    const copied = isAll ? rows.shown.rows : chosen;
    return toTsv(rows.data, copied, columns, rows.extent, exportWords(this._trans), isAll);
  }

  private async _copy(): Promise<void> {
    const isCopied = await copyText(this._text());
    if (!this.isDisposed) {
      this._status.textContent = isCopied
        ? this._trans.__('Copied')
        : this._trans.__('The browser did not allow copying.');
    }
  }

  private _save(): void {
    if (this._table !== undefined) {
      const text = toCsv(this._table.rows.data, this._columns);
      saveFile(this._options.fileName ?? 'memtrack-layers.csv', text, 'text/csv;charset=utf-8');
    }
  }

  private _gridHost(): IGridHost {
    return {
      table: () => this._table,
      setOpen: (rows, isOpen) => {
        this._table?.rows.setOpen(rows, isOpen);
        this._show();
      },
      choose: row => this._choose(selection => selection.choose(row)),
      toggle: row => this._choose(selection => selection.toggle(row)),
      extend: row => this._choose((selection, { rows }) => selection.extend(row, rows.shown.rows)),
      chooseAll: () => this._choose((selection, { rows }) => selection.all(rows.shown.rows)),
      text: () => this._text()
    };
  }

  private _toolbarHost(): IToolbarHost {
    return {
      filter: text => this._setFilter(text),
      rank: isFlat =>
        this._reorder(
          ({ rows }) => (rows.isFlat = isFlat),
          ({ rows }) => rankText(rows, this._trans)
        ),
      chooseColumns: ids => {
        this.columns = ids;
        this._onColumnsChanged(ids);
      },
      copy: () => void this._copy(),
      save: () => this._save(),
      focus: () => this._focus.moveTo(this._focus.line)
    };
  }
}

/** What a layer table is made with. */
export namespace LayerTable {
  /** Options of the constructor. */
  export interface IOptions {
    readonly trans: TranslationBundle;
    /** Ids of the columns shown at first; the usual ones if left out. */
    readonly columns?: readonly string[] | undefined;
    /** What the columns are, where they are not those of a report. */
    readonly definitions?: readonly ILayerColumn[];
    /** Ids of the usual columns. */
    readonly defaults?: readonly string[];
    /** Id of the column that layers are ranked by at first. */
    readonly main?: string;
    /** Controls of the toolbar besides those of every table. */
    readonly controls?: readonly HTMLElement[];
    /** Returns what is said of another path of a layer. */
    readonly aliasText?: (path: string) => string;
    /** Said where there is no row at all. */
    readonly emptyText?: string;
    /** Of the CSV file. */
    readonly fileName?: string;
    /** Told when the reader chose other columns, to remember them. */
    readonly onColumnsChanged?: ((ids: readonly string[]) => void) | undefined;
  }
}
