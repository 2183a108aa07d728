import { trans } from '../../__tests__/sample';
import { copyText } from '../../clipboard';
import { Copying } from '../copying';

jest.mock('../../clipboard', () => ({ copyText: jest.fn() }));

const copies = copyText as jest.MockedFunction<typeof copyText>;

describe('a button that copies', () => {
  let copying: Copying;
  let block: HTMLElement;

  beforeEach(() => {
    jest.useFakeTimers();
    copying = new Copying(trans);
    block = copying.block('%memtrack who', 'Who holds it');
  });

  afterEach(() => {
    copying.dispose();
    jest.useRealTimers();
  });

  const button = (): HTMLElement => block.querySelector('button') as HTMLElement;
  const state = (): string | null => button().getAttribute('data-state');

  async function click(isCopied: boolean): Promise<void> {
    copies.mockResolvedValue(isCopied);
    button().click();
    await Promise.resolve();
    await Promise.resolve();
  }

  it('stands beside the code it copies, and is told apart by name', () => {
    expect(block.querySelector('code')?.textContent).toBe('%memtrack who');
    expect(button().getAttribute('aria-label')).toBe('Copy: Who holds it');
  });

  it('says that it did, for a moment', async () => {
    await click(true);
    expect(copies).toHaveBeenCalledWith('%memtrack who');
    expect([state(), copying.status.textContent]).toEqual(['copied', 'Copied']);
    jest.runAllTimers();
    expect([state(), copying.status.textContent]).toEqual(['idle', '']);
  });

  it('says that it could not', async () => {
    await click(false);
    expect(state()).toBe('failed');
    expect(copying.status.textContent).toBe('The browser does not allow copying');
  });

  it('says nothing once the view is gone', async () => {
    copying.dispose();
    await click(true);
    expect([state(), copying.status.textContent]).toEqual(['idle', '']);
  });
});
