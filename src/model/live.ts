// A report that a kernel is still working on, as the views see it. Who carries the messages is not
// their business.
import type { ISignal } from '@lumino/signaling';

import type { IAdviceAnswer, IReport, ITick, ITimeline } from '../wire';
import type { IRegistry } from './registry';
import type { IWindow } from './window';

/** A live report. `closed` comes once, when its kernel or its widget is gone. */
export interface ILiveReport {
  readonly id: string;
  /** Undefined until the first report has come. */
  readonly report: IReport | undefined;
  /** The latest; undefined before the first. */
  readonly tick: ITick | undefined;
  readonly isClosed: boolean;
  readonly reportChanged: ISignal<ILiveReport, void>;
  readonly ticked: ISignal<ILiveReport, ITick>;
  readonly closed: ISignal<ILiveReport, void>;
  /**
   * Ask for a finer timeline of `window` of the view in row `view`, in `buckets` buckets. Undefined
   * when a later request overtook it or the kernel is gone; a busy kernel may take its time.
   */
  requestWindow(view: number, window: IWindow, buckets: number): Promise<ITimeline | undefined>;
  /**
   * Ask what would help in the recording so far. Undefined when the kernel is gone; a busy kernel may
   * take its time.
   */
  requestAdvice(): Promise<IAdviceAnswer | undefined>;
  /** Tell that a tick was drawn, so that the next one may come. */
  seen(tick: number): void;
}

/** The live reports of this page by the id of their widget model. */
export type ILiveReports = IRegistry<ILiveReport>;
