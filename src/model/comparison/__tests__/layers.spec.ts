import { nullTranslator } from '@jupyterlab/translation';

import { textAt } from '../../../wire';
import { comparisonOf } from '../../../wire/__tests__/comparison';
import type { ILayerColumn } from '../../layers';
import { comparedColumns } from '../columns';
import { changedRows, mergedData } from '../layers';

const MIB = 2 ** 20;
const comparison = comparisonOf();
const data = mergedData(comparison, row => (row === 0 ? 'same' : ''));
const columns = comparedColumns(nullTranslator.load('memtrack'));

function columnOf(id: string): ILayerColumn {
  const found = columns.find(each => each.id === id);
  if (found === undefined) {
    throw new Error(id);
  }
  return found;
}

function rowOf(path: string): number {
  return [...data.tree.path.codes].findIndex((_, row) => textAt(data.tree.path, row) === path);
}

describe('the layers of two runs in one table', () => {
  it('says of every layer what there was, what there is and the change', () => {
    const head = rowOf('gpt.head');
    const figures = ['before', 'after', 'change'].map(when =>
      data.number(columnOf(`parameters.${when}`), head, 'subtree')
    );
    expect(figures[2]).toBe(200 * MIB);
    expect((figures[1] ?? 0) - (figures[0] ?? 0)).toBe(figures[2]);
  });

  it('has nothing, not a figure, where a layer is not there, and its whole as the change', () => {
    const [added, removed] = [rowOf('gpt.adapter <b>'), rowOf('gpt.pooler')];
    const [before, after, change] = ['before', 'after', 'change'].map(when =>
      columnOf(`total_parameters.${when}`.replace('total_', ''))
    ) as [ILayerColumn, ILayerColumn, ILayerColumn];
    expect(data.number(before, added, 'subtree')).toBeUndefined();
    expect(data.number(change, added, 'subtree')).toBe(data.number(after, added, 'subtree'));
    expect(data.number(after, removed, 'subtree')).toBeUndefined();
    expect(data.number(change, removed, 'subtree')).toBe(
      -(data.number(before, removed, 'subtree') ?? NaN)
    );
  });

  it.each(['before', 'after', 'change'] as const)(
    'adds up: own to total, all to the peak, %s',
    when => {
      const column = columnOf(`at_peak.${when}`);
      let own = data.outside(column);
      for (let row = 0; row < data.tree.length; row++) {
        own += data.number(column, row, 'own') ?? 0;
      }
      const { before, after } = comparison.peak;
      const whole = { before, after, change: after - before }[when];
      expect(own).toBe(whole);
      expect(data.whole(column)).toBe(whole);
    }
  );

  it('finds a layer by what it was called', () => {
    expect(textAt(data.tree.aliases, rowOf('gpt.layers.0.mlp'))).toBe('gpt.h.0.mlp');
    expect(textAt(data.tree.aliases, rowOf('gpt.embed'))).toBe('');
  });

  it('draws before and after to one scale', () => {
    const [before, after] = [columnOf('at_peak.before'), columnOf('at_peak.after')];
    expect(data.largest(before, 'subtree')).toBe(data.largest(after, 'subtree'));
  });
});

describe('changedRows', () => {
  it('has what is new, gone, renamed or of another size, and not what is the same', () => {
    const changed = changedRows(comparison.layers);
    const isChanged = (path: string): number | undefined => changed[rowOf(path)];
    expect(
      ['gpt.head', 'gpt.adapter <b>', 'gpt.pooler', 'gpt.layers.0.mlp'].map(isChanged)
    ).toEqual([1, 1, 1, 1]);
    expect(['loss'].map(isChanged)).toEqual([0]);
  });

  it('does not take another time for a change', () => {
    const { layers } = comparison;
    const zeros = new Float64Array(layers.length);
    const columns = new Map([['forward_ns', { before: zeros, after: zeros.map(() => 7) }]]);
    const status = new Uint8Array(layers.length);
    expect(changedRows({ ...layers, columns, status }).includes(1)).toBe(false);
  });
});
