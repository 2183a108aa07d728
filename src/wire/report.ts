// The report as the views read it: checked, readonly columns. The layout of the payload is written
// down in python_pkg/memtrack/reports/payload.py. Bytes are integers exact to 2^53, times are
// nanoseconds since the recording began, cuts count events, references are rows with -1 for none.
import type { IAdvice } from './advice';
import type { IAnswers, ILineGroups } from './answers';
import type { INumbers, IStrings } from './columns';

/** One sentence in every shipped language: `{en: …, zh_CN: …}`. */
export type Text = Readonly<Record<string, string>> & { readonly en: string };

/** A whole report; `views` holds one per device, the one with the most at stake first. */
export interface IReport {
  readonly identifier: string;
  /** `recording`, `complete`, `interrupted` or `failed`. */
  readonly state: string;
  /** `measured`, `predicted` or `opened`. */
  readonly evidence: string;
  readonly label: string;
  /** ISO 8601. */
  readonly started: string;
  readonly versions: ReadonlyMap<string, string>;
  readonly steps: number;
  /** Median duration of the complete steps after the first; undefined without one. */
  readonly stepNs: number | undefined;
  readonly notices: readonly Text[];
  readonly layers: ILayerTree;
  readonly phases: IPhases;
  readonly marks: IMarks;
  readonly views: readonly IView[];
  /** What helps, where it was asked for. */
  readonly advice?: IAdvice | undefined;
}

/** The layers all views share, in pre-order: the descendants of a row follow it directly. */
export interface ILayerTree {
  readonly length: number;
  readonly parent: INumbers;
  readonly depth: INumbers;
  /** Rows in the subtree, itself included. */
  readonly subtree: INumbers;
  /** 1: shares a parameter that an earlier layer owns. */
  readonly tied: INumbers;
  readonly name: IStrings;
  readonly path: IStrings;
  readonly type: IStrings;
  /** Other paths of the same module, joined by ", ". */
  readonly aliases: IStrings;
}

/** Phases back to back; `kind` is for `phaseId`, `step` is -1 outside any. */
export interface IPhases {
  readonly length: number;
  readonly start: INumbers;
  readonly end: INumbers;
  readonly startNs: INumbers;
  readonly endNs: INumbers;
  readonly kind: INumbers;
  readonly step: INumbers;
}

/** Moments the user named. */
export interface IMarks {
  readonly cut: INumbers;
  readonly timeNs: INumbers;
  readonly label: readonly string[];
}

/** The report of one device. */
export interface IView extends IAnswers {
  readonly device: IDevice;
  readonly headline: Text;
  readonly details: readonly Text[];
  readonly peak: IPeak;
  readonly ledger: ILedger;
  readonly layers: ILayerColumns;
  readonly timeline: ITimeline;
}

/** `total` in bytes, -1 where unknown. */
export interface IDevice {
  readonly kind: string;
  readonly index: number;
  readonly name: string;
  readonly total: number;
}

/** The moment of the most allocated bytes; `layer` is a row of the layer tree, -1 outside. */
export interface IPeak {
  readonly bytes: number;
  readonly cut: number;
  readonly timeNs: number;
  readonly step: number;
  readonly phase: string;
  readonly layer: number;
}

/** Parts in the order they are drawn, which sum to `total`. */
export interface ILedger {
  readonly total: number;
  readonly allocated: number;
  readonly parts: readonly ILedgerPart[];
  /** Bytes of the tensors that nobody asked for: the allocator gives whole blocks. */
  readonly rounding: number;
}

/** `id` is a category or `cache`, `context`, `process`, `others`, `outside`, `free`. */
export interface ILedgerPart {
  readonly id: string;
  readonly bytes: number;
  /** `measured` or `estimated`. */
  readonly certainty: string;
  /** What the part is made of, with ids such as `temporary.forward`; they sum to it. */
  readonly details: readonly ILedgerPart[];
}

/**
 * The layer table of one device, a value a layer. Columns that add up come twice: `<id>`, the
 * layer's own, and `total_<id>`, with its subtree; `outside.get(id)` is what belongs to no layer.
 */
export interface ILayerColumns {
  readonly numbers: ReadonlyMap<string, INumbers>;
  readonly texts: ReadonlyMap<string, IStrings>;
  readonly outside: ReadonlyMap<string, number>;
}

/** Memory over cuts, at the points that bound each bucket. */
export interface ITimeline {
  readonly cuts: number;
  readonly durationNs: number;
  /** Events in a bucket: 1 is every event. */
  readonly bucketEvents: number;
  /** Row of `points` that is the peak of the window. */
  readonly peakPoint: number;
  readonly points: ITimelinePoints;
  /** Category id to its bytes at each point; they sum to `points.allocated`. */
  readonly categories: ReadonlyMap<string, INumbers>;
  readonly allocations: IAllocations;
  readonly sites: readonly string[];
  readonly names: readonly string[];
  /** Allocations left out because the payload is bounded, and the most bytes they ever have. */
  readonly omittedAllocations: number;
  readonly omittedBytes: number;
  /** The same bytes by source line, where most of them have no category. */
  readonly groups: ILineGroups | undefined;
}

/** Points in order of `cut`; `layer` is the innermost running, -1 outside. */
export interface ITimelinePoints {
  readonly length: number;
  readonly cut: INumbers;
  readonly timeNs: INumbers;
  readonly allocated: INumbers;
  /** Only with a caching allocator. */
  readonly reserved: INumbers | undefined;
  readonly layer: INumbers;
}

/** Blocks alive at one of the points at least: alive at cut c when start < c <= end. */
export interface IAllocations {
  readonly length: number;
  readonly start: INumbers;
  readonly end: INumbers;
  readonly bytes: INumbers;
  readonly layer: INumbers;
  /** A code for `categoryId`. */
  readonly category: INumbers;
  /** Index into `sites`, -1 for none. */
  readonly site: INumbers;
  /** Index into `names`, -1 for none. */
  readonly name: INumbers;
}

/** Returns `text` in `language` (`zh_CN`, `zh-CN`), a sibling of it, or English. */
export function textIn(text: Text, language: string): string {
  const wanted = language.replace('-', '_');
  const base = wanted.split('_')[0];
  const sibling = Object.keys(text).find(key => key.split('_')[0] === base);
  return text[wanted] ?? (sibling === undefined ? undefined : text[sibling]) ?? text.en;
}
