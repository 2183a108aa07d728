import { Widget } from '@lumino/widgets';

import type { ILedgerPart, IPool } from '../../../wire';
import { reportOf, trans, viewOf } from '../../__tests__/sample';
import { LedgerView } from '..';
import { poolName } from '../pools';

const part = (id: string, bytes: number, details: readonly ILedgerPart[] = []): ILedgerPart => ({
  id,
  bytes,
  certainty: 'measured',
  details
});
const pool = (changes: Partial<IPool> = {}): IPool => ({
  pool: '',
  small: false,
  stream: '0',
  reserved: 4096,
  allocated: 3072,
  pending: 0,
  free: 1024,
  largestFree: 512,
  splinters: 256,
  segments: 2,
  ...changes
});

describe('what the parts of a ledger are made of', () => {
  let ledger: LedgerView;

  const parts = [
    part('temporary', 300, [part('temporary.forward', 100), part('temporary.backward', 200)]),
    part('cache', 80, [part('cache.splinters', 50), part('cache.new_in_a_later_version', 30)])
  ];
  const view = viewOf(1, { ledger: { total: 380, allocated: 300, rounding: 12, parts } });

  beforeEach(() => {
    ledger = new LedgerView(trans);
    Widget.attach(ledger, document.body);
    ledger.setView(view, reportOf());
  });

  afterEach(() => ledger.dispose());

  const shown = (): string[][] =>
    [...ledger.node.querySelectorAll<HTMLElement>('.memtrack-Ledger-table tbody tr')]
      .filter(row => !row.hidden)
      .map(row => [...row.children].slice(0, 2).map(cell => cell.textContent ?? ''));
  const toggles = (): HTMLElement[] => [
    ...ledger.node.querySelectorAll<HTMLElement>('.memtrack-Fold')
  ];

  it('is folded at first, rounding told under the sum', () => {
    expect(shown()).toEqual([
      ['temporaries', '300 B'],
      ['allocated', '300 B'],
      ['of it rounding', '12 B'],
      ['allocator cache', '80 B']
    ]);
    expect(toggles().map(toggle => toggle.textContent)).toEqual(['temporaries', 'allocator cache']);
  });

  it('unfolds under its part, named by phase or pool', () => {
    toggles().forEach(toggle => toggle.click());
    expect(toggles().map(toggle => toggle.getAttribute('aria-expanded'))).toEqual(['true', 'true']);
    expect(shown()).toEqual([
      ['temporaries', '300 B'],
      ['forward', '100 B'],
      ['backward', '200 B'],
      ['allocated', '300 B'],
      ['of it rounding', '12 B'],
      ['allocator cache', '80 B'],
      ['splinters', '50 B'],
      ['new_in_a_later_version', '30 B']
    ]);
  });

  it('stays unfolded when the report is brought up to date, and folds again', () => {
    toggles()[0]?.click();
    ledger.setView({ ...view }, reportOf());
    expect(shown()).toHaveLength(6);
    toggles()[0]?.click();
    expect(shown()).toHaveLength(4);
  });

  it('says nothing of rounding where there is none', () => {
    ledger.setView(viewOf(), reportOf());
    expect(shown().map(([name]) => name)).not.toContain('of it rounding');
    expect(toggles()).toEqual([]);
  });
});

describe('the pools', () => {
  const tableOf = (pools: readonly IPool[]): string[][] => {
    const ledger = new LedgerView(trans);
    ledger.setView(viewOf(1, { pools }), reportOf());
    const rows = [...ledger.node.querySelectorAll('.memtrack-Pools-table tr')];
    const texts = rows.map(row => [...row.children].map(cell => cell.textContent ?? ''));
    ledger.dispose();
    return texts;
  };

  it('are a table that sums up; the largest block is of one pool', () => {
    expect(tableOf([pool(), pool({ small: true, largestFree: 64, segments: 1 })])).toEqual([
      ['Pool', 'Reserved', 'Allocated', 'Free', 'Largest free block', 'Splinters', 'Segments'],
      ['large blocks', '4.00 KiB', '3.00 KiB', '1.00 KiB', '512 B', '256 B', '2'],
      ['small blocks, up to 1 MiB', '4.00 KiB', '3.00 KiB', '1.00 KiB', '64 B', '256 B', '1'],
      ['all pools', '8.00 KiB', '6.00 KiB', '2.00 KiB', '', '512 B', '3']
    ]);
  });

  it('tell what waits for a stream where anything does, and have no sum of one', () => {
    const [head, , ...more] = tableOf([pool({ pending: 1 })]);
    expect(head).toContain('Awaiting a stream');
    expect(more).toEqual([]);
  });

  it('are not there where nothing is known of them', () => {
    expect(tableOf([])).toEqual([]);
  });

  it('are called by their size, private ones by their id, streams where there are several', () => {
    const graph = pool({ pool: '0.1', small: true });
    const other = pool({ stream: '94371840' });
    expect(poolName(graph, [graph], trans)).toBe('private pool 0.1: small blocks, up to 1 MiB');
    expect(poolName(pool(), [pool(), other], trans)).toBe('large blocks, default stream');
    expect(poolName(other, [pool(), other], trans)).toBe('large blocks, stream 0x5a00000');
  });
});
