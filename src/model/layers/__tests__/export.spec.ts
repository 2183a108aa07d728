import { toCsv, toTsv } from '..';
import { COLUMNS, columnOf, dataOf, reportOf } from './build';

const WORDS = {
  layer: 'Layer',
  type: 'Type',
  outside: 'Outside',
  total: 'Total',
  withUnit: ({ label }: { label: string }) => label
};
const DATA = dataOf(
  reportOf(
    [
      {
        name: 'm',
        type: 'GPT',
        own: { saved: 1 },
        facts: { calls: 2, output_shape: '8×512, 8×1', change: -7 },
        children: [
          { name: 'a\tb\n"c"', type: '=HYPERLINK("x")', own: { saved: 2 ** 41 + 1 }, tied: true },
          { name: '@x', type: '-L' }
        ]
      }
    ],
    { saved: 10 }
  )
);
const SHOWN = [columnOf('calls'), columnOf('output_shape'), columnOf('saved'), columnOf('change')];

describe('toTsv', () => {
  it('gives what is shown, in raw integers, quoted where a line would break', () => {
    expect(toTsv(DATA, [0, 1], SHOWN, 'subtree', WORDS, true).split('\n')).toEqual([
      'Layer\tType\tCalls\tOutput\tSaved\tChange',
      'm\tGPT\t2\t8×512, 8×1\t2199023255554\t-7',
      '"m.a\tb',
      '""c"""\t"\'=HYPERLINK(""x"")"\t0\t\t2199023255553\t',
      'Outside\t\t\t\t10\t',
      'Total\t\t\t\t2199023255564\t',
      ''
    ]);
    expect(toTsv(DATA, [2], SHOWN, 'own', WORDS, false).split('\n')[1]).toBe("m.@x\t'-L\t0\t\t0\t");
  });
});

describe('toCsv', () => {
  const lines = toCsv(DATA, COLUMNS).split('\r\n');

  it('gives every column by id, own and subtree', () => {
    const ids = lines[0]?.split(',') ?? [];
    expect(ids.slice(0, 6)).toEqual(['path', 'type', 'aliases', 'tied', 'calls', 'output_shape']);
    expect(ids).toEqual(expect.arrayContaining(['saved', 'total_saved', 'forward_ns']));
    expect(lines[1]).toContain('"8×512, 8×1"');
  });

  it('has own figures that sum to the whole with the last line', () => {
    const single = dataOf(
      reportOf(
        [
          {
            name: 'm',
            type: 'M',
            own: { saved: 3 },
            children: [{ name: 'a', type: 'A', own: { saved: 4 } }]
          }
        ],
        {
          saved: 10
        }
      )
    );
    const [ids, ...rows] = toCsv(single, COLUMNS)
      .trim()
      .split('\r\n')
      .map(line => line.split(','));
    const column = ids?.indexOf('saved') ?? -1;
    expect(rows.map(row => Number(row[column]))).toEqual([3, 4, 10]);
    expect(17).toBe(single.whole(columnOf('saved')));
  });
});
