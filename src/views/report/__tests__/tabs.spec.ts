import { Widget } from '@lumino/widgets';

import { press } from '../../__tests__/sample';
import { Tabs } from '../tabs';

type Id = 'one' | 'two' | 'three';

describe('tabs', () => {
  const made: Id[] = [];
  let tabs: Tabs<Id>;
  let buttons: HTMLElement[];

  beforeEach(() => {
    made.length = 0;
    const tab = (id: Id) => ({
      id,
      label: id,
      create: () => {
        made.push(id);
        return new Widget();
      }
    });
    tabs = new Tabs(
      [tab('one'), tab('two'), tab('three')],
      'Parts',
      document.createElement('span')
    );
    Widget.attach(tabs, document.body);
    tabs.current = 'one';
    buttons = [...tabs.node.querySelectorAll<HTMLElement>('[role=tab]')];
  });

  afterEach(() => tabs.dispose());

  const selected = (): (string | null)[] => buttons.map(node => node.getAttribute('aria-selected'));

  it('have the roles of the pattern and one tab stop', () => {
    expect(tabs.node.querySelector('[role=tablist]')?.getAttribute('aria-label')).toBe('Parts');
    expect(buttons.map(node => node.tabIndex)).toEqual([0, -1, -1]);
    expect(selected()).toEqual(['true', 'false', 'false']);
  });

  it('name their panel, and the panel its tab', () => {
    const panel = tabs.node.querySelector('[role=tabpanel]');
    expect(panel?.id).toBeTruthy();
    expect(buttons[0]?.getAttribute('aria-controls')).toBe(panel?.id);
    expect(panel?.getAttribute('aria-labelledby')).toBe(buttons[0]?.id);
  });

  it('make a panel when it is first chosen, once', () => {
    expect(made).toEqual(['one']);
    buttons[1]?.click();
    buttons[0]?.click();
    buttons[1]?.click();
    expect(made).toEqual(['one', 'two']);
    expect(tabs.node.querySelectorAll('[role=tabpanel]:not(.lm-mod-hidden)')).toHaveLength(1);
  });

  it.each([
    ['ArrowRight', 1],
    ['ArrowLeft', 2],
    ['End', 2]
  ])('go with %s to the tab that comes', (key, index) => {
    expect(press(buttons[0] ?? tabs.node, key)).toBe(true);
    expect(document.activeElement).toBe(buttons[index]);
    expect(selected()[index]).toBe('true');
    press(buttons[index] ?? tabs.node, 'Home');
    expect(document.activeElement).toBe(buttons[0]);
  });

  it('are not there without anything to show; the first of the others takes their place', () => {
    const names = (): (string | null)[] =>
      [...tabs.node.querySelectorAll('[role=tab]')].map(node => node.textContent);
    tabs.absent = ['one'];
    expect(names()).toEqual(['two', 'three']);
    expect(tabs.current).toBe('two');
    press(buttons[1] ?? tabs.node, 'ArrowLeft');
    expect(document.activeElement).toBe(buttons[2]);
    tabs.current = 'one';
    expect(tabs.current).toBe('two');
    // What was wanted is there again, and shown.
    tabs.absent = [];
    expect(names()).toEqual(['one', 'two', 'three']);
    expect(tabs.current).toBe('one');
  });

  it('tell what the reader chose, not what was set', () => {
    const said: Id[] = [];
    tabs.currentChanged.connect((_, id) => said.push(id));
    tabs.current = 'three';
    buttons[1]?.click();
    expect(said).toEqual(['two']);
  });
});
