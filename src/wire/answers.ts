// The answers of a view besides its peak, as views read them: python_pkg/memtrack/reports/answers.py
// says what each means. An older payload has none of them.
import type { INumbers, IStrings } from './columns';
import type { Text } from './report';

/** A pool of the caching allocator on one stream at the peak; figures but counts are bytes. */
export interface IPool {
  /** Id of a private pool such as `0.1`; "" for the default one. */
  readonly pool: string;
  /** Whether it is for blocks of up to 1 MiB. */
  readonly small: boolean;
  /** A pointer in decimal, "0" for the default stream. */
  readonly stream: string;
  readonly reserved: number;
  readonly allocated: number;
  /** Freed by its owner, but a stream is not done with it. */
  readonly pending: number;
  readonly free: number;
  readonly largestFree: number;
  /** Free, but in a segment with blocks in use: `empty_cache` cannot give it back. */
  readonly splinters: number;
  readonly segments: number;
}

/** What each step keeps; `layer` is a row of the layer tree, -1 outside. */
export interface IGrowth {
  readonly sentence: Text;
  readonly stepBytes: number;
  readonly bytes: number;
  readonly steps: number;
  readonly layer: number;
  readonly category: string;
  readonly site: string;
}

/** The most allocated within each phase of each step, a row each; `kind` is for `phaseId`. */
export interface INestedPeaks {
  readonly length: number;
  readonly step: INumbers;
  readonly kind: INumbers;
  readonly bytes: INumbers;
  readonly cut: INumbers;
  /** The layer that holds most then: a row of the layer tree, -1 for none. */
  readonly layer: INumbers;
}

/** The most allocated from each mark to the next; the label "" is what lies before the first. */
export interface IMarkPeaks {
  readonly length: number;
  readonly label: IStrings;
  readonly bytes: INumbers;
  readonly cut: INumbers;
  readonly layer: INumbers;
}

/** The allocator's statistics at the moments they were read, named as torch names them. */
export interface ISummary {
  readonly length: number;
  readonly cut: INumbers;
  readonly timeNs: INumbers;
  /** A code for `readingId`. */
  readonly kind: INumbers;
  readonly step: INumbers;
  /** A code for `phaseId`: the phase that has ended. */
  readonly phase: INumbers;
  /** Counts, from 1, the moments of the same name; 0 where there is one only. */
  readonly number: INumbers;
  readonly label: IStrings;
  readonly names: readonly string[];
  /** A row of `names` for each reading, one after the other. */
  readonly values: INumbers;
}

/** What is alive at the peak by source line, largest first; "" is what has no line. */
export interface ILines {
  readonly length: number;
  readonly site: IStrings;
  readonly bytes: INumbers;
  readonly allocations: INumbers;
  /** A code for `categoryId`: that with the most bytes of the line. */
  readonly category: INumbers;
  readonly omitted: number;
  readonly omittedBytes: number;
}

/** The allocator's segments at the peak, in the order they are drawn; what no block covers is free. */
export interface IMemoryMap {
  readonly segments: IMapSegments;
  readonly blocks: IMapBlocks;
  readonly sites: readonly string[];
  readonly omitted: number;
  readonly omittedBytes: number;
}

/** `pool` is a row of the view's pools. */
export interface IMapSegments {
  readonly length: number;
  readonly bytes: INumbers;
  readonly pool: INumbers;
  readonly expandable: INumbers;
}

/** In order of `segment` and `offset`, none over another. */
export interface IMapBlocks {
  readonly length: number;
  readonly segment: INumbers;
  readonly offset: INumbers;
  readonly bytes: INumbers;
  /** A code for `categoryId`. */
  readonly category: INumbers;
  /** Row of the layer tree, -1 outside. */
  readonly layer: INumbers;
  /** Index into `sites`, -1 for none. */
  readonly site: INumbers;
  /** 1: freed, but a stream is not done with it. */
  readonly pending: INumbers;
}

/** A timeline by source line, where categories are not known: a column a name, one more for the rest. */
export interface ILineGroups {
  readonly names: readonly string[];
  readonly bytes: readonly INumbers[];
}

/** The answers of a view besides its peak. */
export interface IAnswers {
  readonly pools: readonly IPool[];
  readonly growth: readonly IGrowth[];
  readonly peaks: INestedPeaks | undefined;
  readonly markPeaks: IMarkPeaks | undefined;
  readonly summary: ISummary | undefined;
  readonly lines: ILines | undefined;
  readonly map: IMemoryMap | undefined;
}
