// Two runs side by side, as the views read them: checked, readonly columns. The layout of the payload is
// written down in python_pkg/memtrack/reports/comparisonpayload.py. `before` is the first run, `after`
// the second; bytes are whole numbers, nanoseconds too.
import type { INumbers, IStrings } from './columns';
import type { ITreeShape } from './layertree';
import type { Text } from './report';

/** What became of a layer; codes of `status` in this order. */
const LAYER_STATUS = ['same', 'retyped', 'renamed', 'moved', 'alike', 'added', 'removed'] as const;

/** What became of a layer from the first run to the second. */
export type LayerStatus = (typeof LAYER_STATUS)[number];

/** One of the two runs. */
export interface ISide {
  readonly identifier: string;
  /** Its number in the history; undefined for what is not kept there. */
  readonly run: number | undefined;
  readonly name: string;
  readonly label: string;
  /** `measured`, `predicted` or `opened`. */
  readonly evidence: string;
  /** `recording`, `complete`, `interrupted` or `failed`. */
  readonly state: string;
  /** ISO 8601. */
  readonly started: string;
  readonly device: string;
  /** Bytes, -1 where unknown. */
  readonly deviceTotal: number;
  readonly reserved: number | undefined;
  /** Median duration of a step. */
  readonly stepNs: number | undefined;
  readonly steps: number;
  /** Step, phase and innermost layer of the peak; -1 and "" where there is none. */
  readonly step: number;
  readonly phase: string;
  readonly layer: string;
}

/** A figure of both runs. */
export interface IPair {
  readonly before: number;
  readonly after: number;
}

/** A figure of both runs that has a name. */
export interface INamedPair extends IPair {
  readonly id: string;
}

/** Bytes by which the peak moved: of one category, in layers whose paths fit `where`. */
export interface IMover {
  readonly category: string;
  readonly change: number;
  /** A path in which `*` stands for numbers; "" where no group of layers has most of it. */
  readonly where: string;
  readonly layers: number;
  /** Whether this is what the category moved elsewhere than another mover says. */
  readonly isRest: boolean;
}

/** A phase in both runs; undefined where it did not occur or was not timed. */
export interface IPhasePair {
  readonly id: string;
  readonly before: number | undefined;
  readonly after: number | undefined;
  readonly beforeNs: number | undefined;
  readonly afterNs: number | undefined;
}

/** What both peaks are made of, a row a layer and category; they sum to the peaks. */
export interface IParts {
  readonly length: number;
  /** Row of the merged tree, -1 for none. */
  readonly row: INumbers;
  readonly category: IStrings;
  readonly before: INumbers;
  readonly after: INumbers;
}

/** A column of the merged tree: -1 where there is no such layer in that run, or it is unknown. */
export interface IColumnPair {
  readonly before: INumbers;
  readonly after: INumbers;
}

/** The layers of both runs in one tree, in pre-order. */
export interface IMergedLayers extends ITreeShape {
  readonly status: INumbers;
  /** How sure the match is, 0 to 1. */
  readonly sure: INumbers;
  readonly name: IStrings;
  readonly path: IStrings;
  readonly type: IStrings;
  /** Of the first run; "" where the layer is new. */
  readonly formerPath: IStrings;
  readonly formerType: IStrings;
  readonly columns: ReadonlyMap<string, IColumnPair>;
}

/** Memory over the steps: `step` is 1.5 in the middle of the second. */
export interface IComparedLine {
  readonly length: number;
  readonly step: INumbers;
  readonly allocated: INumbers;
  readonly peakAt: number;
}

/** A setting, version or fact that is not the same; "" where there is none. */
export interface IChangedSetting {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** Two runs compared. */
export interface IComparison {
  readonly a: ISide;
  readonly b: ISide;
  readonly sentence: Text;
  readonly details: readonly Text[];
  readonly peak: IPair;
  readonly movers: readonly IMover[];
  readonly categories: readonly INamedPair[];
  readonly ledger: readonly INamedPair[];
  readonly phases: readonly IPhasePair[];
  readonly parts: IParts;
  readonly layers: IMergedLayers;
  /** Layers left out because a notebook holds no more. */
  readonly omittedLayers: number;
  readonly lines: { readonly a: IComparedLine; readonly b: IComparedLine };
  readonly settings: readonly IChangedSetting[];
}

/** Returns the status of `code`; `alike` for one that a newer memtrack added. */
export function layerStatus(code: number): LayerStatus {
  return LAYER_STATUS[code] ?? 'alike';
}
