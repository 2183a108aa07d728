import { TypeAhead } from '../keys';
import type { LayerTable } from '..';
import {
  all,
  click,
  closeTables,
  focusedName,
  layerRows,
  names,
  one,
  openTable,
  press,
  rowNamed,
  sampleReport
} from './helpers';

afterEach(closeTables);

/** A table with its stack shut and the focus on its first line. */
function opened(blocks = 8): LayerTable {
  const table = openTable(sampleReport(blocks));
  if (rowNamed(table, 'stack').getAttribute('aria-expanded') === 'true') {
    toggle(table, 'stack');
  }
  rowNamed(table, 'model').focus();
  return table;
}

function toggle(table: LayerTable, name: string): void {
  const arrow = rowNamed(table, name).querySelector('.memtrack-LayerTable-toggle');
  arrow?.dispatchEvent(new MouseEvent('click', { bubbles: true }));
}

/** Names of the lines focused by one key after the other. */
function walk(...keys: string[]): string[] {
  return keys.map(key => {
    press(key);
    return focusedName();
  });
}

describe('the keys of the tree', () => {
  it('walk up and down through layers and sums', () => {
    opened();
    expect(walk('ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp')).toEqual([
      'head',
      'stack',
      'wte',
      'stack'
    ]);
    expect(walk('End', 'ArrowDown', 'ArrowUp', 'ArrowUp', 'Home')).toEqual([
      'Total',
      'Total',
      'Outside the layers',
      'loss',
      'model'
    ]);
  });

  it('open, go in, shut and go out', () => {
    const table = opened();
    expect(walk('ArrowDown', 'ArrowRight', 'ArrowDown')).toEqual(['head', 'head', 'stack']);
    expect(walk('ArrowRight')).toEqual(['stack']);
    expect(rowNamed(table, 'stack').getAttribute('aria-expanded')).toBe('true');
    expect(walk('ArrowRight', 'ArrowRight', 'ArrowRight')).toEqual(['h0', 'h0', 'mlp']);
    expect(walk('ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft')).toEqual([
      'h0',
      'h0',
      'stack',
      'stack'
    ]);
    expect(rowNamed(table, 'stack').getAttribute('aria-expanded')).toBe('false');
  });

  it('open all siblings with *', () => {
    const table = opened();
    walk('ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowDown', '*');
    const open = all(table, '[aria-level="3"][aria-expanded="true"]');
    expect(open.length).toBe(8);
  });

  it('turn pages and keep one line', () => {
    opened(60);
    walk('s', 'ArrowRight');
    expect(walk('PageDown', 'PageDown', 'PageUp', 'PageUp')).toEqual([
      'h18',
      'h37',
      'h18',
      'stack'
    ]);
  });

  it('go to the ends with Ctrl', () => {
    opened();
    press('End', { ctrlKey: true });
    expect(focusedName()).toBe('Total');
    press('Home', { ctrlKey: true });
    expect(focusedName()).toBe('model');
  });

  it('find a layer by what is typed', () => {
    opened();
    expect(walk('s')).toEqual(['stack']);
    expect(walk('t')).toEqual(['stack']);
  });

  it('stay with JupyterLab when they are its own', () => {
    opened();
    const isKept = (key: string, modifiers: KeyboardEventInit = {}): boolean => {
      press(key, modifiers);
      return document.activeElement?.hasAttribute('data-lm-suppress-shortcuts') ?? false;
    };
    expect([isKept('d'), isKept('Enter'), isKept('c', { ctrlKey: true })]).toEqual([
      true,
      true,
      true
    ]);
    expect([isKept('s', { ctrlKey: true }), isKept('F5'), isKept('Tab')]).toEqual([
      false,
      false,
      false
    ]);
    expect(press('Tab')).toBe(true);
  });
});

describe('choosing', () => {
  it('is told once for each layer, by Enter, Space, click and from outside', () => {
    const table = opened();
    const told: number[] = [];
    table.selectionChanged.connect((_, row) => told.push(row));
    press('Enter');
    press('Enter');
    walk('ArrowDown', ' ');
    click(rowNamed(table, 'wte'));
    table.select(0);
    press('Escape');
    expect(told).toEqual([0, 27, 1, 0, -1]);
    expect(table.selected).toBe(-1);
  });

  it('extends with Shift and adds with Ctrl', () => {
    const table = opened();
    const chosen = (): string[] =>
      all(table, '[aria-selected="true"]').map(row => row.textContent ?? '');
    click(rowNamed(table, 'head'));
    press('ArrowDown', { shiftKey: true });
    press('ArrowDown', { shiftKey: true });
    expect(chosen()).toHaveLength(3);
    click(rowNamed(table, 'loss'), { ctrlKey: true });
    click(rowNamed(table, 'stack'), { ctrlKey: true });
    expect(chosen()).toHaveLength(3);
    press('a', { ctrlKey: true });
    expect(chosen()).toHaveLength(layerRows(table).length);
    table.select(table.selected);
    expect(chosen()).toHaveLength(layerRows(table).length);
  });

  it('from outside opens the way there and does not take the focus', () => {
    const table = opened();
    const focused = document.activeElement;
    table.select(20);
    expect(rowNamed(table, 'stack').getAttribute('aria-expanded')).toBe('true');
    expect(all(table, '[aria-selected="true"]')).toHaveLength(1);
    expect(document.activeElement).toBe(focused);
  });

  it('does not happen when only the arrow is clicked, and twice opens', () => {
    const table = opened();
    const stack = rowNamed(table, 'stack');
    click(stack.querySelector('.memtrack-LayerTable-toggle') as Element);
    expect([table.selected, stack.getAttribute('aria-expanded')]).toEqual([-1, 'true']);
    stack.dispatchEvent(new MouseEvent('dblclick', { bubbles: true }));
    expect(rowNamed(table, 'stack').getAttribute('aria-expanded')).toBe('false');
  });
});

