import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { reportOf } from '../../../model/layers/__tests__/build';
import { randomLayers, seeded } from '../../../wire/__tests__/random';
import { LayerTable } from '..';
import {
  all,
  click,
  closeTables,
  layerRows,
  names,
  one,
  openTable,
  press,
  rowNamed,
  sampleLayers,
  sampleReport,
  texts,
  trans
} from './helpers';

afterEach(() => {
  closeTables();
  jest.useRealTimers();
});

describe('what a screen reader is told', () => {
  it('is a tree grid of so many rows and columns', () => {
    const table = openTable(sampleReport());
    const grid = one(table, '[role="treegrid"]');
    expect(grid.getAttribute('aria-label')).toBe('Layers');
    expect(grid.getAttribute('aria-rowcount')).toBe(String(1 + layerRows(table).length + 2));
    expect(grid.getAttribute('aria-colcount')).toBe('9');
    for (const row of all(table, '[role="row"]')) {
      expect(row.parentElement?.getAttribute('role')).toBe('rowgroup');
      expect(row.children.length).toBe(9);
    }
    const indexes = all(table, '[role="row"]').map(row =>
      Number(row.getAttribute('aria-rowindex'))
    );
    expect(indexes).toEqual(indexes.map((_, index) => index + 1));
  });

  it('is the level and place of every layer, and whether it is open', () => {
    const table = openTable(sampleReport());
    const facts = (name: string): (string | null)[] =>
      ['aria-level', 'aria-posinset', 'aria-setsize', 'aria-expanded', 'aria-selected'].map(
        attribute => rowNamed(table, name).getAttribute(attribute)
      );
    expect(facts('model')).toEqual(['1', '1', '2', 'true', 'false']);
    expect(facts('head')).toEqual(['2', '1', '3', null, 'false']);
    expect(facts('stack')).toEqual(['2', '2', '3', 'true', 'false']);
    expect(facts('loss')).toEqual(['1', '2', '2', null, 'false']);
    expect(facts('Total')).toEqual(['1', null, null, null, null]);
  });

  it('is the order, by the heading and in words when it changes', () => {
    const table = openTable(sampleReport());
    const sorted = (): string[] =>
      all(table, '[role="columnheader"]').map(cell => cell.getAttribute('aria-sort') ?? '');
    expect(sorted().filter(order => order !== 'none')).toEqual(['descending']);
    const saved = all(table, '[role="columnheader"] button')[3] as HTMLElement;
    const status = one(table, '[role="status"]');
    const heard = ['', '', '', ''].map(() => {
      saved.click();
      return status.textContent;
    });
    expect(heard).toEqual([
      'Sorted by Saved, descending',
      'Sorted by Saved, ascending',
      'In the order of the model',
      'Sorted by Saved, descending'
    ]);
    expect(sorted()[3]).toBe('descending');
  });

  it('has no element with a name that its role does not need', () => {
    const table = openTable(sampleReport());
    expect(all(table, '[role="columnheader"] > button')).toHaveLength(9);
    expect(one(table, 'input[type="search"]').getAttribute('aria-label')).toBeTruthy();
    expect(all(table, '[tabindex="0"]')).toHaveLength(1);
  });
});

describe('figures in cells', () => {
  it('are those of the subtree, with what is outside and a sum that adds up', () => {
    const table = openTable(sampleReport());
    const atPeak = (name: string): string | undefined => texts(rowNamed(table, name))[3];
    expect(['model', 'head', 'stack', 'wte', 'loss'].map(atPeak)).toEqual([
      '99.0 MiB',
      '50.0 MiB',
      '48.0 MiB',
      '1.00 MiB',
      '5.00 MiB'
    ]);
    expect([atPeak('Outside the layers'), atPeak('Total')]).toEqual(['1.00 MiB', '105 MiB']);
  });

  it('are marked as shared where the parameters are counted elsewhere', () => {
    const table = openTable(sampleReport());
    expect(texts(rowNamed(table, 'head'))[4]).toBe('tied');
    expect(rowNamed(table, 'wte').textContent).toContain('also model.head');
  });

  it('have bars by their share of the largest root', () => {
    const table = openTable(sampleReport());
    const bar = rowNamed(table, 'head').querySelectorAll<HTMLElement>(
      '.memtrack-LayerTable-bar'
    )[1];
    expect(bar?.style.transform).toBe(`scaleX(${(50 / 99).toFixed(4)})`);
  });

  it('are exact where they are pointed at', () => {
    const table = openTable(sampleReport());
    const cell = rowNamed(table, 'stack').querySelectorAll('[role="gridcell"]')[3];
    cell?.dispatchEvent(new Event('pointerover', { bubbles: true }));
    expect(cell?.getAttribute('title')).toBe('50,331,648 bytes, of which 0 its own');
  });

  it('never become markup', () => {
    const table = openTable(sampleReport());
    expect(rowNamed(table, 'loss').querySelector('b')).toBeNull();
    expect(rowNamed(table, 'loss').textContent).toContain('CrossEntropy<b>');
  });
});

