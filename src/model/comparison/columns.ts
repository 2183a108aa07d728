// The columns of a table of two runs: each figure of a layer before, after, and its change.
import type { TranslationBundle } from '@jupyterlab/translation';

import type { CategoryId } from '../../wire';
import type { ColumnKind, ILayerColumn } from '../layers';
import { column } from '../layers';

/** What became of a layer. */
export const STATUS_COLUMN = 'status';
/** By what layers are ranked at first. */
export const MAIN_COLUMN = 'at_peak.change';

/** Figures that add up, and those that do not, in the order of the table. */
export const SUMS = [
  'at_peak',
  'saved',
  'parameters',
  'gradients',
  'optimizer',
  'buffers',
  'parameter_count'
] as const;
export const SINGLES = ['peak', 'output_bytes', 'calls', 'forward_ns', 'backward_ns'] as const;

type Figure = (typeof SUMS)[number] | (typeof SINGLES)[number];

/** The columns a reader sees before choosing. */
export const DEFAULT_COLUMNS: readonly string[] = [
  STATUS_COLUMN,
  'at_peak.before',
  'at_peak.after',
  MAIN_COLUMN,
  'saved.change',
  'parameters.change',
  'gradients.change',
  'optimizer.change'
];

/** Returns all columns in the order they are shown, the one of names excluded. */
export function comparedColumns(trans: TranslationBundle): readonly ILayerColumn[] {
  const status = column(
    STATUS_COLUMN,
    'text',
    trans.__('Layer is'),
    trans.__('What became of the layer, and how sure it is that it is the same')
  );
  return [status, ...[...SUMS, ...SINGLES].flatMap(id => threeColumns(id, trans))];
}

function threeColumns(id: Figure, trans: TranslationBundle): readonly ILayerColumn[] {
  const label = labelOf(id, trans);
  const traits = {
    isAdditive: SUMS.some(each => each === id),
    category: CATEGORIES[id]
  };
  const kind = kindOf(id);
  const [before, after] = [`${id}.before`, `${id}.after`];
  return [
    column(before, kind, trans.__('%1, before', label), trans.__('In the first run'), {
      ...traits,
      scaledWith: [after]
    }),
    column(after, kind, trans.__('%1, after', label), trans.__('In the second run'), {
      ...traits,
      scaledWith: [before]
    }),
    column(
      `${id}.change`,
      kind,
      trans.__('%1, change', label),
      trans.__('The second run less the first'),
      { ...traits, isSigned: true }
    )
  ];
}

const CATEGORIES: Partial<Readonly<Record<Figure, CategoryId>>> = {
  saved: 'activation',
  parameters: 'parameter',
  gradients: 'gradient',
  optimizer: 'optimizer_state',
  buffers: 'buffer'
};

function kindOf(id: Figure): ColumnKind {
  switch (id) {
    case 'calls':
    case 'parameter_count':
      return 'count';
    case 'forward_ns':
    case 'backward_ns':
      return 'time';
    default:
      return 'bytes';
  }
}

function labelOf(id: Figure, trans: TranslationBundle): string {
  switch (id) {
    case 'at_peak':
      return trans.__('At peak');
    case 'saved':
      return trans.__('Saved');
    case 'parameters':
      return trans.__('Params');
    case 'gradients':
      return trans.__('Grads');
    case 'optimizer':
      return trans.__('Optimizer');
    case 'buffers':
      return trans.__('Buffers');
    case 'parameter_count':
      return trans.__('Elements');
    case 'peak':
      return trans.__('Peak');
    case 'output_bytes':
      return trans.__('Output size');
    case 'calls':
      return trans.__('Calls');
    case 'forward_ns':
      return trans.__('Forward');
    case 'backward_ns':
      return trans.__('Backward');
  }
}
