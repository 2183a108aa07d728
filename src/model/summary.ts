// The allocator's statistics as the table that `torch.cuda.memory_summary` prints, of one moment or
// of two to compare; python_pkg/memtrack/reports/summaryrows.py makes the same.
import { at } from '../base/assert';
import type { ISummary } from '../wire';

/** The metrics in torch's order; those with `pools` have a row for large and for small blocks. */
export const METRICS = [
  { id: 'allocated_bytes', isBytes: true, pools: true },
  { id: 'active_bytes', isBytes: true, pools: true },
  { id: 'requested_bytes', isBytes: true, pools: true },
  { id: 'reserved_bytes', isBytes: true, pools: true },
  { id: 'inactive_split_bytes', isBytes: true, pools: true },
  { id: 'allocation', isBytes: false, pools: true },
  { id: 'active', isBytes: false, pools: true },
  { id: 'segment', isBytes: false, pools: true },
  { id: 'inactive_split', isBytes: false, pools: true },
  { id: 'oversize_allocations', isBytes: false, pools: false },
  { id: 'oversize_segments', isBytes: false, pools: false }
] as const;

/** What is counted. */
export type MetricId = (typeof METRICS)[number]['id'];

/** A pool of a metric; `all` is the sum. */
export type PoolId = 'all' | 'large_pool' | 'small_pool';

/** One moment, or two: rows of the readings. */
export interface IMoments {
  readonly first: number;
  readonly second: number | undefined;
}

/**
 * A line of the table. Its figures are current, peak, allocated and freed of the one moment; of two
 * they are current of the first, of the second, the difference, and that of the peaks. Undefined is
 * what the allocator does not keep.
 */
export interface ISummaryRow {
  readonly pool: PoolId;
  readonly figures: readonly (number | undefined)[];
}

/** A metric with its rows, that of all pools first. */
export interface ISummaryGroup {
  readonly metric: MetricId;
  readonly isBytes: boolean;
  readonly rows: readonly ISummaryRow[];
}

/** Only PyTorch's own allocator counts allocations: it keeps every figure, and leaves out zeros. */
const OWN_ALLOCATOR = 'allocation.all.allocated';

/** Returns the statistic `name` at a reading; undefined where the allocator keeps no such thing. */
export function statistic(summary: ISummary, reading: number, name: string): number | undefined {
  const { names, values } = summary;
  const column = names.indexOf(name);
  if (column < 0) {
    return names.includes(OWN_ALLOCATOR) || names.length === 0 ? 0 : undefined;
  }
  return at(values, reading * names.length + column);
}

/** Returns the table of `moments`, a group a metric. */
export function summaryTable(summary: ISummary, moments: IMoments): readonly ISummaryGroup[] {
  return METRICS.map(({ id, isBytes, pools }) => {
    const ids: readonly PoolId[] = pools ? ['all', 'large_pool', 'small_pool'] : ['all'];
    const rows = ids.map(pool => ({
      pool,
      figures: figuresOf(summary, moments, pools ? `${id}.${pool}` : id)
    }));
    return { metric: id, isBytes, rows };
  });
}

function figuresOf(
  summary: ISummary,
  { first, second }: IMoments,
  prefix: string
): readonly (number | undefined)[] {
  const figure = (reading: number, name: string): number | undefined =>
    statistic(summary, reading, `${prefix}.${name}`);
  if (second === undefined) {
    return ['current', 'peak', 'allocated', 'freed'].map(name => figure(first, name));
  }
  const [before, after] = [figure(first, 'current'), figure(second, 'current')];
  const peaks = [figure(first, 'peak'), figure(second, 'peak')] as const;
  return [before, after, change(before, after), change(...peaks)];
}

function change(before: number | undefined, after: number | undefined): number | undefined {
  return before === undefined || after === undefined ? undefined : after - before;
}