describe('the filter', () => {
  function type(table: LayerTable, text: string): void {
    const box = one(table, 'input[type="search"]') as HTMLInputElement;
    box.value = text;
    box.dispatchEvent(new Event('input', { bubbles: true }));
  }

  it('waits for a pause, keeps the way to what it finds, dimmed, and says how many', () => {
    jest.useFakeTimers();
    const table = openTable(sampleReport());
    const before = names(table);
    type(table, 'm');
    jest.advanceTimersByTime(100);
    type(table, 'mlp');
    jest.advanceTimersByTime(100);
    expect(names(table)).toEqual(before);
    jest.advanceTimersByTime(30);
    expect(names(table).slice(0, 5)).toEqual(['model', 'stack', 'h0', 'mlp', 'h1']);
    const dimmed = all(table, '.memtrack-mod-dimmed').map(row => row.getAttribute('aria-level'));
    expect(dimmed).not.toContain('4');
    expect(one(table, '[role="status"]').textContent).toBe('8 layers found');
    expect(one(table, '.memtrack-LayerTable-count').textContent).toBe('8 of 29 layers');
  });

  it('says so when nothing is found, and gives all back with Escape', () => {
    jest.useFakeTimers();
    const table = openTable(sampleReport());
    const before = names(table);
    type(table, 'nope');
    jest.advanceTimersByTime(120);
    expect(names(table)).toEqual([]);
    expect(one(table, '.memtrack-LayerTable-empty').textContent).toContain('“nope”');
    one(table, 'input[type="search"]').focus();
    press('Escape');
    expect(names(table)).toEqual(before);
  });

  it('shows where a layer is that was chosen under it, when it is cleared', () => {
    jest.useFakeTimers();
    const table = openTable(sampleReport());
    type(table, 'h5.mlp');
    jest.advanceTimersByTime(120);
    click(rowNamed(table, 'mlp'));
    type(table, '');
    jest.advanceTimersByTime(120);
    expect(rowNamed(table, 'mlp').getAttribute('aria-selected')).toBe('true');
    expect(names(table)).toContain('h5');
  });
});

describe('columns', () => {
  it('are chosen in a menu that the arrow keys walk and Escape closes', () => {
    const changed = jest.fn();
    const table = openTable(sampleReport(), { onColumnsChanged: changed });
    const button = one(table, '[aria-expanded].memtrack-Button');
    click(button);
    expect(button.getAttribute('aria-expanded')).toBe('true');
    const boxes = all(table, 'input[type="checkbox"]') as HTMLInputElement[];
    expect(document.activeElement).toBe(boxes[0]);
    press('ArrowDown');
    press('ArrowDown');
    expect((document.activeElement as HTMLInputElement).value).toBe('output_dtype');
    (document.activeElement as HTMLElement).click();
    expect(changed.mock.lastCall[0]).toEqual([
      'calls',
      'output_shape',
      'output_dtype',
      ...['saved', 'at_peak', 'parameters', 'gradients', 'optimizer', 'change']
    ]);
    expect(all(table, '[role="columnheader"]')).toHaveLength(10);
    expect(document.activeElement).toBe(boxes[2]);
    press('Escape');
    expect([button.getAttribute('aria-expanded'), document.activeElement]).toEqual([
      'false',
      button
    ]);
  });

  it('are those remembered, and those of the report only', () => {
    const table = openTable(sampleReport(), { columns: ['peak', 'no_such_column', 'calls'] });
    const headings = all(table, '[role="columnheader"]').map(cell => cell.textContent);
    expect(headings).toEqual(['Layer', 'Calls', 'Peak']);
    expect(table.columns).toEqual(['peak', 'no_such_column', 'calls']);
  });
});

describe('the flat list', () => {
  it('ranks all layers by their own bytes, with their paths', () => {
    const table = openTable(sampleReport());
    one(table, '[aria-pressed]').click();
    expect(names(table).slice(0, 4)).toEqual(['head', 'loss', 'mlp', 'mlp']);
    expect(rowNamed(table, 'mlp').textContent).toContain('model.stack.h0.');
    expect(layerRows(table).every(row => row.getAttribute('aria-level') === '1')).toBe(true);
    expect(texts(rowNamed(table, 'Total'))[3]).toBe('105 MiB');
  });
});

