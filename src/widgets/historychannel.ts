// The traffic of one live history: each question gets the answer with its number. It knows no widgets.
import type { JSONObject } from '@lumino/coreutils';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { IHistoryQuery, ILiveHistory, RunChange } from '../model/history/live';
import { HistoryError } from '../model/history/live';
import type { BinaryBuffer } from '../wire';
import { WireError } from '../wire';
import type { IComparison } from '../wire/comparison';
import type { HistoryAnswer } from '../wire/historymessages';
import { readHistoryAnswer } from '../wire/historymessages';
import type { IHistory, IRun } from '../wire/runs';

/** Sends one message to the kernel. */
export type SendHistory = (content: JSONObject) => void;

interface IQuestion {
  readonly resolve: (answer: HistoryAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** A live history over a pair of message streams. */
export class HistoryChannel implements ILiveHistory {
  private readonly _closed = new Signal<this, void>(this);
  private readonly _questions = new Map<number, IQuestion>();
  private _requests = 0;
  private _isClosed = false;

  constructor(
    readonly id: string,
    private readonly _send: SendHistory
  ) {}

  get isClosed(): boolean {
    return this._isClosed;
  }

  get closed(): ISignal<this, void> {
    return this._closed;
  }

  async list(query: IHistoryQuery): Promise<IHistory> {
    const answer = await this._ask({ type: 'list', ...query });
    if (answer.type !== 'list') {
      throw unexpected(answer);
    }
    return answer.history;
  }

  async change(run: number, change: RunChange): Promise<readonly IRun[]> {
    const answer = await this._ask({ ...change, id: run });
    if (answer.type !== 'runs') {
      throw unexpected(answer);
    }
    return answer.runs;
  }

  async compare(a: number, b: number): Promise<IComparison> {
    const answer = await this._ask({ type: 'diff', a, b });
    if (answer.type !== 'diff') {
      throw unexpected(answer);
    }
    return answer.comparison;
  }

  /** Takes a message; one that nobody asked for is ignored. */
  receive(content: unknown, buffers: readonly BinaryBuffer[]): void {
    try {
      const answer = readHistoryAnswer(content, buffers);
      const question = answer && this._take(answer.request);
      if (answer?.type === 'error') {
        question?.reject(new HistoryError(answer.sentence));
      } else if (answer !== undefined) {
        question?.resolve(answer);
      }
    } catch (error) {
      // Damaged: whose answer it was to be is still told, if anything is.
      const request = (content as { readonly request?: unknown } | null)?.request;
      const question = typeof request === 'number' ? this._take(request) : undefined;
      if (question === undefined || !(error instanceof WireError)) {
        throw error;
      }
      question.reject(error);
    }
  }

  /** The kernel or the widget is gone. */
  close(): void {
    if (!this._isClosed) {
      this._isClosed = true;
      const questions = [...this._questions.values()];
      this._questions.clear();
      questions.forEach(({ reject }) => reject(new HistoryError(undefined)));
      this._closed.emit();
    }
  }

  private _ask(content: JSONObject): Promise<HistoryAnswer> {
    if (this._isClosed) {
      return Promise.reject(new HistoryError(undefined));
    }
    const request = ++this._requests;
    return new Promise((resolve, reject) => {
      this._questions.set(request, { resolve, reject });
      this._send({ ...content, request });
    });
  }

  private _take(request: number): IQuestion | undefined {
    const question = this._questions.get(request);
    this._questions.delete(request);
    return question;
  }
}

function unexpected(answer: HistoryAnswer): Error {
  return new Error(`memtrack: the kernel answered with ${answer.type}`);
}
