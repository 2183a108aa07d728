import { at } from '../../base/assert';
import { seeded } from '../../wire/__tests__/random';
import { placeInside } from '../arealabels';
import { phaseBands, stepBands } from '../bands';
import { firstAtLeast, lastAtMost } from '../search';
import { byteTicks, roundTicks } from '../ticks';
import { randomRun } from './run';

describe('search', () => {
  it('finds what a walk finds, also among equals', () => {
    const random = seeded(5);
    const column = Array.from({ length: 50 }, () => Math.floor(random() * 20)).sort(
      (a, b) => a - b
    );
    for (let value = -1; value <= 21; value++) {
      const first = column.findIndex(entry => entry >= value);
      expect(firstAtLeast(column, value)).toBe(first < 0 ? column.length : first);
      expect(lastAtMost(column, value)).toBe(column.filter(entry => entry <= value).length - 1);
    }
  });
});

describe('ticks', () => {
  it('are multiples of a power of two for bytes', () => {
    const GiB = 2 ** 30;
    expect(byteTicks(8.1 * GiB, 5)).toEqual([0, 2, 4, 6, 8].map(n => n * GiB));
    expect(byteTicks(1000, 2)).toEqual([0, 512]);
  });

  it('are multiples of 1, 2 or 5 for events and times, none between two events', () => {
    expect(roundTicks(0, 1000, 5)).toEqual([0, 200, 400, 600, 800, 1000]);
    expect(roundTicks(13, 15, 10, 1)).toEqual([13, 14, 15]);
    expect(roundTicks(7, 7, 4)).toEqual([7]);
  });
});

describe('bands', () => {
  const { phases } = randomRun(1, 100);

  it('cover the window without a gap', () => {
    const bands = phaseBands(phases, { start: 5, end: 70 });
    expect(at(bands, 0).start).toBe(5);
    expect(at(bands, bands.length - 1).end).toBe(70);
    bands.slice(1).forEach((band, index) => expect(band.start).toBe(at(bands, index).end));
    expect(bands.map(band => band.kind)).toEqual([
      'other',
      'forward',
      'backward',
      'optimizer',
      'forward',
      'backward'
    ]);
  });

  it('join to one band a step', () => {
    const bands = phaseBands(phases, { start: 0, end: 100 });
    expect(stepBands(bands).map(({ step, start, end }) => [step, start, end])).toEqual([
      [0, 10, 50],
      [1, 50, 90]
    ]);
  });

  it('leave out phases without events', () => {
    const empty = { ...phases, start: [0, 0], end: [0, 10], kind: [0, 1], step: [0, 0], length: 2 };
    expect(phaseBands(empty, { start: 0, end: 10 }).map(band => band.kind)).toEqual(['backward']);
  });
});

describe('the name of an area', () => {
  const lefts = [0, 100, 200, 300];
  const area = { lefts, bottom: [0, 0, 10, 10], top: [10, 30, 60, 12], end: 400 };

  it('goes where there is most room', () => {
    expect(placeInside(area, 90, 15)).toEqual({ x: 245, y: 35 });
  });

  it('is left out where it fits nowhere', () => {
    expect(placeInside(area, 90, 15, 245)?.x).not.toBe(245);
    expect(placeInside(area, 90, 55)).toBeUndefined();
    expect(placeInside(area, 500, 5)).toBeUndefined();
  });

  it('fits the lowest top and the highest bottom of all steps it spans', () => {
    expect(placeInside(area, 190, 15)).toEqual({ x: 195, y: 20 });
  });
});
