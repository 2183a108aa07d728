import { layerColumns } from '../../../model/layers';
import { trans } from '../../__tests__/sample';
import { bytesFirst, isNarrow } from '../widths';

describe('a narrow table', () => {
  const columns = layerColumns(trans);
  const ids = (some: typeof columns): string => some.map(({ id }) => id).join(' ');

  it('shows bytes before what explains them, each in their order', () => {
    const few = columns.filter(({ id }) =>
      ['calls', 'output_shape', 'saved', 'at_peak', 'change'].includes(id)
    );
    expect(ids(few)).toBe('calls output_shape saved at_peak change');
    expect(ids(bytesFirst(few))).toBe('saved at_peak change calls output_shape');
    expect(new Set(bytesFirst(columns))).toEqual(new Set(columns));
  });

  it('is one that is laid out, and not wide', () => {
    expect([0, 1, 519, 520, 1200].map(isNarrow)).toEqual([false, true, true, false, false]);
  });
});
