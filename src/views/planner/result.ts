// The answer of a planner: the sentence, the bar against the GPU, the parts. Its nodes stay and their widths
// move, so that nothing jumps while a slider is drawn.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatBytes, formatPercent } from '../../base/bytes';
import type { IPlanPart } from '../../model/planner/parts';
import type { ICapacity } from '../../wire/plan';
import { element } from '../dom';
import { cssName, paint, swatch } from '../swatch';

interface IRow {
  readonly node: HTMLElement;
  readonly name: HTMLElement;
  readonly fill: HTMLElement;
  readonly formula: HTMLElement;
  readonly size: HTMLElement;
  readonly share: HTMLElement;
}

/** The words for a part: its name, and how its bytes are found. */
export interface IPartWords {
  readonly name: (id: string) => string;
  readonly formula: (part: IPlanPart) => string;
}

/** The bar of all parts and a row for each. */
export class PartsPicture {
  readonly node: HTMLElement;
  private readonly _bar = element('div', { class: 'memtrack-Planner-bar', role: 'img' });
  private readonly _capacity = element('span', { class: 'memtrack-Planner-capacity' });
  private readonly _body = element('tbody', {});
  private readonly _segments = new Map<string, HTMLElement>();
  private readonly _rows = new Map<string, IRow>();

  constructor(private readonly _trans: TranslationBundle) {
    this.node = element(
      'div',
      { class: 'memtrack-Planner-picture' },
      this._bar,
      element(
        'table',
        { class: 'memtrack-Table memtrack-Planner-parts', 'aria-label': _trans.__('Parts') },
        this._body
      )
    );
    this._bar.append(this._capacity);
  }

  /** Show `parts` against `gpu`; the ids are those of the first time. */
  show(
    parts: readonly IPlanPart[],
    total: number,
    gpu: ICapacity | undefined,
    words: IPartWords
  ): void {
    const room = Math.max(1, total, gpu?.usable ?? 0);
    const largest = Math.max(1, ...parts.map(({ bytes }) => bytes));
    for (const part of parts) {
      const { id, bytes } = part;
      const name = words.name(id);
      const segment = this._segments.get(id) ?? this._makeSegment(id);
      segment.style.flexBasis = `${(100 * bytes) / room}%`;
      segment.title = `${name}: ${formatBytes(bytes)}`;
      const row = this._rows.get(id) ?? this._makeRow(id);
      row.node.classList.toggle('memtrack-mod-nothing', bytes === 0);
      row.name.textContent = name;
      row.fill.style.width = `${(100 * bytes) / largest}%`;
      row.formula.textContent = bytes === 0 ? '' : words.formula(part);
      row.size.textContent = bytes === 0 ? '—' : formatBytes(bytes);
      row.size.title = `${bytes} B`;
      row.share.textContent = bytes === 0 ? '' : formatPercent(bytes, total);
    }
    this._capacity.hidden = gpu === undefined || gpu.usable >= total;
    this._capacity.style.left = `${(100 * (gpu?.usable ?? 0)) / room}%`;
    const told = parts
      .filter(({ bytes }) => bytes > 0)
      .map(({ id, bytes }) => `${words.name(id)} ${formatBytes(bytes)}`);
    this._bar.setAttribute(
      'aria-label',
      this._trans.__('%1 in all: %2', formatBytes(total), told.join(', '))
    );
  }

  private _makeSegment(id: string): HTMLElement {
    const node = element('span', { class: 'memtrack-Planner-segment' });
    paint(node, colourOf(id));
    this._bar.insertBefore(node, this._capacity);
    this._segments.set(id, node);
    return node;
  }

  private _makeRow(id: string): IRow {
    const name = element('span', {});
    const fill = paint(element('span', { class: 'memtrack-Planner-fill' }), colourOf(id));
    const formula = element('span', { class: 'memtrack-Planner-formula' });
    const size = element('td', { class: 'memtrack-mod-number' });
    const share = element('td', { class: 'memtrack-mod-number memtrack-Planner-share' });
    const node = element(
      'tr',
      { class: `memtrack-mod-${cssName(id)}` },
      element('th', { scope: 'row' }, swatch(colourOf(id)), ' ', name),
      element(
        'td',
        { class: 'memtrack-Planner-cell' },
        element('span', { class: 'memtrack-Planner-track', 'aria-hidden': 'true' }, fill),
        formula
      ),
      size,
      share
    );
    this._body.append(node);
    const row = { node, name, fill, formula, size, share };
    this._rows.set(id, row);
    return row;
  }
}

/** The cache of keys and values lives between calls, as buffers do. */
function colourOf(id: string): string {
  return id === 'cache_kv' ? 'buffer' : id;
}
