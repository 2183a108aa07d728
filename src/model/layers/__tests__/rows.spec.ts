import { textAt } from '../../../wire';
import { reportFixture } from '../../../wire/__tests__/fixture';
import { randomLayers, seeded } from '../../../wire/__tests__/random';
import type { ISampleLayer } from '../../../wire/__tests__/sample';
import { decodeReport } from '../../../wire';
import type { LayerRows } from '..';
import { childrenOf, findByPrefix } from '..';
import { COLUMNS, columnOf, dataOf, reportOf, rowsOf } from './build';
import { everyLayer, slowRows, slowTree, subtreeValue } from './slow';

function block(index: number, bytes: number): ISampleLayer {
  const parts = ['attn', 'mlp'].map(name => ({
    name,
    type: name.toUpperCase(),
    own: { at_peak: bytes, saved: bytes }
  }));
  return { name: `h.${index}`, type: 'Block', children: parts };
}

const GPT: ISampleLayer = {
  name: 'gpt',
  type: 'GPT',
  children: [
    { name: 'wte', type: 'Embedding', own: { at_peak: 10 } },
    {
      name: 'h',
      type: 'ModuleList',
      children: Array.from({ length: 12 }, (_, i) => block(i, 100))
    },
    { name: 'head', type: 'Linear', own: { at_peak: 500 }, aliases: 'gpt.tied' }
  ]
};

function namesShown(rows: LayerRows): string[] {
  return [...rows.shown.rows].map(row => textAt(rows.tree.name, row));
}

function rowOf(rows: LayerRows, path: string): number {
  for (let row = 0; row < rows.tree.length; row++) {
    if (textAt(rows.tree.path, row) === path) {
      return row;
    }
  }
  throw new Error(`no ${path}`);
}

