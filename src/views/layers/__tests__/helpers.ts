// A layer table on a page, and how a reader would use it.
import { nullTranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import type { IReport } from '../../../wire';
import type { ISampleLayer } from '../../../wire/__tests__/sample';
import { reportOf } from '../../../model/layers/__tests__/build';
import { LayerTable } from '..';

export const trans = nullTranslator.load('memtrack');

const opened: LayerTable[] = [];

/** Attaches a table that shows `report`; `closeTables` takes it away again. */
export function openTable(report: IReport, options: Partial<LayerTable.IOptions> = {}): LayerTable {
  const table = new LayerTable({ trans, ...options });
  opened.push(table);
  table.setView(report, 0);
  Widget.attach(table, document.body);
  return table;
}

export function closeTables(): void {
  for (const table of opened.splice(0)) {
    table.dispose();
  }
}

/** Elements under `table` that `selector` finds. */
export function all(table: LayerTable, selector: string): HTMLElement[] {
  return [...table.node.querySelectorAll<HTMLElement>(selector)];
}

export function one(table: LayerTable, selector: string): HTMLElement {
  const found = all(table, selector);
  if (found.length !== 1) {
    throw new Error(`${found.length} elements are ${selector}`);
  }
  return found[0] as HTMLElement;
}

/** Rows of layers in the order of the page. */
export function layerRows(table: LayerTable): HTMLElement[] {
  return all(table, '.memtrack-LayerTable-body > [role="row"]');
}

export function nameOf(row: Element | null): string {
  return row?.querySelector('.memtrack-LayerTable-name')?.textContent ?? '';
}

export function names(table: LayerTable): string[] {
  return layerRows(table).map(nameOf);
}

export function rowNamed(table: LayerTable, name: string): HTMLElement {
  const found = all(table, '[role="row"]').find(row => nameOf(row) === name);
  if (found === undefined) {
    throw new Error(`no row ${name}`);
  }
  return found;
}

/** The texts of a row, a cell each. */
export function texts(row: Element): string[] {
  return [...row.querySelectorAll('.memtrack-LayerTable-text')].map(cell => cell.textContent ?? '');
}

/** Presses a key where the focus is; returns whether the page still has to act on it. */
export function press(key: string, modifiers: KeyboardEventInit = {}): boolean {
  const event = new KeyboardEvent('keydown', {
    key,
    bubbles: true,
    cancelable: true,
    ...modifiers
  });
  return (document.activeElement ?? document.body).dispatchEvent(event);
}

/** Clicks as a mouse does: the focus first. */
export function click(node: Element, modifiers: MouseEventInit = {}): void {
  const focusable = node.closest<HTMLElement>('[tabindex], button');
  focusable?.focus();
  node.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ...modifiers }));
}

export function focusedName(): string {
  return nameOf(document.activeElement);
}

/** Eight blocks in a stack, a head that shares the embedding, and a loss. */
export function sampleLayers(blocks = 8): readonly ISampleLayer[] {
  const MiB = 2 ** 20;
  const block = (index: number): ISampleLayer => ({
    name: `h${index}`,
    type: 'Block',
    facts: { calls: 2, output_shape: '8×512', change: 3 * MiB },
    children: [
      { name: 'attn', type: 'Attention', own: { at_peak: 2 * MiB, saved: MiB } },
      { name: 'mlp', type: 'MLP', own: { at_peak: 4 * MiB, saved: 3 * MiB } }
    ]
  });
  return [
    {
      name: 'model',
      type: 'GPT',
      facts: { calls: 2, output_shape: '8×512×100' },
      children: [
        {
          name: 'wte',
          type: 'Embedding',
          own: { at_peak: MiB, parameters: MiB },
          aliases: 'model.head'
        },
        {
          name: 'stack',
          type: 'ModuleList',
          children: Array.from({ length: blocks }, (_, i) => block(i))
        },
        { name: 'head', type: 'Linear', own: { at_peak: 50 * MiB }, tied: true }
      ]
    },
    { name: 'loss', type: 'CrossEntropy<b>', own: { at_peak: 5 * MiB } }
  ];
}

export function sampleReport(blocks?: number): IReport {
  return reportOf(sampleLayers(blocks), { at_peak: 2 ** 20 });
}