describe('the focus', () => {
  it('is one stop of Tab, on a line or on a heading', () => {
    const table = opened();
    const stops = (): string[] => all(table, '[tabindex="0"]').map(node => node.textContent ?? '');
    expect(stops()).toHaveLength(1);
    walk('ArrowDown');
    expect(stops()[0]).toContain('head');
    walk('ArrowUp', 'ArrowUp');
    expect(document.activeElement?.textContent).toBe('At peak');
    expect(stops()).toEqual(['At peak']);
    press('ArrowLeft');
    expect(document.activeElement?.textContent).toBe('Saved');
    press('Home');
    expect(document.activeElement?.textContent).toBe('Layer');
    press('ArrowDown');
    expect([focusedName(), stops().length]).toEqual(['model', 1]);
  });

  it('stays with a line that scrolls out of sight, on the same element', () => {
    const table = opened(100);
    walk('s', 'ArrowRight', 'ArrowDown');
    const focused = document.activeElement;
    const box = one(table, '.memtrack-LayerTable-box');
    for (const top of [1200, 2200, 600, 0]) {
      box.scrollTop = top;
      box.dispatchEvent(new Event('scroll'));
      expect(document.activeElement).toBe(focused);
      expect(all(table, '[tabindex="0"]')).toEqual([focused]);
    }
    box.scrollTop = 2000;
    box.dispatchEvent(new Event('scroll'));
    expect(walk('ArrowDown')).toEqual(['h1']);
    expect(box.scrollTop).toBeLessThan(200);
  });

  it('stays on the same element when lines are sorted', () => {
    const table = opened();
    walk('ArrowDown', 'ArrowDown');
    const focused = document.activeElement;
    (all(table, '[role="columnheader"] button')[0] as HTMLElement).click();
    expect(names(table)).toEqual(['loss', 'model', 'head', 'stack', 'wte']);
    expect([document.activeElement, focusedName()]).toEqual([focused, 'stack']);
  });

  it('goes to the parent when its line is shut away', () => {
    const table = opened();
    walk('ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowDown', 'ArrowDown');
    toggle(table, 'stack');
    expect(focusedName()).toBe('stack');
  });
});

describe('copying', () => {
  function copied(): string {
    const data = { text: '', setData: (_type: string, text: string) => (data.text = text) };
    const event = Object.assign(new Event('copy', { bubbles: true, cancelable: true }), {
      clipboardData: data
    });
    document.activeElement?.dispatchEvent(event);
    expect(event.defaultPrevented).toBe(true);
    return data.text;
  }

  it('takes the chosen rows, or all that are shown with their sums', () => {
    const table = opened();
    const lines = copied().trim().split('\n');
    expect(lines.map(line => line.split('\t')[0])).toEqual([
      'Layer',
      'model',
      'model.head',
      'model.stack',
      'model.wte',
      'loss',
      'Outside the layers',
      'Total'
    ]);
    expect(lines[0]).toContain('At peak (bytes)');
    click(rowNamed(table, 'stack'));
    expect(copied().trim().split('\n')[1]?.split('\t').slice(0, 2)).toEqual([
      'model.stack',
      'ModuleList'
    ]);
    expect(copied().trim().split('\n')).toHaveLength(2);
  });
});

describe('TypeAhead', () => {
  it('joins what is typed quickly and begins anew after a pause', () => {
    const typeAhead = new TypeAhead(500);
    expect(typeAhead.add('h', 0)).toEqual({ prefix: 'h', isNext: true });
    expect(typeAhead.add('1', 400)).toEqual({ prefix: 'h1', isNext: false });
    expect(typeAhead.isActive(800)).toBe(true);
    expect(typeAhead.add('m', 1000)).toEqual({ prefix: 'm', isNext: true });
    expect(typeAhead.add('m', 1100)).toEqual({ prefix: 'm', isNext: true });
  });
});
