// The processes of a device. Lines keep their place while the reader points at them or has the focus
// in them: a button must not slip away under the hand.
import { bytesIn } from '../../model/gpus/figures';
import type { IDevicePart } from '../../model/gpus/parts';
import type { IProcessRow, IProcessSort } from '../../model/gpus/rows';
import { heldRows, processRows, sortedRows } from '../../model/gpus/rows';
import type { ProcessColumn } from '../../model/gpus/settings';
import type { IGpuDevice } from '../../wire/gpus';
import { button, element } from '../dom';
import type { ILineServices } from './processline';
import { ProcessLine } from './processline';
import { columnName } from './words';

/** The list of processes with headings that sort it. */
export class ProcessTable {
  readonly node: HTMLElement;
  private readonly _caption = element('caption', { class: 'memtrack-mod-heard' });
  private readonly _head = element('tr', {});
  private readonly _table: HTMLTableElement;
  private readonly _nobody = element('p', { class: 'memtrack-Gpu-note' });
  private readonly _left = element('p', { class: 'memtrack-Gpu-note' });
  private readonly _lines = new Map<string, ProcessLine>();
  private readonly _headings = new Map<string, HTMLElement>();
  private _order: readonly string[] = [];
  private _sort: IProcessSort | undefined;
  private _layout = '';

  constructor(private readonly _services: ILineServices) {
    this._table = element(
      'table',
      { class: 'memtrack-Processes' },
      this._caption,
      element('thead', {}, this._head)
    );
    this.node = element('div', {}, this._table, this._nobody, this._left);
  }

  update(device: IGpuDevice, parts: readonly IDevicePart[], now: number): void {
    const { model, trans } = this._services;
    const { columns, showsOthers, units } = model.settings;
    this._table.dataset.units = units;
    const rows = processRows(device, model.notebook?.kernelId, now, showsOthers);
    this._caption.textContent = trans.__('Processes on GPU %1', device.index);
    this._layHead(columns);
    this._table.hidden = rows.length === 0;
    this._place(this._ordered(rows));
    rows.forEach(row => this._lines.get(row.key)?.update({ row, device, parts, columns }));
    this._tellNobody(device, rows.length);
    this._tellLeft(device, rows.length);
  }

  private _ordered(rows: readonly IProcessRow[]): readonly IProcessRow[] {
    const { sort } = this._services.model;
    const isHeld =
      sort === this._sort &&
      (this._table.matches(':hover') || this._table.contains(document.activeElement));
    this._sort = sort;
    return isHeld ? heldRows(rows, this._order) : sortedRows(rows, sort);
  }

  private _place(rows: readonly IProcessRow[]): void {
    const keys = rows.map(({ key }) => key);
    const isSame = keys.join() === this._order.join();
    this._order = keys;
    if (isSame) {
      return;
    }
    for (const [key, line] of this._lines) {
      if (!keys.includes(key)) {
        line.node.remove();
        this._lines.delete(key);
      }
    }
    let previous: Element | null = this._head.parentElement;
    for (const key of keys) {
      const line = this._lines.get(key) ?? new ProcessLine(this._services);
      this._lines.set(key, line);
      // Moving a node takes the focus from it, so only what is out of place is moved.
      if (line.node.previousElementSibling !== previous) {
        previous?.after(line.node);
      }
      previous = line.node;
    }
  }

  private _layHead(columns: readonly ProcessColumn[]): void {
    const { sort } = this._services.model;
    if (this._layout !== columns.join() || this._headings.size === 0) {
      this._layout = columns.join();
      this._headings.clear();
      const headings = (['name', ...columns] as const).map(column => this._heading(column));
      this._head.replaceChildren(...headings);
    }
    for (const [column, heading] of this._headings) {
      const direction = sort.isDescending ? 'descending' : 'ascending';
      heading.setAttribute('aria-sort', column === sort.column ? direction : 'none');
    }
  }

  private _heading(column: IProcessSort['column']): HTMLElement {
    const { model, trans } = this._services;
    const choose = (): void => {
      const { sort } = model;
      // Text from A on, figures from the largest on; again the other way round.
      const isUsual = !['name', 'user', 'command'].includes(column);
      const isDescending = sort.column === column ? !sort.isDescending : isUsual;
      model.sort = { column, isDescending };
    };
    const heading = element(
      'th',
      { scope: 'col', class: `memtrack-mod-${column}` },
      button({ class: 'memtrack-Processes-sort' }, choose, columnName(column, trans))
    );
    this._headings.set(column, heading);
    return heading;
  }

  private _tellNobody(device: IGpuDevice, count: number): void {
    const { trans } = this._services;
    this._nobody.hidden = count > 0 || device.processes.length > 0;
    const isSplit = this._services.model.state?.devices.some(
      ({ parent }) => parent === device.uuid
    );
    this._nobody.textContent = isSplit
      ? trans.__('Split by MIG: each instance has its own processes.')
      : device.listsProcesses
        ? trans.__('No process holds memory here.')
        : trans.__('The driver does not list the processes of this device.');
  }

  /** Processes of other users that are left out still hold what they hold. */
  private _tellLeft(device: IGpuDevice, count: number): void {
    const { model, trans } = this._services;
    const left = device.processes.length - count;
    const bytes = device.processes
      .filter(({ isMine }) => !isMine)
      .reduce((sum, process) => sum + (process.bytes ?? 0), 0);
    this._left.hidden = left === 0;
    this._left.textContent = trans._n(
      '%1 process of another user is left out: %2',
      '%1 processes of other users are left out: %2',
      left,
      bytesIn(model.settings.units, bytes)
    );
  }
}
