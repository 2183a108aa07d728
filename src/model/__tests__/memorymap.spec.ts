import type { IMemoryMap } from '../../wire';
import { seeded } from '../../wire/__tests__/random';
import { ROW_PX, layoutMap, spotAt, spots } from '../memorymap';

/** A map of segments of [pool, bytes] with blocks of [segment, offset, bytes]. */
function mapOf(segments: readonly number[][], blocks: readonly number[][] = []): IMemoryMap {
  const column = (rows: readonly number[][], index: number): number[] =>
    rows.map(row => row[index] ?? 0);
  const none = blocks.map(() => -1);
  return {
    segments: {
      length: segments.length,
      pool: column(segments, 0),
      bytes: column(segments, 1),
      expandable: segments.map(() => 0)
    },
    blocks: {
      length: blocks.length,
      segment: column(blocks, 0),
      offset: column(blocks, 1),
      bytes: column(blocks, 2),
      category: blocks.map(() => 0),
      layer: none,
      site: none,
      pending: blocks.map(() => 0)
    },
    sites: [],
    omitted: 0,
    omittedBytes: 0
  };
}

describe('the layout of a memory map', () => {
  it('gives each pool a scale of its own, in which its largest segment fills a row', () => {
    const layout = layoutMap(
      mapOf([
        [0, 1000],
        [0, 500],
        [0, 100],
        [1, 8]
      ]),
      500
    );
    expect(layout.pools).toMatchObject([
      { pool: 0, top: 0, rowBytes: 1000, segments: 3, bytes: 1600 },
      { pool: 1, rowBytes: 8, segments: 1, bytes: 8 }
    ]);
    expect(layout.boxes.map(({ width }) => width)).toEqual([500, 250, 50, 500]);
    const tops = layout.boxes.map(({ top }) => top);
    expect(tops[1]).toBe(tops[2]);
    expect(tops[1]).toBeGreaterThan(tops[0] ?? 0);
  });

  it('stays low however many segments are alike', () => {
    const many = Array.from({ length: 300 }, () => [0, 2 ** 21]);
    expect(layoutMap(mapOf(many), 1000).height).toBeLessThan(20 * ROW_PX);
  });

  it('has every segment inside of the width, none over another', () => {
    const random = seeded(7);
    const segments = Array.from({ length: 80 }, (_, index) => [
      Math.floor(index / 30),
      1 + Math.floor(random() * 1e6)
    ]);
    const { boxes, height } = layoutMap(mapOf(segments), 700);
    expect(boxes).toHaveLength(80);
    boxes.forEach((box, index) => {
      expect(box.left).toBeGreaterThanOrEqual(0);
      expect(box.left + box.width).toBeLessThanOrEqual(700.5);
      expect(box.top + ROW_PX).toBeLessThanOrEqual(height);
      const next = boxes[index + 1];
      const isAfter =
        next === undefined ||
        next.top > box.top ||
        (next.top === box.top && next.left >= box.left + box.width);
      expect(isAfter).toBe(true);
    });
  });

  it('is empty without segments', () => {
    expect(layoutMap(mapOf([]), 500)).toEqual({ pools: [], boxes: [], height: 0 });
  });
});

describe('what lies in a segment', () => {
  const map = mapOf(
    [
      [0, 100],
      [0, 50]
    ],
    [
      [0, 10, 20],
      [0, 30, 40],
      [1, 0, 50]
    ]
  );
  const layout = layoutMap(map, 100);

  it('are its blocks and the gaps between them, which sum to it', () => {
    const [first, second] = layout.boxes.map(box => spots(map, box));
    expect(first?.map(({ block, start, bytes }) => [block, start, bytes])).toEqual([
      [-1, 0, 10],
      [0, 10, 20],
      [1, 30, 40],
      [-1, 70, 30]
    ]);
    expect(second?.map(({ block }) => block)).toEqual([2]);
  });

  it('is found by where it is drawn', () => {
    const y = layout.boxes[0]?.top ?? 0;
    const blocks = [0, 9.9, 10, 29.9, 30, 70].map(x => spotAt(map, layout, x, y)?.block);
    expect(blocks).toEqual([-1, -1, 0, 0, 1, -1]);
    expect(spotAt(map, layout, 5, y - 1)).toBeUndefined();
    expect(spotAt(map, layout, 101, y)).toBeUndefined();
  });
});
