import { Levels } from '../levels';
import { Scale } from '../scale';
import { between, including, isWhole, panned, wholeOf, zoomed } from '../window';
import { randomRun } from './run';

describe('a window', () => {
  const window = { start: 400, end: 600 };

  it('stays within the run when it is moved', () => {
    expect(panned(window, 0.5, 1000)).toEqual({ start: 500, end: 700 });
    expect(panned(window, 5, 1000)).toEqual({ start: 800, end: 1000 });
    expect(panned(window, -5, 1000)).toEqual({ start: 0, end: 200 });
  });

  it('keeps the moment under the pointer where it is when it is zoomed', () => {
    expect(zoomed(window, 0.5, 450, 1000)).toEqual({ start: 425, end: 525 });
    expect(zoomed(window, 100, 450, 1000)).toEqual({ start: 0, end: 1000 });
    expect(isWhole(zoomed(window, 100, 450, 1000), 1000)).toBe(true);
  });

  it('is never narrower than eight events, unless the run is', () => {
    expect(between(500, 500, 1000)).toEqual({ start: 496, end: 504 });
    expect(between(2, 1, 5)).toEqual({ start: 0, end: 5 });
    expect(zoomed(window, 1e-9, 500, 1000)).toEqual({ start: 496, end: 504 });
  });

  it('takes two cuts in any order', () => {
    expect(between(700, 300, 1000)).toEqual({ start: 300, end: 700 });
  });

  it('moves only to bring a moment into sight', () => {
    expect(including(window, 600, 1000)).toBe(window);
    expect(including(window, 900, 1000)).toEqual({ start: 800, end: 1000 });
  });
});

describe('the horizontal axis', () => {
  const { timeline } = randomRun(3, 100, 6);

  it('counts events as they are', () => {
    const scale = new Scale(timeline, 'events');
    expect([scale.positionOf(17), scale.cutAt(17)]).toEqual([17, 17]);
    expect(scale.positions).toBe(timeline.points.cut);
  });

  it('finds the time of any cut and the cut of any time', () => {
    const scale = new Scale(timeline, 'time');
    for (let cut = 0; cut <= timeline.cuts; cut++) {
      expect(scale.positionOf(cut)).toBeCloseTo(cut * 1000, 6);
      expect(scale.cutAt(scale.positionOf(cut))).toBeCloseTo(cut, 6);
    }
  });

  it('goes to the end of the run where the points stop before', () => {
    const points = { ...timeline.points, length: 1, cut: [0], timeNs: [0] };
    expect(new Scale({ ...timeline, points }, 'time').positionOf(50)).toBe(50_000);
  });
});

describe('levels of detail', () => {
  const whole = randomRun(1, 4000, 40).timeline;
  const finer = (start: number, end: number, bucketEvents: number) => ({
    ...whole,
    bucketEvents,
    points: { ...whole.points, length: 2, cut: [start, end] }
  });

  it('draw the finest that covers the window, and the whole where none does', () => {
    const levels = new Levels(whole);
    const [one, two] = [finer(1000, 2000, 4), finer(1200, 1500, 1)];
    levels.add(two);
    levels.add(one);
    expect(levels.best({ start: 1250, end: 1400 })).toBe(two);
    expect(levels.best({ start: 1100, end: 1400 })).toBe(one);
    expect(levels.best({ start: 900, end: 1400 })).toBe(whole);
    expect(levels.best(wholeOf(whole))).toBe(whole);
  });

  it('ask for half a window more on each side, within the run', () => {
    const levels = new Levels(whole);
    expect(levels.wanted({ start: 1000, end: 1200 })).toEqual({ start: 900, end: 1300 });
    expect(levels.wanted({ start: 0, end: 200 })).toEqual({ start: 0, end: 300 });
  });

  it('ask for nothing where every event is a point or points are as dense as pixels', () => {
    expect(
      new Levels({ ...whole, bucketEvents: 1 }).wanted({ start: 0, end: 200 })
    ).toBeUndefined();
    const dense = { ...randomRun(1, 2000).timeline, bucketEvents: 2 };
    expect(new Levels(dense).wanted({ start: 0, end: 2000 })).toBeUndefined();
  });

  it('keep a few timelines only', () => {
    const levels = new Levels(whole);
    const first = finer(1000, 2000, 4);
    levels.add(first);
    Array.from({ length: 8 }, (_, index) => levels.add(finer(index, index + 1, 2)));
    expect(levels.best({ start: 1100, end: 1900 })).toBe(whole);
  });
});
