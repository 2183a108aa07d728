// Several ranks of one run as the views read them. The layout of the payload is written down in
// python_pkg/memtrack/reports/rankspayload.py.
import type { IDevice, Text } from './report';

/** The highest point of a rank. */
export interface IRankPeak {
  readonly bytes: number;
  /** Counted from 0; -1 outside of any. */
  readonly step: number;
  readonly phase: string;
  /** A path; "" outside of any layer. */
  readonly layer: string;
}

/** One rank that left a recording; -1 and "" where something is not known. */
export interface IRank {
  readonly rank: number;
  readonly localRank: number;
  readonly host: string;
  readonly pid: number;
  /** `complete`, `interrupted`, `failed`, or `recording`: it ended without a word, or still runs. */
  readonly state: string;
  readonly evidence: string;
  readonly file: string;
  /** Undefined where it saw no memory. */
  readonly device: IDevice | undefined;
  readonly peak: IRankPeak | undefined;
  readonly reserved: number;
  readonly steps: number;
  readonly stepNs: number | undefined;
  /** Its whole report as a notebook has it, packed; undefined where it is not kept. */
  readonly report: unknown;
}

/** What a category or a layer has at the peak of each rank, in the order of the ranks. */
export interface IRankShare {
  /** The id of a category, or the path of a layer; "" for what is in none. */
  readonly id: string;
  readonly bytes: readonly number[];
}

/** All ranks of a run, ascending. */
export interface IRanks {
  readonly label: string;
  readonly worldSize: number;
  readonly headline: Text;
  readonly details: readonly Text[];
  /** Ranks without a recording, ascending. */
  readonly missing: readonly number[];
  readonly meanPeak: number;
  readonly maxPeak: number;
  /** -1 where no rank saw memory. */
  readonly maxRank: number;
  readonly imbalance: number;
  readonly ranks: readonly IRank[];
  /** They sum to the peak of each rank. */
  readonly categories: readonly IRankShare[];
  /** Own bytes of those layers that differ most. */
  readonly layers: readonly IRankShare[];
}
