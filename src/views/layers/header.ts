// The headings: buttons that sort, which the arrow keys reach from the first line.
import type { TranslationBundle } from '@jupyterlab/translation';

import { at } from '../../base/assert';
import type { ILayerColumn, ISort } from '../../model/layers';
import { NAME_COLUMN, firstDirection } from '../../model/layers';
import { element } from '../dom';
import { paint } from '../swatch';

interface IHeading {
  readonly id: string;
  readonly label: string;
  readonly cell: HTMLElement;
  readonly button: HTMLButtonElement;
}

/** The row of headings. */
export class Header {
  readonly node = element('div', {
    class: 'memtrack-LayerTable-row memtrack-mod-header',
    role: 'row',
    'aria-rowindex': '1'
  });
  private _headings: readonly IHeading[] = [];
  private _columns: readonly ILayerColumn[] = [];
  private _sort: ISort | undefined;

  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _setSort: (sort: ISort | undefined) => void
  ) {}

  /** Number of headings, the one of names included. */
  get length(): number {
    return this._headings.length;
  }

  show(columns: readonly ILayerColumn[], sort: ISort | undefined): void {
    if (columns !== this._columns || this._headings.length === 0) {
      this._columns = columns;
      const name = this._heading(NAME_COLUMN, this._trans.__('Layer'), '', undefined);
      this._headings = [name, ...columns.map(column => this._headingOf(column))];
      this.node.replaceChildren(...this._headings.map(({ cell }) => cell));
    }
    this._sort = sort;
    for (const { id, cell } of this._headings) {
      cell.setAttribute('aria-sort', sort?.column === id ? sort.direction : 'none');
    }
  }

  /** The button of heading `index`. */
  buttonAt(index: number): HTMLButtonElement {
    return at(this._headings, index).button;
  }

  /** Which heading `node` lies in, -1 for none. */
  indexAt(node: Node): number {
    return this._headings.findIndex(({ cell }) => cell.contains(node));
  }

  /** What the column sorted by is called. */
  labelOf(id: string): string {
    return this._headings.find(heading => heading.id === id)?.label ?? id;
  }

  private _headingOf(column: ILayerColumn): IHeading {
    const heading = this._heading(column.id, column.label, column.hint, column.kind);
    if (column.category !== undefined) {
      paint(heading.cell, column.category).classList.add('memtrack-mod-category');
    }
    return heading;
  }

  private _heading(
    id: string,
    label: string,
    hint: string,
    kind: ILayerColumn['kind'] | undefined
  ): IHeading {
    const button = element(
      'button',
      {
        type: 'button',
        class: 'memtrack-LayerTable-sort',
        tabindex: '-1',
        title: hint || undefined
      },
      element('span', { class: 'memtrack-LayerTable-label' }, label),
      element('span', { class: 'memtrack-LayerTable-arrow', 'aria-hidden': 'true' })
    );
    button.addEventListener('click', () => this._setSort(this._next(id)));
    const isFigure = kind !== undefined && kind !== 'text';
    const style = isFigure ? 'memtrack-mod-figure' : 'memtrack-mod-text';
    const cell = element(
      'div',
      { class: `memtrack-LayerTable-heading ${style}`, role: 'columnheader' },
      button
    );
    if (id === NAME_COLUMN) {
      cell.classList.add('memtrack-LayerTable-nameCell');
    }
    return { id, label, cell, button };
  }

  /** One way, then the other, then the order of the model. */
  private _next(column: string): ISort | undefined {
    const first = firstDirection(column, this._columns);
    if (this._sort?.column !== column) {
      return { column, direction: first };
    }
    const other = first === 'ascending' ? 'descending' : 'ascending';
    return this._sort.direction === first ? { column, direction: other } : undefined;
  }
}
