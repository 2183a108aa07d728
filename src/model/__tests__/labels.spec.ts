import { at } from '../../base/assert';
import { seeded } from '../../wire/__tests__/random';
import type { ILabel } from '../labels';
import { barLength, fitLabels, flagRows, spreadLabels } from '../labels';

function randomLabels(seed: number, length: number): ILabel[] {
  const random = seeded(seed);
  const count = 1 + Math.floor(random() * 12);
  return Array.from({ length: count }, () => ({
    centre: random() * length,
    width: 20 + random() * 120
  })).sort((a, b) => a.centre - b.centre);
}

const SEEDS = Array.from({ length: 50 }, (_, seed) => seed);

describe('labels that fit', () => {
  it.each(SEEDS)('never overlap and stay on the bar, the first choice first', seed => {
    const labels = randomLabels(seed, 600);
    const order = labels.map((_, index) => index).reverse();
    const lefts = fitLabels(labels, order, 600);
    const boxes = lefts
      .flatMap((left, index) =>
        left === undefined ? [] : [[left, left + at(labels, index).width]]
      )
      .sort((a, b) => at(a, 0) - at(b, 0));
    boxes
      .slice(1)
      .forEach((box, index) => expect(at(box, 0)).toBeGreaterThan(at(at(boxes, index), 1)));
    boxes.forEach(box => {
      expect(at(box, 0)).toBeGreaterThanOrEqual(0);
      expect(at(box, 1)).toBeLessThanOrEqual(600);
    });
    expect(lefts[at(order, 0)]).toBeDefined();
  });
});

describe('labels that hang from their part', () => {
  it.each(SEEDS)('never overlap, and no line crosses one', seed => {
    const labels = randomLabels(seed, 600);
    const rows = flagRows(labels);
    labels.forEach((one, i) => {
      labels.forEach((other, j) => {
        if (i === j) {
          return;
        }
        const meets =
          one.centre < other.centre + other.width && other.centre < one.centre + one.width;
        expect(rows[i] === rows[j] && meets).toBe(false);
        const isUnderLine = other.centre < one.centre && one.centre < other.centre + other.width;
        expect(at(rows, i) > at(rows, j) && isUnderLine).toBe(false);
      });
    });
  });

  it.each(SEEDS)('end within the width when the bar is as long as it may be', seed => {
    const labels = randomLabels(seed, 1);
    const shares = labels.map(label => label.centre);
    const widths = labels.map(label => label.width);
    const length = barLength(shares, widths, 400);
    const ends = shares.map((share, index) => share * length + at(widths, index));
    expect(Math.max(...ends)).toBeLessThanOrEqual(400.001);
    expect(length === 400 || Math.max(...ends) > 399.999).toBe(true);
  });
});

describe('labels side by side', () => {
  it.each(SEEDS)('keep their order without overlap, or there is no room for them', seed => {
    const labels = randomLabels(seed, 700);
    const lefts = spreadLabels(labels, 700);
    const together = labels.reduce((sum, label) => sum + label.width, 0);
    expect(lefts === undefined).toBe(together > 700);
    let end = -0.001;
    lefts?.forEach((left, index) => {
      expect(left).toBeGreaterThanOrEqual(end);
      end = left + at(labels, index).width - 0.001;
    });
    expect(end).toBeLessThanOrEqual(700);
  });

  it('stay at their parts where there is room', () => {
    expect(
      spreadLabels(
        [
          { centre: 100, width: 50 },
          { centre: 300, width: 50 }
        ],
        400
      )
    ).toEqual([75, 275]);
  });
});