describe('new figures', () => {
  it('leave what is open, chosen and focused as it is, by path', () => {
    const table = openTable(sampleReport());
    const rows: number[] = [];
    table.selectionChanged.connect((_, row) => rows.push(row));
    click(rowNamed(table, 'stack'));
    press('ArrowDown');
    const focused = document.activeElement;
    const grown = [{ name: 'pre', type: 'Linear', own: { at_peak: 1 } }, ...sampleLayers()];
    table.setView(reportOf(grown), 0);
    expect(names(table).slice(0, 5)).toEqual(['model', 'head', 'stack', 'h0', 'h1']);
    expect(document.activeElement).toBe(focused);
    expect(rowNamed(table, 'stack').getAttribute('aria-selected')).toBe('true');
    expect(rows).toEqual([2, 3]);
    table.setView(reportOf([{ name: 'pre', type: 'Linear' }]), 0);
    expect([table.selected, names(table)]).toEqual([-1, ['pre']]);
  });

  it('leave the layer in sight where it is', () => {
    const layers = randomLayers(seeded(2), 2000);
    const table = openTable(reportOf(layers));
    one(table, '[aria-pressed]').click();
    const box = one(table, '.memtrack-LayerTable-box');
    const paths = (): string[] => layerRows(table).map(row => row.children[0]?.textContent ?? '');
    box.scrollTop = 24 * 700 + 10;
    box.dispatchEvent(new Event('scroll'));
    const inSight = paths()[8];
    const first = { name: 'first', type: 'L', own: { at_peak: 2 ** 30 } };
    table.setView(reportOf([first, ...layers]), 0);
    expect(box.scrollTop).toBe(24 * 701 + 10);
    expect(paths()[8]).toBe(inSight);
  });

  it('are taken from an empty report on', () => {
    const table = openTable(reportOf([], { at_peak: 7 }));
    expect(one(table, '.memtrack-LayerTable-empty').textContent).toContain('not given a model');
    expect(texts(rowNamed(table, 'Total'))).toContain('7 B');
    table.setView(sampleReport(), 0);
    expect(names(table)[0]).toBe('model');
    expect(one(table, '.memtrack-LayerTable-empty').hidden).toBe(true);
  });
});

describe('10 000 layers', () => {
  const layers = randomLayers(seeded(9), 10_000);

  it('have elements only around what is in sight', () => {
    const table = openTable(reportOf(layers));
    one(table, '[aria-pressed]').click();
    const box = one(table, '.memtrack-LayerTable-box');
    const known = new Set(layerRows(table));
    for (const top of [0, 100, 5000, 239_000, 120_000, 24, 0]) {
      box.scrollTop = top;
      box.dispatchEvent(new Event('scroll'));
      const rows = layerRows(table);
      expect(rows.length).toBeLessThanOrEqual(40);
      const indexes = rows.map(row => Number(row.getAttribute('aria-rowindex')));
      expect(indexes).toEqual([...indexes].sort((a, b) => a - b));
      const first = Math.floor(top / 24) + 2;
      expect(indexes).toEqual(expect.arrayContaining([first, first + 19]));
      rows.forEach(row => known.add(row));
    }
    // Used again, not made anew: those of one window, a little larger in the middle than at the top.
    expect(known.size).toBeLessThanOrEqual(45);
  });
});

describe('its life', () => {
  it('ends once, however often it is ended, and leaves nothing behind', () => {
    const remove = jest.spyOn(window, 'removeEventListener');
    const table = openTable(sampleReport());
    click(one(table, '[aria-expanded].memtrack-Button'));
    table.dispose();
    table.dispose();
    expect(table.isDisposed).toBe(true);
    expect(remove.mock.calls.filter(([type]) => type === 'keydown')).toHaveLength(1);
    expect(document.body.querySelector('.memtrack-LayerTable')).toBeNull();
    remove.mockRestore();
  });

  it('can be shown before it has a report, and moved to another place', () => {
    const table = new LayerTable({ trans });
    Widget.attach(table, document.body);
    MessageLoop.sendMessage(table, Widget.ResizeMessage.UnknownSize);
    table.select(3);
    expect(table.selected).toBe(-1);
    Widget.detach(table);
    table.setView(sampleReport(), 0);
    Widget.attach(table, document.body);
    expect(names(table)).toContain('model');
    table.dispose();
  });
});
