// Reproducible randomness for tests that compare a fast algorithm with its slow twin.
import type { ISampleLayer } from './sample';
import { ADDITIVE } from './sample';

/** Returns a generator of numbers in [0, 1), the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const NAMES = ['attn', 'mlp', 'norm', 'proj', 'h', 'head', 'embed'];
const TYPES = ['Linear', 'LayerNorm', 'Block', 'Embedding'];

/** Returns random trees of `count` layers altogether, with few distinct values so that ties occur. */
export function randomLayers(random: () => number, count: number): readonly ISampleLayer[] {
  const pick = (limit: number): number => Math.floor(random() * limit);
  const grow = (size: number, depth: number, index: number): ISampleLayer => {
    const children: ISampleLayer[] = [];
    let left = size - 1;
    while (left > 0) {
      const share = depth > 6 ? 1 : 1 + pick(left);
      children.push(grow(share, depth + 1, children.length));
      left -= share;
    }
    return {
      name: `${NAMES[pick(NAMES.length)]}${index}`,
      type: TYPES[pick(TYPES.length)] ?? '',
      own: Object.fromEntries(ADDITIVE.map(id => [id, pick(4) * 1024])),
      facts: { calls: pick(3), output_bytes: pick(3) - 1, output_shape: pick(2) ? '8×512' : '' },
      children
    };
  };
  const first = Math.max(1, count - 1 - pick(count));
  const roots = [grow(first, 0, 0)];
  return count > first ? [...roots, grow(count - first, 0, 1)] : roots;
}
