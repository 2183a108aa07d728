import { historyOf } from '../../../wire/__tests__/runs';
import type { IHistory, IRun } from '../../../wire/runs';
import { foundIn, withPage, withRuns } from '../runs';

const history = historyOf();
const [newest, middle, oldest] = history.runs as [IRun, IRun, IRun];
const ids = (runs: readonly IRun[]): number[] => runs.map(({ id }) => id);

function pageOf(changes: Partial<IHistory>): IHistory {
  return { ...history, total: 3, ...changes };
}

describe('pages of a history', () => {
  it('follow one another, none twice where a run came in between', () => {
    const first = withPage(undefined, pageOf({ runs: [newest, middle] }));
    const both = withPage(first, pageOf({ offset: 2, runs: [middle, oldest], total: 4 }));
    expect(ids(both.runs)).toEqual([14, 12, 3]);
    expect(both.total).toBe(4);
  });

  it('begin anew with another search', () => {
    const first = withPage(undefined, pageOf({}));
    const found = withPage(first, pageOf({ search: 'x', runs: [oldest], total: 1 }));
    expect([ids(found.runs), found.search, found.total]).toEqual([[3], 'x', 1]);
  });
});

describe('a changed run', () => {
  const list = withPage(undefined, pageOf({}));

  it('takes its own place', () => {
    const named = withRuns(list, [{ ...middle, name: 'lean' }]);
    expect(named.runs.map(({ name }) => name)).toEqual([newest.name, 'lean', oldest.name]);
    expect(named.total).toBe(3);
  });

  it('goes when it is deleted, and is back where it was when it is restored', () => {
    const less = withRuns(list, [{ ...middle, deleted: true }]);
    expect([ids(less.runs), less.total]).toEqual([[14, 3], 2]);
    const again = withRuns(less, [middle]);
    expect([ids(again.runs), again.total]).toEqual([[14, 12, 3], 3]);
    const last = withRuns(withRuns(list, [{ ...oldest, deleted: true }]), [oldest]);
    expect(ids(last.runs)).toEqual([14, 12, 3]);
  });

  it('is no row of the deleted ones before it is', () => {
    const deleted = withPage(undefined, pageOf({ deleted: true, runs: [], total: 0 }));
    expect(ids(withRuns(deleted, [middle]).runs)).toEqual([]);
    expect(ids(withRuns(deleted, [{ ...middle, deleted: true }]).runs)).toEqual([12]);
  });
});

describe('the search of a saved list', () => {
  it.each([
    ['', [14, 12, 3]],
    ['WIDE', [14]],
    ['checkpointed bf16', [14]],
    ['#12', [12]],
    ['train.ipynb', [14, 12]],
    ['wide nothing', []]
  ])('finds by all words of %j', (search, found) => {
    expect(ids(foundIn(history.runs, search))).toEqual(found);
  });
});
