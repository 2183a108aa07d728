import { History } from '../history';
import { sparkPath } from '../path';

const MINUTE = 60_000;

describe('the history of a device', () => {
  it('gives back what was put in, oldest first', () => {
    const history = new History(5 * MINUTE);
    [10, 30, 20].forEach((used, index) => history.push(1000 * (index + 1), used, used / 10));
    expect(history.stretches('used')).toEqual([
      { times: [1000, 2000, 3000], values: [10, 30, 20] }
    ]);
    expect(history.stretches('utilisation')[0]?.values).toEqual([1, 3, 2]);
    expect(history.highest('used')).toBe(30);
  });

  it('forgets what is older than its span', () => {
    const history = new History(MINUTE);
    for (let second = 0; second <= 200; second++) {
      history.push(1000 * second, second, undefined);
    }
    const [stretch] = history.stretches('used');
    expect(stretch?.times[0]).toBe(140_000);
    expect(history.highest('utilisation')).toBeUndefined();
    history.spanMs = MINUTE / 2;
    expect(history.stretches('used')[0]?.times[0]).toBe(170_000);
  });

  it('keeps every peak in constant memory, however fast samples come', () => {
    const history = new History(MINUTE);
    for (let index = 0; index < 20_000; index++) {
      history.push(3 * index, index % 997 === 500 ? 1e9 + index : 1, 50);
    }
    expect(history.length).toBeLessThanOrEqual(600);
    const values = history.stretches('used').flatMap(stretch => stretch.values);
    for (let index = 500; index < 20_000; index += 997) {
      expect(values).toContain(1e9 + index);
    }
  });

  it('breaks where nobody looked, and ignores what is not newer', () => {
    const history = new History(5 * MINUTE);
    [0, 1000, 60_000, 60_000, 59_000].forEach(time => history.push(time + 1, 1, 1));
    expect(history.stretches('used').map(({ times }) => times)).toEqual([[1, 1001], [60_001]]);
  });

  it('is drawn with the newest at the right and the most on top', () => {
    const { line, area } = sparkPath([{ times: [50, 100], values: [5, 20] }], 100, 100, 10);
    expect(line).toBe('M50 50L100 0');
    expect(area).toBe('M50 100L50 50L100 0L100 100Z');
  });
});
