// The runs of a history that are in sight: pages put together, rows brought up to date.
import type { IHistory, IRun } from '../../wire/runs';

/** Runs in the order of the history, newest first. */
export interface IRunList {
  readonly runs: readonly IRun[];
  /** Runs that match, of which `runs` are the first. */
  readonly total: number;
  readonly search: string;
  readonly deleted: boolean;
}

/** Returns the list that begins with `page`, or goes on with it. */
export function withPage(list: IRunList | undefined, page: IHistory): IRunList {
  const { total, search, deleted } = page;
  if (list === undefined || page.offset === 0) {
    return { runs: page.runs, total, search, deleted };
  }
  // A run that came meanwhile has moved the others down by one: none is shown twice.
  const known = new Set(list.runs.map(({ id }) => id));
  return { ...list, total, runs: [...list.runs, ...page.runs.filter(({ id }) => !known.has(id))] };
}

/** Returns the list with `changed` rows; a run goes with its deletion, and comes back in its place. */
export function withRuns(list: IRunList, changed: readonly IRun[]): IRunList {
  let { runs, total } = list;
  for (const run of changed) {
    const index = runs.findIndex(({ id }) => id === run.id);
    const belongs = run.deleted === list.deleted;
    if (index >= 0) {
      runs = [...runs.slice(0, index), ...(belongs ? [run] : []), ...runs.slice(index + 1)];
      total -= belongs ? 0 : 1;
    } else if (belongs) {
      const place = runs.findIndex(({ created }) => created < run.created);
      const at = place < 0 ? runs.length : place;
      runs = [...runs.slice(0, at), run, ...runs.slice(at)];
      total += 1;
    }
  }
  return { ...list, runs, total };
}

/** Returns the runs of a saved list in which all words of `search` occur, letter case ignored. */
export function foundIn(runs: readonly IRun[], search: string): readonly IRun[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return runs.filter(run => {
    const { id, name, label, note, notebook, commit, device, tags } = run;
    const text = [`#${id}`, name, label, note, notebook, commit, device, ...tags].join('\n');
    return words.every(word => text.toLowerCase().includes(word));
  });
}
