// A live report that a test drives by hand.
import { Signal } from '@lumino/signaling';

import type { ILiveReport } from '../../model/live';
import type { IAdviceAnswer, IReport, ITick } from '../../wire';

/** Remembers which ticks were said to be seen. */
export class FakeLive implements ILiveReport {
  readonly seenTicks: number[] = [];
  report: IReport | undefined;
  tick: ITick | undefined;
  isClosed = false;
  readonly reportChanged: Signal<ILiveReport, void>;
  readonly ticked: Signal<ILiveReport, ITick>;
  readonly closed: Signal<ILiveReport, void>;

  constructor(readonly id = 'm1') {
    this.reportChanged = new Signal<ILiveReport, void>(this);
    this.ticked = new Signal<ILiveReport, ITick>(this);
    this.closed = new Signal<ILiveReport, void>(this);
  }

  requestWindow(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** What the kernel says when it is asked for advice. */
  adviceAnswer: IAdviceAnswer | undefined;
  adviceRequests = 0;

  requestAdvice(): Promise<IAdviceAnswer | undefined> {
    this.adviceRequests++;
    return Promise.resolve(this.adviceAnswer);
  }

  seen(tick: number): void {
    this.seenTicks.push(tick);
  }

  /** The kernel has reached `peak`. */
  say(number: number, peak: number): void {
    this.tick = {
      number,
      state: 'recording',
      step: 3,
      phase: 'backward',
      allocated: 512,
      peak,
      reserved: undefined,
      elapsedNs: 5e9,
      timeNs: [0, 1e9],
      curve: [100, peak]
    };
    this.ticked.emit(this.tick);
  }
}
