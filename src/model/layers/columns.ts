// What the columns of the layer table are: what they are called, how they are read and compared.
// The ids are those of LAYER_COLUMNS in python_pkg/memtrack/analysis/layers.py.
import type { TranslationBundle } from '@jupyterlab/translation';

import type { CategoryId } from '../../wire';

/** How a column's values are written: `time` is nanoseconds, `flag` is 0 or 1. */
export type ColumnKind = 'text' | 'count' | 'bytes' | 'time' | 'flag';

/** One column of the layer table. */
export interface ILayerColumn {
  readonly id: string;
  /** Heading, translated. */
  readonly label: string;
  /** One sentence that says what is measured, translated. */
  readonly hint: string;
  readonly kind: ColumnKind;
  /** Whether a parent shows the sum of its subtree and the roots add up to the whole. */
  readonly isAdditive: boolean;
  /** Whether a layer that was never called has no value. */
  readonly needsCall: boolean;
  /** Whether its values are changes, written with their sign. */
  readonly isSigned: boolean;
  /** The category whose colour its bars take, where the column is about one. */
  readonly category: CategoryId | undefined;
  /** Ids of other columns whose bars are drawn to the same scale. */
  readonly scaledWith: readonly string[];
}

/** The column that names the layers: always there, always first. */
export const NAME_COLUMN = 'layer';

/** The columns a reader sees before choosing. */
export const DEFAULT_COLUMNS: readonly string[] = [
  'calls',
  'output_shape',
  'saved',
  'at_peak',
  'parameters',
  'gradients',
  'optimizer',
  'change'
];

/** Returns all columns in the order they are shown, the one of names excluded. */
export function layerColumns(trans: TranslationBundle): readonly ILayerColumn[] {
  return [...callColumns(trans), ...byteColumns(trans), ...momentColumns(trans)];
}

function callColumns(trans: TranslationBundle): readonly ILayerColumn[] {
  return [
    column('calls', 'count', trans.__('Calls'), trans.__('Forward calls, recomputation left out')),
    column(
      'output_shape',
      'text',
      trans.__('Output'),
      trans.__('Shape of what its largest call returned'),
      { needsCall: true }
    ),
    column(
      'output_dtype',
      'text',
      trans.__('Output dtype'),
      trans.__('Element type of what its largest call returned'),
      { needsCall: true }
    ),
    column(
      'output_bytes',
      'bytes',
      trans.__('Output size'),
      trans.__('Size of what its largest call returned'),
      { needsCall: true }
    )
  ];
}

function byteColumns(trans: TranslationBundle): readonly ILayerColumn[] {
  return [
    column(
      'saved',
      'bytes',
      trans.__('Saved'),
      trans.__('Kept for backward, at the moment when that is most'),
      { isAdditive: true, category: 'activation' }
    ),
    column(
      'at_peak',
      'bytes',
      trans.__('At peak'),
      trans.__('Everything of the layer that is alive at the peak'),
      { isAdditive: true }
    ),
    column(
      'parameters',
      'bytes',
      trans.__('Params'),
      trans.__('Weights, each storage counted once'),
      { isAdditive: true, category: 'parameter' }
    ),
    column(
      'buffers',
      'bytes',
      trans.__('Buffers'),
      trans.__('State of the layer that is not trained'),
      { isAdditive: true, category: 'buffer' }
    ),
    column(
      'gradients',
      'bytes',
      trans.__('Grads'),
      trans.__('Gradients of its parameters, at the moment when they are most'),
      { isAdditive: true, category: 'gradient' }
    ),
    column(
      'optimizer',
      'bytes',
      trans.__('Optimizer'),
      trans.__('State the optimizer keeps for its parameters, at the moment when it is most'),
      { isAdditive: true, category: 'optimizer_state' }
    ),
    column(
      'parameter_count',
      'count',
      trans.__('Elements'),
      trans.__('Number of elements of its parameters'),
      { isAdditive: true }
    )
  ];
}

function momentColumns(trans: TranslationBundle): readonly ILayerColumn[] {
  return [
    column(
      'peak',
      'bytes',
      trans.__('Peak'),
      trans.__('Most allocated on the device while the layer runs'),
      { needsCall: true }
    ),
    column(
      'change',
      'bytes',
      trans.__('Change'),
      trans.__('Allocated after its forward less before, in the step of the peak'),
      { needsCall: true, isSigned: true }
    ),
    column(
      'live_after',
      'bytes',
      trans.__('After forward'),
      trans.__('Allocated on the device right after its last forward in the step of the peak'),
      { needsCall: true }
    ),
    column(
      'needs_grad',
      'flag',
      trans.__('Needs grad'),
      trans.__('Whether its output takes part in backward'),
      { needsCall: true }
    ),
    column(
      'forward_ns',
      'time',
      trans.__('Forward'),
      trans.__('Time of its forward calls in a step, the median of the steps'),
      { needsCall: true }
    ),
    column(
      'backward_ns',
      'time',
      trans.__('Backward'),
      trans.__('Time of its backward in a step, the median of the steps'),
      { needsCall: true }
    )
  ];
}

/** Returns a column, without the traits that are not given. */
export function column(
  id: string,
  kind: ColumnKind,
  label: string,
  hint: string,
  traits: Partial<
    Pick<ILayerColumn, 'isAdditive' | 'needsCall' | 'isSigned' | 'category' | 'scaledWith'>
  > = {}
): ILayerColumn {
  return {
    isAdditive: false,
    needsCall: false,
    isSigned: false,
    category: undefined,
    scaledWith: [],
    ...traits,
    id,
    kind,
    label,
    hint
  };
}
