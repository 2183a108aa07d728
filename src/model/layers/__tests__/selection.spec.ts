import { LayerSelection, NO_ROW } from '..';

const SHOWN = Int32Array.from([4, 2, 9, 7, 1]);

function chosen(selection: LayerSelection): number[] {
  return [...SHOWN].filter(row => selection.has(row));
}

describe('LayerSelection', () => {
  it('extends from where it began, over the rows as they are shown', () => {
    const selection = new LayerSelection();
    selection.choose(9);
    selection.extend(1, SHOWN);
    expect([chosen(selection), selection.current]).toEqual([[9, 7, 1], 1]);
    selection.extend(4, SHOWN);
    expect([chosen(selection), selection.current]).toEqual([[4, 2, 9], 4]);
  });

  it('chooses alone when the beginning is no longer shown', () => {
    const selection = new LayerSelection();
    selection.choose(33);
    selection.extend(7, SHOWN);
    expect([chosen(selection), selection.size]).toEqual([[7], 1]);
  });

  it('takes rows away one by one', () => {
    const selection = new LayerSelection();
    selection.toggle(4);
    selection.toggle(9);
    expect(selection.current).toBe(9);
    selection.toggle(9);
    expect([chosen(selection), selection.current]).toEqual([[4], 4]);
    selection.toggle(4);
    expect([selection.size, selection.current]).toEqual([0, NO_ROW]);
  });

  it('chooses all and keeps the current row', () => {
    const selection = new LayerSelection();
    selection.choose(9);
    selection.all(SHOWN);
    expect([selection.size, selection.current]).toEqual([5, 9]);
    selection.choose(NO_ROW);
    selection.all(SHOWN);
    expect(selection.current).toBe(4);
  });

  it('follows rows to where they went and loses those that are gone', () => {
    const selection = new LayerSelection();
    selection.choose(0);
    selection.toggle(2);
    selection.move(Int32Array.from([5, 1, NO_ROW]));
    expect([selection.has(5), selection.size, selection.current]).toEqual([true, 1, NO_ROW]);
  });
});
