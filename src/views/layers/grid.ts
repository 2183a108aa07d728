// The grid as elements: headings, lines and sums in one box that scrolls. It draws; what has the
// focus is decided in focus.ts, what keys and clicks do in control.ts.
import type { TranslationBundle } from '@jupyterlab/translation';

import type { ISort } from '../../model/layers';
import { element } from '../dom';
import { Header } from './header';
import { LineView } from './line';
import type { ISight } from './lines';
import { Lines, linesInSight } from './lines';
import type { ITable, Line } from './table';
import { OUTSIDE_LINE, TOTAL_LINE, lineAt, lineCount, positionOf } from './table';
import { gridTemplate, leastWidth } from './widths';

/** Until the box has been laid out: the height of a line and of what is in sight, in pixels. */
const GUESS = { lineHeight: 24, height: 480 };

/** Where a line is on the screen, to put it back there when lines have moved. */
export interface IAnchor {
  readonly line: Line;
  readonly offset: number;
}

/** The scrolling box of the layer table. */
export class Grid {
  readonly header: Header;
  readonly node: HTMLElement;
  private readonly _grid: HTMLElement;
  private readonly _body = element('div', {
    class: 'memtrack-LayerTable-body',
    role: 'rowgroup'
  });
  private readonly _footer = element('div', {
    class: 'memtrack-LayerTable-footer',
    role: 'rowgroup'
  });
  private readonly _lines = new Lines(this._body);
  private _sums: readonly LineView[] = [];
  private _table: ITable | undefined;
  private _columns: ITable['columns'] | undefined;
  private _sight: ISight = { top: 0, ...GUESS };
  private _drawn = '';
  private _kept: Line = TOTAL_LINE;
  /** How far it can scroll sideways, in pixels. */
  private _hiddenWidth = 0;

  constructor(trans: TranslationBundle, sort: (sort: ISort | undefined) => void) {
    this.header = new Header(trans, sort);
    const head = element('div', { class: 'memtrack-LayerTable-head', role: 'rowgroup' });
    head.append(this.header.node);
    this._grid = element(
      'div',
      {
        class: 'memtrack-LayerTable-grid',
        role: 'treegrid',
        'aria-label': trans.__('Layers'),
        'aria-multiselectable': 'true'
      },
      head,
      this._body,
      this._footer
    );
    // Not a stop of its own: the arrow keys scroll it.
    this.node = element('div', { class: 'memtrack-LayerTable-box', tabindex: '-1' }, this._grid);
    this.node.addEventListener('scroll', () => this._scrolled());
  }

  /** Draws `table` as it is now; `kept` is the line that may have the focus. */
  show(table: ITable, kept: Line): void {
    this._table = table;
    this._kept = kept;
    this.header.show(table.columns, table.rows.sort);
    if (table.columns !== this._columns) {
      this._setColumns(table.columns);
    }
    this._grid.setAttribute('aria-rowcount', String(lineCount(table) + 1));
    this._grid.setAttribute('aria-colcount', String(table.columns.length + 1));
    this._layOut();
  }

  /** Measures after the box may have changed in size, and draws what came into sight. */
  measure(): void {
    const [sum] = this._sums;
    const lineHeight = sum?.node.getBoundingClientRect().height ?? 0;
    const taken = (this.header.node.parentElement?.offsetHeight ?? 0) + this._footer.offsetHeight;
    const height = this.node.clientHeight - taken;
    if (lineHeight <= 0 || height <= 0) {
      return; // Attached but not laid out: in a hidden tab or an output far away.
    }
    this._hiddenWidth = this.node.scrollWidth - this.node.clientWidth;
    this._markSides();
    const isNew = lineHeight !== this._sight.lineHeight;
    this._sight = { top: this.node.scrollTop, height, lineHeight };
    if (isNew) {
      this._layOut();
    } else {
      this._draw(false);
    }
  }

  /** The elements of `line`, if it is in sight or kept. */
  viewOf(line: Line): LineView | undefined {
    return line >= 0 ? this._lines.viewOf(line) : this._sums.find(sum => sum.line === line);
  }

  /** The elements of the line that `node` lies in. */
  viewAt(node: Node): LineView | undefined {
    return [...this._lines.views(), ...this._sums].find(view => view.node.contains(node));
  }

