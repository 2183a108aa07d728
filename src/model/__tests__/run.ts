// Random runs for tests: every event is known, so that each answer can be had the slow way too.
import { seeded } from '../../wire/__tests__/random';
import type { ILayerTree, IPhases, ITimeline } from '../../wire';

/** A run and what it is made from. */
export interface IRun {
  readonly timeline: ITimeline;
  readonly tree: ILayerTree;
  readonly phases: IPhases;
}

// 0 ─┬─ 1 ─┬─ 2    4 is a root of its own.
//    │     └─ 3
const PARENTS = [-1, 0, 1, 1, -1];
const SUBTREES = [4, 3, 1, 1, 1];
const NAMES = ['net', 'block', 'attn', 'mlp', 'head'];
const CATEGORIES = ['parameter', 'activation', 'temporary'] as const;
const CODES: Readonly<Record<string, number>> = { parameter: 1, activation: 5, temporary: 6 };

function strings(values: readonly string[]): ILayerTree['name'] {
  return { length: values.length, values, codes: values.map((_, index) => index) };
}

/** The layers of every run. */
export const TREE: ILayerTree = {
  length: PARENTS.length,
  parent: PARENTS,
  depth: [0, 1, 2, 2, 0],
  subtree: SUBTREES,
  tied: PARENTS.map(() => 0),
  name: strings(NAMES),
  path: strings(['net', 'net.block', 'net.block.attn', 'net.block.mlp', 'head']),
  type: strings(NAMES.map(() => 'Module')),
  aliases: { length: PARENTS.length, values: [], codes: PARENTS.map(() => -1) }
};

/** Returns a run of `cuts` events of which about one in `every` cuts is a point. */
export function randomRun(seed: number, cuts = 60, every = 1): IRun {
  const random = seeded(seed);
  const pick = (limit: number): number => Math.floor(random() * limit);
  const blocks = Array.from({ length: 40 }, () => {
    const start = pick(cuts) - 1;
    return {
      start,
      end: start + 1 + pick(cuts - start),
      bytes: 512 * (1 + pick(5)),
      layer: pick(PARENTS.length + 1) - 1,
      category: CATEGORIES[pick(3)] ?? 'temporary'
    };
  });
  const cut = Array.from({ length: cuts + 1 }, (_, index) => index).filter(
    index => index === 0 || index === cuts || pick(every) === 0
  );
  const sumAt = (at: number, category?: string): number =>
    blocks
      .filter(block => block.start < at && at <= block.end)
      .filter(block => category === undefined || block.category === category)
      .reduce((sum, block) => sum + block.bytes, 0);
  const allocated = cut.map(at => sumAt(at));
  const timeline: ITimeline = {
    cuts,
    durationNs: cuts * 1000,
    bucketEvents: every,
    peakPoint: allocated.indexOf(Math.max(...allocated)),
    points: {
      length: cut.length,
      cut,
      timeNs: cut.map(at => at * 1000),
      allocated,
      reserved: undefined,
      layer: cut.map(() => pick(PARENTS.length + 1) - 1)
    },
    categories: new Map(CATEGORIES.map(id => [id, cut.map(at => sumAt(at, id))])),
    allocations: {
      length: blocks.length,
      start: blocks.map(block => block.start),
      end: blocks.map(block => block.end),
      bytes: blocks.map(block => block.bytes),
      layer: blocks.map(block => block.layer),
      category: blocks.map(block => CODES[block.category] ?? 0),
      site: blocks.map(() => 0),
      name: blocks.map((_, index) => (index === 0 ? 0 : -1))
    },
    sites: ['train.py:10 step'],
    names: ['weight'],
    omittedAllocations: 0,
    omittedBytes: 0,
    groups: undefined
  };
  return { timeline, tree: TREE, phases: phasesOf(cuts) };
}

/** Two steps of forward, backward, optimizer, then what is left over. */
function phasesOf(cuts: number): IPhases {
  const ends = [0.1, 0.25, 0.4, 0.5, 0.6, 0.8, 0.9, 1].map(share => Math.round(share * cuts));
  const starts = [0, ...ends.slice(0, -1)];
  return {
    length: ends.length,
    start: starts,
    end: ends,
    startNs: starts.map(cut => cut * 1000),
    endNs: ends.map(cut => cut * 1000),
    kind: [3, 0, 1, 2, 0, 1, 2, 3],
    step: [-1, 0, 0, 0, 1, 1, 1, -1]
  };
}
