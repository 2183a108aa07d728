// One line of the table as elements, which are used again for other lines as the table scrolls.
import { at } from '../../base/assert';
import type { ILayerColumn } from '../../model/layers';
import { textAt } from '../../wire';
import { element } from '../dom';
import { splitLayerPath } from '../pathparts';
import { paint } from '../swatch';
import { cellOf, hasBar } from './cells';
import type { ITable, Line } from './table';
import { OUTSIDE_LINE, TOTAL_LINE, positionOf } from './table';

/** Rows of the header, which screen readers count too. */
const HEADER_ROWS = 1;

/** How far a layer is indented under its parent, and after how many parents no further. */
const INDENT_EM = 1.05;
const MOST_INDENTS = 12;

/** The elements of one line, for the columns it was made with. */
export class LineView {
  readonly node: HTMLElement;
  line: Line = TOTAL_LINE;
  private readonly _name = new NameCell();
  private readonly _cells: readonly FigureCell[];

  constructor(columns: readonly ILayerColumn[]) {
    this._cells = columns.map(column => new FigureCell(column));
    this.node = element(
      'div',
      { class: 'memtrack-LayerTable-row', role: 'row', tabindex: '-1' },
      this._name.node,
      ...this._cells.map(cell => cell.node)
    );
  }

  /** The column of the cell that `node` lies in; undefined for the name. */
  columnOf(node: Node): ILayerColumn | undefined {
    return this._cells.find(cell => cell.node.contains(node))?.column;
  }

  /** The element of the name cell. */
  get nameNode(): HTMLElement {
    return this._name.node;
  }

  /** Whether `node` is what opens and closes the line. */
  isToggle(node: Node): boolean {
    return this._name.toggle.contains(node);
  }

  show(table: ITable, line: Line): void {
    this.line = line;
    const position = positionOf(table, line);
    setAttribute(this.node, 'aria-rowindex', position + 1 + HEADER_ROWS);
    this._showPlace(table, line, position);
    this.node.classList.toggle('memtrack-mod-total', line === TOTAL_LINE);
    this._name.show(table, line);
    for (const cell of this._cells) {
      cell.show(table, line);
    }
  }

  private _showPlace(table: ITable, line: Line, position: number): void {
    const { rows, selection } = table;
    const isLayer = line >= 0;
    const level = !isLayer || rows.isFlat ? 1 : at(rows.tree.depth, line) + 1;
    setAttribute(this.node, 'aria-level', level);
    setAttribute(this.node, 'aria-posinset', isLayer ? at(rows.shown.place, position) : undefined);
    setAttribute(
      this.node,
      'aria-setsize',
      isLayer ? at(rows.shown.siblings, position) : undefined
    );
    const isParent = isLayer && rows.isParent(line);
    setAttribute(this.node, 'aria-expanded', isParent ? rows.isOpen(line) : undefined);
    setAttribute(this.node, 'aria-selected', isLayer ? selection.has(line) : undefined);
    this.node.classList.toggle('memtrack-mod-dimmed', isLayer && !rows.isMatch(line));
    this._name.indent(level - 1);
  }
}

/** The cell of a layer's name: what opens it, name, type, and what is special about it. */
class NameCell {
  readonly toggle = element('span', { class: 'memtrack-LayerTable-toggle', 'aria-hidden': 'true' });
  // Of the path above, the far half is cut first: it is alike for many.
  private readonly _far = part('above');
  private readonly _near = part('above');
  private readonly _name = part('name');
  private readonly _type = part('type');
  private readonly _alias = part('type');
  private readonly _peak = element('span', { class: 'memtrack-LayerTable-peak' });
  readonly node = element(
    'div',
    { class: 'memtrack-LayerTable-nameCell', role: 'rowheader' },
    this.toggle,
    element(
      'span',
      { class: 'memtrack-LayerTable-names' },
      this._far,
      this._near,
      this._name,
      this._type,
      this._alias
    ),
    this._peak
  );

  constructor() {
    this._far.classList.add('memtrack-mod-far');
  }

  /** Set on the cell itself: a variable on the row would style all that is in it anew. */
  indent(steps: number): void {
    const padding = `${(INDENT_EM * Math.min(steps, MOST_INDENTS)).toFixed(2)}em`;
    if (this.node.style.paddingLeft !== padding) {
      this.node.style.paddingLeft = padding;
    }
  }

  show(table: ITable, line: Line): void {
    const { rows, trans } = table;
    if (line < 0) {
      const name = line === OUTSIDE_LINE ? trans.__('Outside the layers') : trans.__('Total');
      this._write('', name, '', '', '');
      return;
    }
    const name = textAt(rows.tree.name, line);
    const path = textAt(rows.tree.path, line);
    const aliases = textAt(rows.tree.aliases, line);
    const hasPath = rows.isFlat && path.endsWith(name);
    this._write(
      hasPath ? path.slice(0, path.length - name.length) : '',
      name,
      textAt(rows.tree.type, line),
      aliases ? table.aliasText(aliases) : '',
      table.peakLayer === line ? trans.__('peak') : ''
    );
  }

  private _write(above: string, name: string, type: string, alias: string, peak: string): void {
    const far = Math.min(above.length, splitLayerPath(above + name)[0].length);
    setText(this._far, above.slice(0, far));
    setText(this._near, above.slice(far));
    setText(this._name, name);
    setText(this._type, type);
    setText(this._alias, alias);
    setText(this._peak, peak);
    this._peak.hidden = peak === '';
  }
}

/** A cell with a figure, and a bar behind it where the column has bars. */
class FigureCell {
  readonly node: HTMLElement;
  private readonly _bar: HTMLElement | undefined;
  private readonly _text = part('text');
  private _scale = '';

  constructor(readonly column: ILayerColumn) {
    this._bar = hasBar(column) ? part('bar') : undefined;
    const kind = column.kind === 'text' ? 'memtrack-mod-text' : 'memtrack-mod-figure';
    this.node = element(
      'div',
      { class: `memtrack-LayerTable-cell ${kind}`, role: 'gridcell' },
      ...(this._bar === undefined ? [] : [this._bar]),
      this._text
    );
    if (column.category !== undefined) {
      paint(this.node, column.category);
    }
  }

  show(table: ITable, line: Line): void {
    const { text, share, isQuiet } = cellOf(table, this.column, line);
    setText(this._text, text);
    this._text.classList.toggle('memtrack-mod-quiet', isQuiet);
    // Scaled, not sized: that needs no layout.
    const scale = `scaleX(${share.toFixed(4)})`;
    if (this._bar !== undefined && scale !== this._scale) {
      this._scale = scale;
      this._bar.style.transform = scale;
    }
  }
}

function part(name: string): HTMLElement {
  return element('span', { class: `memtrack-LayerTable-${name}` });
}

/** Changes the text in place: a new text node would be styled and laid out from the beginning. */
function setText(node: HTMLElement, text: string): void {
  const { firstChild } = node;
  if (!(firstChild instanceof Text)) {
    node.textContent = text;
  } else if (firstChild.data !== text) {
    firstChild.data = text;
  }
}

function setAttribute(
  node: Element,
  name: string,
  value: string | number | boolean | undefined
): void {
  if (value === undefined) {
    node.removeAttribute(name);
  } else if (node.getAttribute(name) !== String(value)) {
    node.setAttribute(name, String(value));
  }
}
