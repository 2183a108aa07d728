// What keys and clicks do in the grid.
import type { IDisposable } from '@lumino/disposable';

import { at } from '../../base/assert';
import { NO_ROW, childrenOf, findByPrefix } from '../../model/layers';
import { keepOwnKeys } from '../ownkeys';
import { describeLayer, exactly } from './cells';
import type { GridFocus } from './focus';
import { lineFrom } from './focus';
import type { Grid } from './grid';
import type { GridAction } from './keys';
import { TypeAhead, gridAction } from './keys';
import type { LineView } from './line';
import type { ITable } from './table';
import { lineAt, lineCount, positionOf } from './table';

/** What the grid asks of the table it is part of. */
export interface IGridHost {
  /** The state drawn; undefined before there is any. */
  table(): ITable | undefined;
  setOpen(rows: Iterable<number>, isOpen: boolean): void;
  choose(row: number): void;
  toggle(row: number): void;
  extend(row: number): void;
  chooseAll(): void;
  /** What is copied. */
  text(): string;
}

/** Listens to the grid until disposed. */
export class GridControl implements IDisposable {
  private readonly _typeAhead = new TypeAhead();
  private readonly _keys: IDisposable;

  constructor(
    private readonly _grid: Grid,
    private readonly _focus: GridFocus,
    private readonly _host: IGridHost
  ) {
    const { node } = _grid;
    node.addEventListener('keydown', event => this._keydown(event));
    node.addEventListener('click', event => this._click(event));
    node.addEventListener('dblclick', event => this._doubleClick(event));
    node.addEventListener('focusin', event => this._focusin(event));
    node.addEventListener('pointerover', event => this._pointerover(event));
    node.addEventListener('copy', event => this._copy(event));
    this._keys = keepOwnKeys(node, isOwnKey);
  }

  get isDisposed(): boolean {
    return this._keys.isDisposed;
  }

  dispose(): void {
    this._keys.dispose();
  }

