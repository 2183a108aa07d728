// The traffic of one live report: what the kernel sends becomes checked values and signals, what the
// views want becomes messages. It knows nothing of widgets.
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { ILiveReport } from '../model/live';
import type { IWindow } from '../model/window';
import type { BinaryBuffer, IAdviceAnswer, IReport, ITick, ITimeline } from '../wire';
import {
  adviceRequest,
  decodeTimeline,
  readMessage,
  readReportTrait,
  seenMessage,
  windowRequest
} from '../wire';

/** Sends one message to the kernel. */
export type Send = (content: Readonly<Record<string, string | number>>) => void;

interface IPending {
  readonly request: number;
  readonly resolve: (timeline: ITimeline | undefined) => void;
}

// A kernel stops after twenty ticks without an answer. Each answer has JupyterLab believe for a moment
// that the kernel is idle, so no more of them than that needs.
const TICKS_AN_ANSWER = 10;

/** A live report over a pair of message streams. */
export class ReportChannel implements ILiveReport {
  private readonly _reportChanged = new Signal<this, void>(this);
  private readonly _ticked = new Signal<this, ITick>(this);
  private readonly _closed = new Signal<this, void>(this);
  private _report: IReport | undefined;
  private _tick: ITick | undefined;
  private _isClosed = false;
  private _pending: IPending | undefined;
  // One question at a time: who asks while it is open gets the same answer.
  private _asked:
    { readonly answer: Promise<IAdviceAnswer | undefined>; readonly request: number } | undefined;
  private _answerAdvice: ((answer: IAdviceAnswer | undefined) => void) | undefined;
  private _requests = 0;
  private _seen = -1;

  constructor(
    readonly id: string,
    private readonly _send: Send
  ) {}

  get report(): IReport | undefined {
    return this._report;
  }

  get tick(): ITick | undefined {
    return this._tick;
  }

  get isClosed(): boolean {
    return this._isClosed;
  }

  get reportChanged(): ISignal<this, void> {
    return this._reportChanged;
  }

  get ticked(): ISignal<this, ITick> {
    return this._ticked;
  }

  get closed(): ISignal<this, void> {
    return this._closed;
  }

  requestWindow(view: number, window: IWindow, buckets: number): Promise<ITimeline | undefined> {
    this._settle(undefined);
    if (this._isClosed) {
      return Promise.resolve(undefined);
    }
    const request = ++this._requests;
    return new Promise(resolve => {
      this._pending = { request, resolve };
      this._send(windowRequest(request, view, window, buckets));
    });
  }

  requestAdvice(): Promise<IAdviceAnswer | undefined> {
    if (this._isClosed) {
      return Promise.resolve(undefined);
    }
    if (this._asked === undefined) {
      const request = ++this._requests;
      const answer = new Promise<IAdviceAnswer | undefined>(resolve => {
        this._answerAdvice = resolve;
      });
      this._asked = { request, answer };
      this._send(adviceRequest(request));
    }
    return this._asked.answer;
  }

  seen(tick: number): void {
    const isFirst = this._seen < 0;
    if (!this._isClosed && (isFirst || tick - this._seen >= TICKS_AN_ANSWER)) {
      this._seen = tick;
      this._send(seenMessage(tick));
    }
  }

  /** Takes the value of the trait that holds the report. */
  receiveReport(trait: unknown): void {
    const report = readReportTrait(trait);
    if (report !== undefined) {
      this._report = report;
      this._reportChanged.emit();
    }
  }

  /** Takes a message; one of a kind that is not known is ignored. */
  receive(content: unknown, buffers: readonly BinaryBuffer[]): void {
    const message = readMessage(content);
    if (message?.type === 'tick') {
      this._tick = message.tick;
      this._ticked.emit(message.tick);
    } else if (message?.type === 'window' && message.request === this._pending?.request) {
      this._settle(decodeTimeline(message.timeline, buffers, this._report?.layers.length ?? 0));
    } else if (message?.type === 'advice' && message.request === this._asked?.request) {
      this._settleAdvice(message.answer);
    }
  }

  /** The kernel or the widget is gone. */
  close(): void {
    if (!this._isClosed) {
      this._isClosed = true;
      this._settle(undefined);
      this._settleAdvice(undefined);
      this._closed.emit();
    }
  }

  private _settleAdvice(answer: IAdviceAnswer | undefined): void {
    const resolve = this._answerAdvice;
    this._asked = undefined;
    this._answerAdvice = undefined;
    resolve?.(answer);
  }

  private _settle(timeline: ITimeline | undefined): void {
    const pending = this._pending;
    this._pending = undefined;
    pending?.resolve(timeline);
  }
}
