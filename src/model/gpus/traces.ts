// What outlives a reload, read back from where it was kept; somebody else may have written there.
import type { IPanelTraces } from './model';
import { DEFAULT_SORT } from './rows';
import { PROCESS_COLUMNS } from './settings';

/** Returns the traces in `kept`; what is missing or wrong is as nobody chose. */
export function tracesFrom(kept: unknown): IPanelTraces {
  const { sort, folded } = record(kept);
  const { column, isDescending } = record(sort);
  const known = ([...PROCESS_COLUMNS, 'name'] as const).find(id => id === column);
  return {
    sort:
      known === undefined ? DEFAULT_SORT : { column: known, isDescending: isDescending !== false },
    folded: Array.isArray(folded) ? folded.filter(uuid => typeof uuid === 'string') : []
  };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
