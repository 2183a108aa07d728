// The pools of the caching allocator at the peak: what is reserved for whom, and how it is cut up.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatBytes } from '../../base/bytes';
import type { IPool } from '../../wire';
import { element } from '../dom';

/** A column of figures in bytes. */
interface IColumn {
  readonly title: string;
  readonly of: (pool: IPool) => number;
  /** Whether the pools' figures sum to something. */
  readonly sums: boolean;
}

/** Returns the table of `pools`, with their sum and what the words mean. */
export function poolsTable(pools: readonly IPool[], trans: TranslationBundle): HTMLElement {
  const columns = columnsOf(pools, trans);
  const number = 'memtrack-mod-number';
  const segments = pools.reduce((sum, pool) => sum + pool.segments, 0);
  const heads = [...columns.map(({ title }) => title), trans.__('Segments')];
  const sums = columns.map(({ of, sums }) =>
    sums ? formatBytes(pools.reduce((sum, pool) => sum + of(pool), 0)) : ''
  );
  return element(
    'section',
    { class: 'memtrack-Pools' },
    element(
      'table',
      { class: 'memtrack-Table memtrack-Pools-table' },
      element('caption', {}, trans.__('The allocator at the peak, by pool')),
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          element('th', { scope: 'col' }, trans.__('Pool')),
          ...heads.map(title => element('th', { scope: 'col', class: number }, title))
        )
      ),
      element('tbody', {}, ...pools.map(pool => rowOf(pool, columns, pools, trans))),
      ...(pools.length > 1
        ? [
            element(
              'tfoot',
              {},
              element(
                'tr',
                { class: 'memtrack-mod-sum' },
                element('th', { scope: 'row' }, trans.__('all pools')),
                ...[...sums, segments.toLocaleString()].map(text =>
                  element('td', { class: number }, text)
                )
              )
            )
          ]
        : [])
    ),
    element(
      'p',
      { class: 'memtrack-Ledger-note' },
      trans.__(
        'Splinters are free, but share a segment with blocks in use: torch.cuda.empty_cache() cannot give them back.'
      )
    )
  );
}

/** Returns how a pool is called; its stream is told where there are several. */
export function poolName(
  { pool, small, stream }: IPool,
  all: readonly IPool[],
  trans: TranslationBundle
): string {
  const size = small ? trans.__('small blocks, up to 1 MiB') : trans.__('large blocks');
  const named = pool === '' ? size : trans.__('private pool %1: %2', pool, size);
  const streams = new Set(all.map(other => other.stream));
  if (streams.size < 2) {
    return named;
  }
  return stream === '0'
    ? trans.__('%1, default stream', named)
    : trans.__('%1, stream %2', named, streamName(stream));
}

function streamName(stream: string): string {
  return /^\d+$/.test(stream) ? `0x${BigInt(stream).toString(16)}` : stream;
}

function columnsOf(pools: readonly IPool[], trans: TranslationBundle): readonly IColumn[] {
  const columns: IColumn[] = [
    { title: trans.__('Reserved'), of: pool => pool.reserved, sums: true },
    { title: trans.__('Allocated'), of: pool => pool.allocated, sums: true },
    { title: trans.__('Awaiting a stream'), of: pool => pool.pending, sums: true },
    { title: trans.__('Free'), of: pool => pool.free, sums: true },
    { title: trans.__('Largest free block'), of: pool => pool.largestFree, sums: false },
    { title: trans.__('Splinters'), of: pool => pool.splinters, sums: true }
  ];
  // Rare, and without meaning for most: only where there is any.
  return columns.filter((column, index) => index !== 2 || pools.some(pool => column.of(pool) > 0));
}

function rowOf(
  pool: IPool,
  columns: readonly IColumn[],
  all: readonly IPool[],
  trans: TranslationBundle
): HTMLElement {
  const number = 'memtrack-mod-number';
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, poolName(pool, all, trans)),
    ...columns.map(({ of }) =>
      element('td', { class: number, title: `${of(pool)} B` }, formatBytes(of(pool)))
    ),
    element('td', { class: number }, pool.segments.toLocaleString())
  );
}
