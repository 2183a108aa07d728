// Where the segments and blocks of a memory map lie on the screen: pools one under the other, each
// to a scale of its own, in which a row holds its largest segment, or several where there are many.
// Lengths are pixels.
import { at } from '../base/assert';
import type { IMemoryMap } from '../wire';
import { firstAtLeast } from './search';

export const ROW_PX = 20;
const TITLE_PX = 22;
const GAP_PX = 3;
const LEAST_PX = 3;
/** About so many rows a pool takes, however many segments it has. */
const ROWS = 12;

/** A pool of the map: its title stands at `top`, its rows below; `rowBytes` fill a row. */
export interface IMapPool {
  readonly pool: number;
  readonly top: number;
  readonly rowBytes: number;
  readonly segments: number;
  readonly bytes: number;
}

/** A segment on the screen; its blocks are the rows from `firstBlock` to before `endBlock`. */
export interface IMapBox {
  readonly segment: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly firstBlock: number;
  readonly endBlock: number;
}

/** A whole map. */
export interface IMapLayout {
  readonly pools: readonly IMapPool[];
  readonly boxes: readonly IMapBox[];
  readonly height: number;
}

/** Returns the layout of `map` in `width`. */
export function layoutMap(map: IMemoryMap, width: number): IMapLayout {
  const { segments, blocks } = map;
  const pools: IMapPool[] = [];
  const boxes: IMapBox[] = [];
  let [left, top] = [0, 0];
  for (let segment = 0; segment < segments.length; segment++) {
    const pool = at(segments.pool, segment);
    if (pools[pools.length - 1]?.pool !== pool) {
      top += pools.length === 0 ? 0 : ROW_PX + 2 * GAP_PX;
      pools.push({ ...poolFrom(map, segment), top });
      top += TITLE_PX;
      left = 0;
    }
    const { rowBytes } = at(pools, pools.length - 1);
    const share = at(segments.bytes, segment) / Math.max(1, rowBytes);
    const wide = Math.min(width, Math.max(LEAST_PX, share * width));
    // A rounding error must not leave the last of a full row to the next.
    if (left > 0 && left + wide > width + 0.5) {
      left = 0;
      top += ROW_PX + GAP_PX;
    }
    const firstBlock = firstAtLeast(blocks.segment, segment);
    const endBlock = firstAtLeast(blocks.segment, segment + 1);
    boxes.push({ segment, left, top, width: wide, firstBlock, endBlock });
    left += wide + GAP_PX;
  }
  return { pools, boxes, height: boxes.length === 0 ? 0 : top + ROW_PX };
}

/** What lies at a point of the map: a block, or free memory of a segment (`block` is -1). */
export interface IMapSpot {
  /** Bytes from the beginning of its segment. */
  readonly start: number;
  readonly segment: number;
  readonly block: number;
  readonly bytes: number;
}

/** Returns what lies at a point, undefined between segments. */
export function spotAt(
  map: IMemoryMap,
  layout: IMapLayout,
  x: number,
  y: number
): IMapSpot | undefined {
  const box = layout.boxes.find(
    ({ left, top, width }) => x >= left && x < left + width && y >= top && y < top + ROW_PX
  );
  if (box === undefined) {
    return undefined;
  }
  const size = at(map.segments.bytes, box.segment);
  const offset = ((x - box.left) / box.width) * size;
  return spots(map, box).find(({ start, bytes }) => offset >= start && offset < start + bytes);
}

/** Returns blocks and gaps of a segment in order. */
export function spots(
  map: IMemoryMap,
  { segment, firstBlock, endBlock }: IMapBox
): readonly IMapSpot[] {
  const found: IMapSpot[] = [];
  let start = 0;
  const gapTo = (end: number): void => {
    if (end > start) {
      found.push({ segment, block: -1, start, bytes: end - start });
    }
  };
  for (let block = firstBlock; block < endBlock; block++) {
    const offset = at(map.blocks.offset, block);
    gapTo(offset);
    const bytes = at(map.blocks.bytes, block);
    found.push({ segment, block, start: offset, bytes });
    start = offset + bytes;
  }
  gapTo(at(map.segments.bytes, segment));
  return found;
}

/** What the segments of one pool, from `first` on, are together. */
function poolFrom(map: IMemoryMap, first: number): Omit<IMapPool, 'top'> {
  const { segments } = map;
  const pool = at(segments.pool, first);
  let [end, bytes, rowBytes] = [first, 0, 0];
  for (; end < segments.length && at(segments.pool, end) === pool; end++) {
    const size = at(segments.bytes, end);
    bytes += size;
    rowBytes = Math.max(rowBytes, size);
  }
  return { pool, rowBytes: Math.max(rowBytes, bytes / ROWS), segments: end - first, bytes };
}
