// What has the focus in the grid: one line or one heading, which is the only stop of Tab.
import { ancestorsOf } from '../../model/layers';
import type { Grid } from './grid';
import type { ITable, Line } from './table';
import { TOTAL_LINE, lineAt, lineCount, positionOf } from './table';

/** The line or heading that has, or would get, the focus of the grid. */
export class GridFocus {
  private _line: Line = TOTAL_LINE;
  private _heading: number | undefined;
  private _isUnset = true;

  constructor(private readonly _grid: Grid) {}

  /** The line the arrow keys start from. */
  get line(): Line {
    return this._line;
  }

  /** Whether the focus of the page is in the lines now. */
  get isInLines(): boolean {
    const focused = this._grid.viewOf(this._line)?.node;
    return focused !== undefined && focused === document.activeElement;
  }

  /** Moves the focus to `line`, which comes into sight. */
  moveTo(line: Line): void {
    this._grid.keep(line);
    this._grid.bringIntoSight(line);
    this.note(line);
    // The sight is set already, and the browser does not know of the headings over the lines.
    this._grid.viewOf(line)?.node.focus({ preventScroll: true });
  }

  /** Brings `line` into sight, and has Tab stop there unless the focus is in the lines already. */
  pointTo(line: Line): void {
    const isMine = this.isInLines;
    this._grid.bringIntoSight(line);
    if (!isMine) {
      this.note(line);
    }
  }

  /** Takes note that `line` has the focus of the page. */
  note(line: Line): void {
    this._line = line;
    this._heading = undefined;
    this._isUnset = false;
    this._grid.keep(line);
    this._setTabStop();
  }

  /** Moves the focus to a heading; sideways the browser brings it into sight. */
  moveToHeading(index: number): void {
    this._heading = Math.max(0, Math.min(this._grid.header.length - 1, index));
    this._setTabStop();
    this._grid.header.buttonAt(this._heading).focus();
  }

  /** Draws `table`; a focused line that is gone gives the focus to its nearest parent that is shown. */
  show(table: ITable): void {
    const hadFocus = this.isInLines;
    const line = this._replacement(table);
    const isMoved = line !== this._line;
    this._line = line;
    this._grid.show(table, line);
    this._setTabStop();
    if (hadFocus && isMoved) {
      this.moveTo(line);
    }
  }

  /** Follows rows to where they went. */
  move(moves: Int32Array): void {
    if (this._line >= 0) {
      this._line = moves[this._line] ?? -1;
    }
  }

  private _replacement(table: ITable): Line {
    const { rows } = table;
    if (this._isUnset) {
      return lineAt(table, 0);
    }
    if (this._line < 0 ? this._line !== -1 : positionOf(table, this._line) >= 0) {
      return this._line;
    }
    if (this._line >= 0 && !rows.isFlat) {
      for (const row of ancestorsOf(rows.tree, this._line)) {
        if (rows.positionOf(row) >= 0) {
          return row;
        }
      }
    }
    return lineAt(table, 0);
  }

  private _setTabStop(): void {
    const isHeading = this._heading !== undefined;
    this._grid.setTabStop(isHeading ? undefined : this._line, this._heading);
  }
}

/** The line `lines` further on from `line`, no further than the ends. */
export function lineFrom(table: ITable, line: Line, lines: number): Line {
  const position = positionOf(table, line) + lines;
  return lineAt(table, Math.max(0, Math.min(lineCount(table) - 1, position)));
}
