// One process: a line of figures, and under it what it is and what can be done.
import type { TranslationBundle } from '@jupyterlab/translation';

import { bytesIn } from '../../model/gpus/figures';
import type { GpuModel } from '../../model/gpus/model';
import type { IDevicePart } from '../../model/gpus/parts';
import type { IProcessRow } from '../../model/gpus/rows';
import { rowName } from '../../model/gpus/rows';
import type { ProcessColumn } from '../../model/gpus/settings';
import type { Text } from '../../wire';
import type { IGpuDevice, IGpuProcess } from '../../wire/gpus';
import type { Copying } from '../diagnosis/copying';
import { button, element } from '../dom';
import { setText } from '../settext';
import type { IGpuActions } from './actions';
import { partClass } from './bar';
import { partKindName, rowNote, spanText } from './words';

/** What a line is made with. */
export interface ILineServices {
  readonly model: GpuModel;
  readonly actions: IGpuActions;
  readonly trans: TranslationBundle;
  readonly copying: Copying;
  readonly say: (text: Text) => string;
}

/** What a line shows. */
export interface ILineFacts {
  readonly row: IProcessRow;
  readonly device: IGpuDevice;
  readonly parts: readonly IDevicePart[];
  readonly columns: readonly ProcessColumn[];
}

/** A body of the table with the two rows of one process, which stay the same while it lives. */
export class ProcessLine {
  readonly node: HTMLTableSectionElement;
  private readonly _swatch = element('span', {
    class: 'memtrack-Gpu-swatch',
    'aria-hidden': 'true'
  });
  private readonly _name = element('span', { class: 'memtrack-Process-name' });
  private readonly _note = element('span', { class: 'memtrack-Process-note' });
  private readonly _parts = element('span', { class: 'memtrack-Process-parts' });
  private readonly _actions = element('span', { class: 'memtrack-Process-actions' });
  private readonly _figures = element('tr', {});
  private readonly _below = element('td', { class: 'memtrack-Process-below' });
  private readonly _cells = new Map<ProcessColumn, HTMLTableCellElement>();
  private _facts: ILineFacts | undefined;
  private _layout = '';
  private _offer = '';

  constructor(private readonly _services: ILineServices) {
    this._below.append(this._note, this._parts, this._actions);
    this.node = element(
      'tbody',
      { class: 'memtrack-Process' },
      this._figures,
      element('tr', {}, this._below)
    );
  }

  update(facts: ILineFacts): void {
    this._facts = facts;
    const { row, columns } = facts;
    const { trans } = this._services;
    this._lay(columns);
    setText(this._name, rowName(row));
    this._name.title = row.process.kernel?.path || (row.process.command ?? '');
    setText(this._note, rowNote(row, trans));
    for (const [column, cell] of this._cells) {
      setText(cell, this._figure(column, row));
    }
    this.node.classList.toggle('memtrack-mod-current', row.kind === 'current');
    this._paint(facts);
    this._offerActions(facts);
  }

  /** Makes the cells anew only where other columns are wanted. */
  private _lay(columns: readonly ProcessColumn[]): void {
    if (this._layout === columns.join() && this._figures.childElementCount > 0) {
      return;
    }
    this._layout = columns.join();
    this._cells.clear();
    const head = element('th', { scope: 'row' }, this._swatch, this._name);
    const cells = columns.map(column => {
      const cell = element('td', { class: `memtrack-mod-${column}` });
      this._cells.set(column, cell);
      return cell;
    });
    this._figures.replaceChildren(head, ...cells);
    this._below.colSpan = columns.length + 1;
  }

  private _figure(column: ProcessColumn, { process, ageS, idleS }: IProcessRow): string {
    const { model, trans } = this._services;
    switch (column) {
      case 'memory':
        return process.bytes === undefined
          ? trans.__('unknown')
          : bytesIn(model.settings.units, process.bytes);
      case 'age':
        return ageS === undefined ? '–' : spanText(ageS, trans);
      case 'activity':
        return idleS === undefined ? '–' : spanText(idleS, trans);
      case 'pid':
        return `${process.pid}`;
      case 'user':
        return process.user ?? '–';
      case 'command':
        return process.command ?? '–';
    }
  }

