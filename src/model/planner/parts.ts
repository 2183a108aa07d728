// What planners answer: parts in bytes that sum to a total; the twin of memtrack/planners/parts.py.

/** A part of a plan; `id` is the category that it would be in a recording, or `cache_kv`. */
export interface IPlanPart {
  readonly id: string;
  readonly bytes: number;
}

const MIB = 2 ** 20;

/** From least to most of what a CUDA context takes beside PyTorch's allocator. */
const CONTEXT: readonly [number, number] = [400 * MIB, 1024 * MIB];

export type Verdict = 'fits' | 'close' | 'over';

export function totalOf(parts: readonly IPlanPart[]): number {
  return parts.reduce((sum, part) => sum + part.bytes, 0);
}

/** Whether a plan fits a device of which `capacity` bytes may be used: the context has to fit beside it. */
export function verdictOf(total: number, capacity: number): Verdict {
  const [least, most] = CONTEXT;
  if (total + most <= capacity) {
    return 'fits';
  }
  return total + least <= capacity ? 'close' : 'over';
}
