// The lines that have elements: those in sight, some around them, and the one with the focus.
//
// Rows have one height, so which lines are in sight is two divisions; a virtualiser that measures
// rows of different heights (@tanstack/virtual-core, 10 kB) would have nothing to do here.
import type { ILayerColumn } from '../../model/layers';
import { LineView } from './line';
import type { ITable, Line } from './table';

/** Lines above and below those in sight that have elements already, so that scrolling shows no gap. */
const SPARE_LINES = 8;

/** What can be seen of the lines, in pixels. */
export interface ISight {
  readonly top: number;
  readonly height: number;
  readonly lineHeight: number;
}

/** Returns the first position with an element and the one after the last, of `count`. */
export function linesInSight(sight: ISight, count: number): readonly [number, number] {
  const first = Math.floor(sight.top / sight.lineHeight) - SPARE_LINES;
  const end = Math.ceil((sight.top + sight.height) / sight.lineHeight) + SPARE_LINES;
  return [Math.min(count, Math.max(0, first)), Math.max(0, Math.min(count, end))];
}

/** Gives elements to the layers in sight, each line's in the order of the table. */
export class Lines {
  readonly node: HTMLElement;
  private _views = new Map<Line, LineView>();
  private _spare = new Map<ChildNode, LineView>();
  private _columns: readonly ILayerColumn[] = [];

  constructor(node: HTMLElement) {
    this.node = node;
  }

  /** The elements of `line`, if it has any. */
  viewOf(line: Line): LineView | undefined {
    return this._views.get(line);
  }

  views(): Iterable<LineView> {
    return this._views.values();
  }

  /**
   * Shows the layers in sight and `kept`, whose element stays the same one, so that it keeps the
   * focus. `isNew` says that lines moved or changed; otherwise only those that came into sight are
   * drawn.
   */
  show(table: ITable, sight: ISight, kept: Line, isNew: boolean): void {
    if (table.columns !== this._columns) {
      this._forget(table.columns);
    }
    const wanted = wantedLines(table, sight, kept);
    const isWanted = new Set(wanted);
    for (const [line, view] of this._views) {
      // After a change the order of old elements means nothing: only the kept one is left in place.
      if (!isWanted.has(line) || (isNew && line !== kept)) {
        this._views.delete(line);
        this._spare.set(view.node, view);
      }
    }
    this._place(table, wanted, sight.lineHeight, isNew);
    for (const node of this._spare.keys()) {
      node.remove();
    }
  }

  /** Lets Tab stop at `line`, and at no other. */
  setTabStop(line: Line | undefined): void {
    for (const [other, { node }] of this._views) {
      node.tabIndex = other === line ? 0 : -1;
    }
  }

  /** Goes from last to first: a line that has no elements takes spare ones, before the next line's. */
  private _place(table: ITable, wanted: readonly Line[], height: number, isNew: boolean): void {
    let next: ChildNode | null = null;
    for (const line of [...wanted].reverse()) {
      const old = this._views.get(line);
      const view: LineView = old ?? this._takeSpare(next) ?? new LineView(this._columns);
      if (old === undefined) {
        this._views.set(line, view);
        if (view.node.nextSibling !== next || view.node.parentNode === null) {
          this.node.insertBefore(view.node, next);
        }
      }
      if (old === undefined || isNew) {
        view.show(table, line);
        view.node.style.transform = `translateY(${table.rows.positionOf(line) * height}px)`;
      }
      next = view.node;
    }
  }

  /** One that is in its place already, if possible: elements that move are styled anew. */
  private _takeSpare(next: ChildNode | null): LineView | undefined {
    const before = next === null ? this.node.lastChild : next.previousSibling;
    const inPlace = before === null ? undefined : this._spare.get(before);
    const view = inPlace ?? this._spare.values().next().value;
    if (view !== undefined) {
      this._spare.delete(view.node);
    }
    return view;
  }

  private _forget(columns: readonly ILayerColumn[]): void {
    this._columns = columns;
    this._views = new Map();
    this._spare.clear();
    this.node.replaceChildren();
  }
}

function wantedLines(table: ITable, sight: ISight, kept: Line): readonly Line[] {
  const { rows } = table.rows.shown;
  const [first, end] = linesInSight(sight, rows.length);
  const wanted: Line[] = [...rows.subarray(first, end)];
  const position = kept >= 0 ? table.rows.positionOf(kept) : -1;
  if (position < 0 || (position >= first && position < end)) {
    return wanted;
  }
  return position < first ? [kept, ...wanted] : [...wanted, kept];
}