  /** Lines that fit into the box, one of which stays when a page is turned. */
  get pageLines(): number {
    return Math.max(1, Math.floor(this._sight.height / this._sight.lineHeight) - 1);
  }

  /** Keeps elements for `line` from now on, also out of sight. */
  keep(line: Line): void {
    this._kept = line;
  }

  /** Scrolls as little as needed to have `line` in sight. */
  bringIntoSight(line: Line): void {
    const { top, height, lineHeight } = this._sight;
    const position = line >= 0 && this._table !== undefined ? positionOf(this._table, line) : -1;
    if (position >= 0) {
      const start = position * lineHeight;
      this.scrollTo(Math.max(start + lineHeight - height, Math.min(top, start)));
    }
    this._draw(false, true);
  }

  /** Scrolls so that `top` pixels of the lines are above the sight. */
  scrollTo(top: number): void {
    if (top !== this._sight.top) {
      this.node.scrollTop = top;
      this._scrolled();
    }
  }

  /** Where `line`, or else the first in sight, is; undefined at the very top, which stays the top. */
  anchor(line: Line): IAnchor | undefined {
    const { top, height, lineHeight } = this._sight;
    if (this._table === undefined || top === 0) {
      return undefined;
    }
    const position = line >= 0 ? positionOf(this._table, line) : -1;
    const start = position * lineHeight;
    const isInSight = position >= 0 && start >= top && start < top + height;
    const chosen = isInSight ? position : Math.floor(top / lineHeight);
    return { line: lineAt(this._table, chosen), offset: chosen * lineHeight - top };
  }

  /** Scrolls so that the line of `anchor` is where it was; `row` is its place in the new layers. */
  restore(anchor: IAnchor, row: Line): void {
    const position = this._table !== undefined && row >= 0 ? positionOf(this._table, row) : -1;
    if (position >= 0) {
      this.scrollTo(position * this._sight.lineHeight - anchor.offset);
    }
  }

  /** Lets Tab stop at `line`, at heading `heading`, or nowhere. */
  setTabStop(line: Line | undefined, heading: number | undefined): void {
    this._lines.setTabStop(line);
    for (const sum of this._sums) {
      sum.node.tabIndex = sum.line === line ? 0 : -1;
    }
    for (let index = 0; index < this.header.length; index++) {
      this.header.buttonAt(index).tabIndex = index === heading ? 0 : -1;
    }
  }

  private _setColumns(columns: ITable['columns']): void {
    this._columns = columns;
    this._grid.style.setProperty('--memtrack-layers-columns', gridTemplate(columns));
    this._grid.style.minWidth = leastWidth(columns);
    this._sums = [OUTSIDE_LINE, TOTAL_LINE].map(() => new LineView(columns));
    this._footer.replaceChildren(...this._sums.map(sum => sum.node));
  }

  private _layOut(): void {
    if (this._table === undefined) {
      return;
    }
    const { top, height, lineHeight } = this._sight;
    const whole = this._table.rows.shown.rows.length * lineHeight;
    this._body.style.height = `${whole}px`;
    // Where the browser scrolls a shorter table to; asking it would have it lay out all of this.
    this._sight = { ...this._sight, top: Math.max(0, Math.min(top, whole - height)) };
    this._draw(true);
    for (const [index, line] of [OUTSIDE_LINE, TOTAL_LINE].entries()) {
      this._sums[index]?.show(this._table, line);
    }
  }

  private _scrolled(): void {
    this._markSides();
    this._sight = { ...this._sight, top: this.node.scrollTop };
    this._draw(false);
  }

  /** Says to the style sheet on which sides there is more. */
  private _markSides(): void {
    const { classList, scrollLeft } = this.node;
    classList.toggle('memtrack-mod-scrolled', scrollLeft > 0);
    classList.toggle('memtrack-mod-more', scrollLeft + 1 < this._hiddenWidth);
  }

  private _draw(isNew: boolean, isKeptNew = false): void {
    if (this._table === undefined) {
      return;
    }
    const drawn = linesInSight(this._sight, this._table.rows.shown.rows.length).join();
    if (isNew || isKeptNew || drawn !== this._drawn) {
      this._drawn = drawn;
      this._lines.show(this._table, this._sight, this._kept, isNew);
    }
  }
}