describe('rows shown', () => {
  it('are those of the slow twin, for random trees, sorts, filters and open parents', () => {
    const random = seeded(7);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    for (let round = 0; round < 300; round++) {
      const layers = randomLayers(random, 1 + Math.floor(random() * 60));
      const slow = slowTree(layers);
      const rows = rowsOf(layers);
      const opened = everyLayer(slow).map(() => random() < 0.6);
      rows.setOpen(opened.keys(), false);
      rows.setOpen(
        [...opened.keys()].filter(row => opened[row]),
        true
      );
      const column = pick([undefined, 'saved', 'at_peak', 'parameter_count']);
      const isDescending = random() < 0.5;
      const isFlat = random() < 0.3;
      const filter = pick(['', '', 'attn', 'h', 'linear', 'mlp2', 'h0.attn', 'zzz']);
      rows.sort =
        column === undefined
          ? undefined
          : { column, direction: isDescending ? 'descending' : 'ascending' };
      rows.isFlat = isFlat;
      rows.filter = filter;
      const isOpen = (row: number): boolean => opened[row] ?? false;
      const state = { column, isDescending, isFlat, filter, isOpen };
      expect([round, ...rows.shown.rows]).toEqual([round, ...slowRows(slow, state)]);
      for (const [position, row] of rows.shown.rows.entries()) {
        expect(rows.positionOf(row)).toBe(position);
      }
    }
  });

  it('count their places among the siblings that are shown', () => {
    const rows = rowsOf([GPT]);
    rows.filter = 'mlp';
    const { shown } = rows;
    const places = namesShown(rows).map(
      (name, i) => `${name} ${shown.place[i]}/${shown.siblings[i]}`
    );
    expect(places.slice(0, 6)).toEqual([
      'gpt 1/1',
      'h 1/1',
      'h.0 1/12',
      'mlp 1/1',
      'h.1 2/12',
      'mlp 1/1'
    ]);
  });

  it('take no more than a few milliseconds for 10 000 layers', () => {
    const rows = rowsOf(randomLayers(seeded(3), 10_000));
    rows.setOpen(Array.from({ length: rows.tree.length }).keys(), true);
    const start = performance.now();
    rows.sort = { column: 'saved', direction: 'ascending' };
    expect(rows.shown.rows.length).toBe(10_000);
    rows.filter = 'attn';
    expect(rows.shown.rows.length).toBeGreaterThan(1000);
    // Measured 20 to 40 ms cold; the bound only catches work that grows with the square.
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe('sorting', () => {
  it('keeps ties in the order of the model both ways, and what has no value last', () => {
    const leaf = (name: string, calls: number, size: number): ISampleLayer => ({
      name,
      type: 'L',
      facts: { calls, output_bytes: size }
    });
    const children = [leaf('a', 1, 5), leaf('b', 0, 9), leaf('c', 1, 7), leaf('d', 1, 5)];
    const rows = rowsOf([{ name: 'm', type: 'M', children }]);
    rows.sort = { column: 'output_bytes', direction: 'descending' };
    expect(namesShown(rows)).toEqual(['m', 'c', 'a', 'd', 'b']);
    rows.sort = { column: 'output_bytes', direction: 'ascending' };
    expect(namesShown(rows)).toEqual(['m', 'a', 'd', 'c', 'b']);
  });

  it('reads numbers in names as numbers', () => {
    const children = [10, 9, 1].map(index => ({ name: `h${index}`, type: 'L' }));
    const rows = rowsOf([{ name: 'm', type: 'M', children }]);
    rows.sort = { column: 'layer', direction: 'ascending' };
    expect(namesShown(rows)).toEqual(['m', 'h1', 'h9', 'h10']);
    rows.sort = undefined;
    expect(namesShown(rows)).toEqual(['m', 'h10', 'h9', 'h1']);
  });
});

describe('the first look', () => {
  it('opens the way to the bytes and leaves runs of alike layers shut', () => {
    const rows = rowsOf([GPT]);
    expect(namesShown(rows).slice(0, 4)).toEqual(['gpt', 'h', 'h.0', 'h.1']);
    expect(namesShown(rows)).toHaveLength(4 + 12);
  });

  it('does not push the rest out of sight with a long list', () => {
    const many = Array.from({ length: 24 }, (_, index) => block(index, 100));
    const parts = ['wte', 'wpe', 'ln_f'].map(name => ({ name, type: name }));
    const stack: ISampleLayer = { name: 'h', type: 'ModuleList', children: many };
    const body: ISampleLayer = { name: 'body', type: 'Body', children: [...parts, stack] };
    const rows = rowsOf([
      { name: 'gpt', type: 'GPT', children: [body, { name: 'head', type: 'L' }] }
    ]);
    expect(namesShown(rows)).toEqual(['gpt', 'body', 'h', 'wte', 'wpe', 'ln_f', 'head']);
    expect(
      namesShown(rowsOf([{ name: 'stack', type: 'Sequential', children: many }]))
    ).toHaveLength(25);
  });

  it('stops at a few rows', () => {
    const deep = (depth: number): ISampleLayer => ({
      name: `d${depth}`,
      type: `D${depth}`,
      own: { at_peak: 1 },
      children: depth > 30 ? [] : [deep(depth + 1)]
    });
    expect(namesShown(rowsOf([deep(0)]))).toHaveLength(8);
  });
});

describe('filtering', () => {
  it('finds by path, type and alias, and dims what is only on the way', () => {
    const rows = rowsOf([GPT]);
    rows.filter = 'TIED';
    expect(namesShown(rows)).toEqual(['gpt', 'head']);
    expect([rows.isMatch(0), rows.isMatch(rowOf(rows, 'gpt.head'))]).toEqual([false, true]);
    rows.filter = 'h.h.3';
    expect(namesShown(rows)).toEqual(['gpt', 'h', 'h.3']);
    expect(rows.matchCount).toBe(3);
    rows.filter = 'nothing';
    expect([namesShown(rows), rows.matchCount]).toEqual([[], 0]);
  });

  it('leaves what was open as it was when it ends', () => {
    const rows = rowsOf([GPT]);
    const before = namesShown(rows);
    rows.filter = 'mlp';
    rows.setOpen([rowOf(rows, 'gpt.h')], false);
    expect(namesShown(rows)).toEqual(['gpt', 'h']);
    rows.filter = '';
    expect(namesShown(rows)).toEqual(before);
  });

  it('makes no parent of a row whose children are all left out', () => {
    const rows = rowsOf([GPT]);
    rows.filter = 'block';
    const row = rowOf(rows, 'gpt.h.h.1');
    expect([rows.isParent(row), rows.isParent(rowOf(rows, 'gpt.h'))]).toEqual([false, true]);
  });
});

describe('revealing a row', () => {
  it('opens its parents', () => {
    const rows = rowsOf([GPT]);
    const row = rowOf(rows, 'gpt.h.h.7.mlp');
    expect(rows.positionOf(row)).toBe(-1);
    rows.reveal(row);
    expect(rows.positionOf(row)).toBeGreaterThan(0);
  });

  it('drops a filter that hides it, also in the flat list', () => {
    for (const isFlat of [false, true]) {
      const rows = rowsOf([GPT]);
      rows.isFlat = isFlat;
      rows.filter = 'wte';
      rows.reveal(rowOf(rows, 'gpt.head'));
      expect(rows.filter).toBe('');
      expect(rows.positionOf(rowOf(rows, 'gpt.head'))).toBeGreaterThanOrEqual(0);
    }
  });
});

describe('new data', () => {
  it('keeps what is open, by path, when layers come and go', () => {
    const rows = rowsOf([GPT]);
    rows.setOpen([rowOf(rows, 'gpt.h.h.5')], true);
    const extra = { name: 'pre', type: 'Linear' };
    const grown = { ...GPT, children: [extra, ...(GPT.children ?? [])] };
    const moves = rows.setData(dataOf(reportOf([grown])));
    expect(moves && [...moves].slice(0, 3)).toEqual([0, 2, 3]);
    expect(rows.isOpen(rowOf(rows, 'gpt.h.h.5'))).toBe(true);
    expect(rows.isOpen(rowOf(rows, 'gpt.h.h.4'))).toBe(false);
    expect(rows.setData(dataOf(reportOf([grown])))).toBeUndefined();
    expect([...(rows.setData(dataOf(reportOf([extra]))) ?? [])].filter(row => row >= 0)).toEqual(
      []
    );
  });

  it('is opened for the first look when there was nothing before', () => {
    const rows = rowsOf([]);
    expect(namesShown(rows)).toEqual([]);
    rows.setData(dataOf(reportOf([GPT])));
    expect(namesShown(rows)).toHaveLength(16);
  });

  it('keeps the filter and what was shut under it', () => {
    const rows = rowsOf([GPT]);
    rows.filter = 'mlp';
    rows.setOpen([rowOf(rows, 'gpt.h.h.2')], false);
    const grown = { ...GPT, children: [...(GPT.children ?? []), { name: 'mlp', type: 'MLP' }] };
    rows.setData(dataOf(reportOf([grown])));
    expect(rows.isOpen(rowOf(rows, 'gpt.h.h.2'))).toBe(false);
    expect(rows.isOpen(rowOf(rows, 'gpt.h.h.3'))).toBe(true);
    expect(rows.matchCount).toBe(13);
  });
});

describe('figures', () => {
  const fixture = reportFixture();
  const samples = [
    decodeReport(fixture.json, fixture.buffers),
    reportOf([GPT], { at_peak: 77 }),
    reportOf(randomLayers(seeded(11), 200), { saved: 5 })
  ];

  it.each(samples)('own and children make the subtree, roots and outside the whole', report => {
    for (const view of report.views.keys()) {
      const data = dataOf(report, view);
      for (const column of COLUMNS.filter(({ isAdditive }) => isAdditive)) {
        let own = data.outside(column);
        for (let row = 0; row < data.tree.length; row++) {
          const parts = [...childrenOf(data.tree, row)].map(child =>
            data.number(column, child, 'subtree')
          );
          const sum = parts.reduce<number>(
            (a, b) => a + (b ?? 0),
            data.number(column, row, 'own') ?? 0
          );
          expect(data.number(column, row, 'subtree')).toBe(sum);
          own += data.number(column, row, 'own') ?? 0;
        }
        expect(data.whole(column)).toBe(own);
      }
      expect(data.whole(columnOf('at_peak'))).toBe(report.views[view]?.peak.bytes);
    }
  });

  it('are those of the slow twin', () => {
    const layers = randomLayers(seeded(5), 80);
    const data = dataOf(reportOf(layers));
    for (const layer of everyLayer(slowTree(layers))) {
      expect(data.number(columnOf('saved'), layer.row, 'subtree')).toBe(
        subtreeValue(layer, 'saved')
      );
    }
  });

  it('are missing where a layer never ran or the value is unknown', () => {
    const layer = { name: 'm', type: 'M', facts: { calls: 0, peak: 9, change: -3 } };
    const idle = dataOf(reportOf([layer]));
    expect(['peak', 'change'].map(id => idle.number(columnOf(id), 0, 'own'))).toEqual([
      undefined,
      undefined
    ]);
    const ran = dataOf(reportOf([{ ...layer, facts: { calls: 1, peak: -1, change: -3 } }]));
    expect(['peak', 'change'].map(id => ran.number(columnOf(id), 0, 'own'))).toEqual([
      undefined,
      -3
    ]);
  });

  it('scale their bars to the largest root, or to the largest own figure', () => {
    const data = dataOf(reportOf([GPT, { name: 'loss', type: 'L', own: { at_peak: 4 } }]));
    expect(data.largest(columnOf('at_peak'), 'subtree')).toBe(10 + 2400 + 500);
    expect(data.largest(columnOf('at_peak'), 'own')).toBe(500);
  });
});

describe('finding by what is typed', () => {
  it('goes around from where it starts, by name or whole path', () => {
    const rows = rowsOf([GPT]);
    rows.sort = undefined;
    const shown = rows.shown.rows;
    const found = (prefix: string, start: number): string | undefined => {
      const row = findByPrefix(rows.tree, shown, start, prefix);
      return row === undefined ? undefined : textAt(rows.tree.path, row);
    };
    expect(found('H', 0)).toBe('gpt.h');
    expect(found('h.1', 4)).toBe('gpt.h.h.1');
    expect(found('w', 10)).toBe('gpt.wte');
    expect(found('gpt.head', 0)).toBe('gpt.head');
    expect(found('x', 0)).toBeUndefined();
  });
});
