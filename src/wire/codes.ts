// The codes in the columns, as in python_pkg/memtrack/recording/categories.py: only ever added to.

/** Category ids by their code. */
export const CATEGORY_IDS = [
  'unknown',
  'parameter',
  'buffer',
  'gradient',
  'optimizer_state',
  'activation',
  'temporary',
  'input',
  'workspace',
  'cast_weight',
  'other',
  'recomputed',
  'output',
  'communication'
] as const;

/** What a byte is for. */
export type CategoryId = (typeof CATEGORY_IDS)[number];

/** Returns the category of `code`; `unknown` for one that a newer memtrack added. */
export function categoryId(code: number): CategoryId {
  return CATEGORY_IDS[code] ?? 'unknown';
}

/** Categories in the order they are drawn: what stays first, what passes last. */
export const CATEGORIES_DRAWN: readonly CategoryId[] = [
  'parameter',
  'buffer',
  'gradient',
  'optimizer_state',
  'cast_weight',
  'activation',
  'recomputed',
  'output',
  'input',
  'temporary',
  'communication',
  'workspace',
  'other',
  'unknown'
];

/** Phase ids by their code in `phases.kind`. */
export const PHASE_IDS = ['forward', 'backward', 'optimizer', 'other'] as const;

/** What the training loop was doing. */
export type PhaseId = (typeof PHASE_IDS)[number];

/** Returns the phase of `code`; `other` for one that a newer memtrack added. */
export function phaseId(code: number): PhaseId {
  return PHASE_IDS[code] ?? 'other';
}

/** Why the allocator's statistics were read, by code. */
const READING_IDS = ['start', 'phase', 'step', 'mark', 'end'] as const;

/** Why the allocator's statistics were read. */
export type ReadingId = (typeof READING_IDS)[number];

/** Returns the reason of `code`; `phase` for one that a newer memtrack added. */
export function readingId(code: number): ReadingId {
  return READING_IDS[code] ?? 'phase';
}
