// The areas with their bytes at the listed moment: legend and readout in one.
import { at } from '../../base/assert';
import { formatBytes } from '../../base/bytes';
import type { IWords } from '../../draw/scene';
import { areaName } from '../../draw/scene';
import type { IArea } from '../../model/areas';
import { areasOf } from '../../model/areas';
import { pointAt } from '../../model/timeline';
import { element } from '../dom';
import { swatch } from '../swatch';
import type { TimelineState } from './state';

/** The legend of one timeline; the entries stay where they are while the figures change. */
export class Legend {
  readonly node = element('ul', { class: 'memtrack-Legend' });
  private _figures = new Map<string, HTMLElement>();

  constructor(private readonly _words: IWords) {}

  /** Bring the figures to the listed moment of `state`. */
  update(state: TimelineState): void {
    const areas = areasOf(state.whole);
    const keys = areas.map(keyOf);
    if (keys.join() !== [...this._figures.keys()].join()) {
      this._rebuild(areas);
    }
    const point = pointAt(state.shown, state.cut);
    const shown = new Map(areasOf(state.shown).map(area => [keyOf(area), area.bytes]));
    for (const [key, figure] of this._figures) {
      const column = shown.get(key);
      const bytes = column === undefined || column.length === 0 ? 0 : at(column, point);
      figure.textContent = formatBytes(bytes);
    }
  }

  private _rebuild(areas: readonly IArea[]): void {
    const figures = areas.map(
      area => [area, element('span', { class: 'memtrack-Legend-bytes' })] as const
    );
    this._figures = new Map(figures.map(([area, figure]) => [keyOf(area), figure]));
    this.node.replaceChildren(
      ...figures.map(([area, figure]) =>
        element('li', {}, swatch(area.id), areaName(area, this._words), ' ', figure)
      )
    );
  }
}

function keyOf({ id, line }: IArea): string {
  return `${id} ${line ?? ''}`;
}
