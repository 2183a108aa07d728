// A history that a kernel answers for, as the views see it. Who carries the messages is not their business.
import type { ISignal } from '@lumino/signaling';

import type { Text } from '../../wire';
import type { IComparison } from '../../wire/comparison';
import type { IHistory, IRun } from '../../wire/runs';
import type { IRegistry } from '../registry';

/** What of the history is wanted. */
export interface IHistoryQuery {
  readonly search: string;
  /** The deleted runs in place of the others. */
  readonly deleted: boolean;
  readonly offset: number;
}

/** A change of one run. */
export type RunChange =
  | { readonly type: 'pin' | 'unpin' | 'delete' | 'restore' | 'baseline' | 'unbaseline' }
  | { readonly type: 'rename'; readonly name: string }
  | { readonly type: 'note'; readonly note: string }
  // Not readonly: it is sent as it is, and messages are plain JSON.
  | { readonly type: 'tag'; readonly tags: string[] };

/** A history with a kernel. Promises reject with `HistoryError` where the kernel refuses or is gone. */
export interface ILiveHistory {
  readonly id: string;
  readonly isClosed: boolean;
  readonly closed: ISignal<ILiveHistory, void>;
  list(query: IHistoryQuery): Promise<IHistory>;
  /** Returns the rows that are not the same any more. */
  change(run: number, change: RunChange): Promise<readonly IRun[]>;
  /** Compares two runs, `a` before `b`. */
  compare(a: number, b: number): Promise<IComparison>;
}

/** The live histories of this page by the id of their widget model. */
export type ILiveHistories = IRegistry<ILiveHistory>;

/** Why a history did not do what was asked; undefined where the kernel is gone. */
export class HistoryError extends Error {
  constructor(readonly sentence: Text | undefined) {
    super(sentence?.en ?? 'The kernel of this history is gone.');
    this.name = 'HistoryError';
  }
}
