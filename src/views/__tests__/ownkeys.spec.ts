import { CommandRegistry } from '@lumino/commands';

import { isPlainKey, keepOwnKeys } from '../ownkeys';

describe('keys of a view in a notebook', () => {
  const ran: string[] = [];
  const commands = new CommandRegistry();
  const lab = (event: KeyboardEvent): void => commands.processKeydownEvent(event);
  let view: HTMLElement;
  let button: HTMLElement;

  beforeAll(() => {
    for (const [id, keys] of [
      ['insert', ['A']],
      ['save', ['Accel S']],
      ['run', ['Shift Enter']],
      ['all', ['Accel A']]
    ] as const) {
      commands.addCommand(id, { execute: () => ran.push(id) });
      commands.addKeyBinding({ command: id, keys: [...keys], selector: '.notebook :focus' });
    }
    // As JupyterLab does: on the document, before the target.
    document.addEventListener('keydown', lab, true);
  });

  beforeEach(() => {
    ran.length = 0;
    document.body.innerHTML = '<div class="notebook"><div><button></button></div></div>';
    view = document.querySelector('.notebook > div') ?? document.body;
    button = document.querySelector('button') ?? document.body;
    button.focus();
  });

  afterAll(() => document.removeEventListener('keydown', lab, true));

  function press(key: string, keyCode: number, modifiers: KeyboardEventInit = {}): void {
    const init = { key, keyCode, bubbles: true, cancelable: true, ...modifiers };
    button.dispatchEvent(new KeyboardEvent('keydown', init));
  }

  it('would be the notebook’s without us', () => {
    press('a', 65);
    expect(ran).toEqual(['insert']);
  });

  it('are its own, while those with a modifier are still JupyterLab’s', () => {
    const keys = keepOwnKeys(view, isPlainKey);
    press('a', 65);
    expect(ran).toEqual([]);
    press('s', 83, { ctrlKey: true });
    press('Enter', 13, { shiftKey: true });
    expect(ran).toEqual(['save', 'run']);
    keys.dispose();
  });

  it('may be more in a part of it', () => {
    const outer = keepOwnKeys(view, isPlainKey);
    const inner = keepOwnKeys(button, event => event.key === 'a');
    press('a', 65, { ctrlKey: true });
    expect(ran).toEqual([]);
    inner.dispose();
    press('a', 65, { ctrlKey: true });
    expect(ran).toEqual(['all']);
    outer.dispose();
  });
});
