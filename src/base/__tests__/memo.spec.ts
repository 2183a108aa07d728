import { rememberLast } from '../memo';

describe('rememberLast', () => {
  it('computes again only when an input is another', () => {
    const compute = jest.fn((left: number, right: object) => ({ left, right }));
    const remembered = rememberLast(compute);
    const [one, two] = [{}, {}];
    const first = remembered(1, one);
    expect(remembered(1, one)).toBe(first);
    expect(remembered(1, two)).not.toBe(first);
    expect(remembered(2, two)).toEqual({ left: 2, right: two });
    expect(compute).toHaveBeenCalledTimes(3);
  });
});