  /** The colour of the process in the bar and, of this notebook, what its memory is made of. */
  private _paint({ row, parts }: ILineFacts): void {
    const { model, trans } = this._services;
    const id = row.process.kernel?.id ?? '';
    const own = row.kind === 'current' ? parts.filter(({ kind }) => OWN.includes(kind)) : [];
    const part =
      own[0] ??
      parts.find(({ kernelId, kind }) => (id === '' ? kind === 'others' : kernelId === id));
    this._swatch.className = `memtrack-Gpu-swatch ${part ? partClass(part, model) : ''}`;
    const shown = own.length > 1 ? own : [];
    while (this._parts.childElementCount > shown.length) {
      this._parts.lastElementChild?.remove();
    }
    shown.forEach((each, index) => {
      const node = this._parts.children[index] ?? this._parts.appendChild(partNode());
      const [swatch, text] = node.children;
      swatch?.setAttribute('class', `memtrack-Gpu-swatch ${partClass(each, model)}`);
      const name = partKindName(each.kind, trans);
      setText(text, `${name} ${bytesIn(model.settings.units, each.bytes)}`);
    });
  }

  /** Makes the buttons anew only where others are offered, so that one in focus stays. */
  private _offerActions({ row }: ILineFacts): void {
    const { process, kind } = row;
    const state = process.kernel?.state ?? '';
    const offer = [kind, state === 'busy', process.endCommand ?? '', process.kernel?.id].join('|');
    if (offer !== this._offer) {
      this._offer = offer;
      const focused = [...this._actions.children].indexOf(document.activeElement ?? this.node);
      this._actions.replaceChildren(...this._buttons(row));
      const next = this._actions.children[Math.min(focused, this._actions.childElementCount - 1)];
      if (focused >= 0 && next instanceof HTMLElement) {
        next.focus();
      }
    }
  }

  private _buttons({ kind, process }: IProcessRow): readonly HTMLElement[] {
    const { actions, trans } = this._services;
    const on = (label: string, act: (facts: ILineFacts) => void): HTMLElement =>
      this._button(label, act);
    if (kind === 'foreign') {
      return this._ending(process);
    }
    const open = on(trans.__('Open'), ({ row }) => actions.open(row));
    const isBusy = process.kernel?.state === 'busy';
    const isNotebook = process.kernel?.type === 'notebook';
    return [
      ...(kind === 'kernel' && process.kernel?.path ? [open] : []),
      ...(isNotebook ? [on(trans.__('Explain'), ({ row }) => actions.explain(row))] : []),
      ...(kind === 'current' ? [on(trans.__('Free'), ({ row }) => actions.free(row))] : []),
      ...(isBusy ? [on(trans.__('Interrupt'), ({ row }) => actions.interrupt(row))] : []),
      on(trans.__('Shut down'), ({ row, device }) => actions.shutDown(row, device))
    ];
  }

  private _button(label: string, act: (facts: ILineFacts) => void): HTMLElement {
    const name = this._facts === undefined ? '' : rowName(this._facts.row);
    return button(
      {
        class: 'memtrack-Button',
        'aria-label': this._services.trans.__('%1: %2', label, name)
      },
      () => this._facts && act(this._facts),
      label
    );
  }

  /** The command that ends a process of another program, with the way to copy it; nothing runs it here. */
  private _ending({ endCommand, endWhy }: IGpuProcess): readonly HTMLElement[] {
    const { copying, say } = this._services;
    if (endCommand === undefined) {
      return [];
    }
    const title = endWhy === undefined ? undefined : say(endWhy);
    const command = element('code', { class: 'memtrack-Process-command', title }, endCommand);
    return [command, copying.button(endCommand, endCommand)];
  }
}

const OWN: readonly string[] = ['tensors', 'cache', 'context', 'children', 'notebook'];

function partNode(): HTMLElement {
  return element(
    'span',
    { class: 'memtrack-Process-part' },
    element('span', { 'aria-hidden': 'true' }),
    element('span', {})
  );
}
