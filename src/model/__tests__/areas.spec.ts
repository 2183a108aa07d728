import { LINE_AREAS, areaOfBlock, areasOf, groupOf } from '../areas';
import { randomRun } from './run';

const { timeline } = randomRun(1);
const ones = Array.from(timeline.points.cut, () => 1);
const zeros = Array.from(timeline.points.cut, () => 0);

it('leaves out categories that never hold anything, and keeps the order of drawing', () => {
  const categories = new Map([['future', ones], ['buffer', zeros], ...timeline.categories]);
  expect(areasOf({ ...timeline, categories }).map(({ id }) => id)).toEqual([
    'parameter',
    'activation',
    'temporary',
    'future'
  ]);
});

describe('by source line', () => {
  const names = ['train.py:10 step', 'model.py:3 forward'];
  const groups = { names, bytes: [ones, zeros, ones] };
  const byLine = { ...timeline, groups };

  it('an area is a line, and the last all others', () => {
    expect(areasOf(byLine)).toEqual([
      { id: 'group-1', line: 'train.py:10 step', bytes: ones },
      { id: 'group-rest', line: '', bytes: ones }
    ]);
  });

  it('a block has the colour of its line', () => {
    expect(timeline.sites).toEqual(['train.py:10 step']);
    expect(areaOfBlock(byLine, 0)).toBe('group-1');
    expect(areaOfBlock(timeline, 0)).not.toMatch(/^group/);
    expect(groupOf(groups, 'model.py:3 forward')).toBe('group-2');
    expect(groupOf(groups, 'elsewhere.py:1')).toBe('group-rest');
  });

  it('no two lines share a colour, however many there are', () => {
    expect(new Set(LINE_AREAS).size).toBe(LINE_AREAS.length);
    const many = Array.from({ length: 7 }, (_, index) => `a.py:${index}`);
    const all = { names: many, bytes: [...many, ''].map(() => ones) };
    expect(areasOf({ ...timeline, groups: all }).map(({ id }) => id)).toEqual(LINE_AREAS);
  });
});