  private _keydown(event: KeyboardEvent): void {
    const table = this._host.table();
    const action = gridAction(event);
    if (table === undefined || action === undefined || !(event.target instanceof Node)) {
      return;
    }
    const heading = this._grid.header.indexAt(event.target);
    const isDone = heading >= 0 ? this._inHeader(heading, event.key) : this._act(table, action);
    if (isDone) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  private _inHeader(heading: number, key: string): boolean {
    switch (key) {
      case 'ArrowLeft':
        this._focus.moveToHeading(heading - 1);
        return true;
      case 'ArrowRight':
        this._focus.moveToHeading(heading + 1);
        return true;
      case 'Home':
        this._focus.moveToHeading(0);
        return true;
      case 'End':
        this._focus.moveToHeading(this._grid.header.length - 1);
        return true;
      case 'ArrowDown':
        this._focus.moveTo(this._focus.line);
        return true;
      default:
        return false;
    }
  }

  private _act(table: ITable, action: GridAction): boolean {
    const { line } = this._focus;
    switch (action.kind) {
      case 'move':
        this._move(table, action.lines, action.isExtending);
        return true;
      case 'page':
        this._move(table, action.pages * this._grid.pageLines, action.isExtending);
        return true;
      case 'edge':
        this._focus.moveTo(lineAt(table, action.edge === 'first' ? 0 : lineCount(table) - 1));
        return true;
      case 'type':
        return this._type(table, action.text);
      case 'all':
        this._host.chooseAll();
        return true;
      case 'none':
        return table.selection.size > 0 && this._chooseNone();
      default:
        return line >= 0 && this._actOnLayer(table, line, action.kind);
    }
  }

  private _actOnLayer(
    table: ITable,
    row: number,
    kind: 'open' | 'close' | 'siblings' | 'choose' | 'toggle'
  ): boolean {
    const { rows } = table;
    switch (kind) {
      case 'open':
        this._open(table, row);
        break;
      case 'close':
        this._close(table, row);
        break;
      case 'siblings':
        this._host.setOpen(childrenOf(rows.tree, at(rows.tree.parent, row)), true);
        break;
      case 'choose':
        this._host.choose(row);
        break;
      case 'toggle':
        this._host.toggle(row);
        break;
    }
    return true;
  }

  private _move(table: ITable, lines: number, isExtending: boolean): void {
    const { line } = this._focus;
    if (lines === -1 && positionOf(table, line) === 0 && !isExtending) {
      const sorted = table.columns.findIndex(column => column.id === table.rows.sort?.column);
      this._focus.moveToHeading(sorted + 1);
      return;
    }
    const next = lineFrom(table, line, lines);
    if (isExtending && next >= 0) {
      if (table.selection.size === 0 && line >= 0) {
        this._host.choose(line);
      }
      this._host.extend(next);
    }
    this._focus.moveTo(next);
  }

  private _open(table: ITable, row: number): void {
    if (!table.rows.isParent(row)) {
      return;
    }
    if (table.rows.isOpen(row)) {
      this._focus.moveTo(lineFrom(table, row, 1));
    } else {
      this._host.setOpen([row], true);
    }
  }

  private _close(table: ITable, row: number): void {
    const parent = at(table.rows.tree.parent, row);
    if (table.rows.isOpen(row)) {
      this._host.setOpen([row], false);
    } else if (parent >= 0 && !table.rows.isFlat) {
      this._focus.moveTo(parent);
    }
  }

  private _type(table: ITable, text: string): boolean {
    const nowMs = performance.now();
    if (text === ' ' && !this._typeAhead.isActive(nowMs)) {
      return this._focus.line < 0 || this._actOnLayer(table, this._focus.line, 'choose');
    }
    const { prefix, isNext } = this._typeAhead.add(text, nowMs);
    const start = Math.max(0, positionOf(table, this._focus.line)) + (isNext ? 1 : 0);
    const { rows } = table;
    const found = findByPrefix(rows.tree, rows.shown.rows, start, prefix);
    if (found !== undefined) {
      this._focus.moveTo(found);
    }
    return true;
  }

  private _chooseNone(): boolean {
    this._host.choose(NO_ROW);
    return true;
  }

  private _click(event: MouseEvent): void {
    const [table, view] = this._under(event);
    if (table === undefined || view === undefined || view.line < 0) {
      return;
    }
    const row = view.line;
    if (event.target instanceof Node && view.isToggle(event.target)) {
      this._host.setOpen([row], !table.rows.isOpen(row));
    } else if (event.shiftKey) {
      this._host.extend(row);
    } else if (event.ctrlKey || event.metaKey) {
      this._host.toggle(row);
    } else {
      this._host.choose(row);
    }
  }

  private _doubleClick(event: MouseEvent): void {
    const [table, view] = this._under(event);
    const isLayer = table !== undefined && view !== undefined && view.line >= 0;
    if (isLayer && event.target instanceof Node && !view.isToggle(event.target)) {
      this._host.setOpen([view.line], !table.rows.isOpen(view.line));
    }
  }

  private _focusin(event: FocusEvent): void {
    const [, view] = this._under(event);
    // Not `moveTo`: a line that scrolls under the pressed button would not be the one clicked.
    if (view !== undefined && document.activeElement === view.node) {
      this._focus.note(view.line);
    }
  }

  /** Exact figures on demand: most cells are never pointed at. */
  private _pointerover(event: Event): void {
    const [table, view] = this._under(event);
    if (table === undefined || view === undefined || !(event.target instanceof Element)) {
      return;
    }
    const column = view.columnOf(event.target);
    const cell = event.target.closest('[role="gridcell"], [role="rowheader"]');
    if (column !== undefined) {
      cell?.setAttribute('title', exactly(table, column, view.line));
    } else if (view.line >= 0) {
      cell?.setAttribute('title', describeLayer(table, view.line));
    }
  }

  private _copy(event: ClipboardEvent): void {
    if (this._host.table() !== undefined && event.clipboardData !== null) {
      event.clipboardData.setData('text/plain', this._host.text());
      event.preventDefault();
    }
  }

  private _under(event: Event): [ITable | undefined, LineView | undefined] {
    const { target } = event;
    const view = target instanceof Node ? this._grid.viewAt(target) : undefined;
    return [this._host.table(), view];
  }
}

/** Keys of the grid, and the browser's copying, which JupyterLab would take as its own. */
function isOwnKey(event: KeyboardEvent): boolean {
  return gridAction(event) !== undefined || ((event.ctrlKey || event.metaKey) && event.key === 'c');
}
