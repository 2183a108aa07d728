// The states of the devices as they come, for as long as somebody looks. A lost connection is made
// anew; where no websocket comes through, the state is asked for now and then.
import { URLExt } from '@jupyterlab/coreutils';
import type { ServerConnection } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { Backoff } from './backoff';
import type { GpuAnswer } from './gpus';
import { loadGpus, readGpus } from './gpus';

const FIRST_MS = 500;
const MOST_MS = 30_000;
// A server that answers requests but lets no websocket through is asked this often.
const POLL_MS = 5000;
// Figures older than so many intervals, and than so long, are not those of now: the network is slow.
const OLD_INTERVALS = 3;
const OLD_MS = 5000;
// A stream that says nothing for as many intervals, and so long, is dead whatever the socket says.
const SILENT_MS = 30_000;

/** A stream that opens its socket when started and has nothing open once stopped. */
export class GpuStream implements IDisposable {
  private readonly _answered = new Signal<this, GpuAnswer>(this);
  private readonly _backoff = new Backoff(FIRST_MS, MOST_MS);
  private _socket: WebSocket | undefined;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _silence: ReturnType<typeof setTimeout> | undefined;
  private _ageing: ReturnType<typeof setTimeout> | undefined;
  private _freshUntil: number | undefined;
  private _job = 0;
  private _isRunning = false;
  private _isDisposed = false;

  constructor(
    private readonly _settings: ServerConnection.ISettings,
    private _intervalMs: number
  ) {}

  /** A state, or why there is none. */
  get answered(): ISignal<this, GpuAnswer> {
    return this._answered;
  }

  get isRunning(): boolean {
    return this._isRunning;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  set intervalMs(intervalMs: number) {
    if (intervalMs !== this._intervalMs) {
      this._intervalMs = intervalMs;
      // The next state comes when it comes: what was to be expected before says nothing of its age.
      this._forgetAge();
      this._tellInterval();
    }
  }

  start(): void {
    if (!this._isRunning && !this._isDisposed) {
      this._isRunning = true;
      this._backoff.reset();
      this._age();
      this._open();
    }
  }

  stop(): void {
    this._isRunning = false;
    this._job += 1;
    clearTimeout(this._timer);
    clearTimeout(this._silence);
    clearTimeout(this._ageing);
    this._close();
  }

  /** Tries at once, if it is waiting to. */
  retry(): void {
    if (this._isRunning && this._socket === undefined) {
      clearTimeout(this._timer);
      this._backoff.reset();
      this._open();
    }
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this.stop();
      Signal.clearData(this);
    }
  }

  private _open(): void {
    const { wsUrl, token, appendToken, WebSocket: Socket } = this._settings;
    const path = URLExt.join(wsUrl, 'memtrack', 'api', 'gpus', 'stream');
    const query = appendToken && token !== '' ? `?token=${encodeURIComponent(token)}` : '';
    const socket = new Socket(path + query);
    this._socket = socket;
    socket.onopen = () => this._tellInterval();
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      this._backoff.reset();
      this._awaitNext();
      this._tell(readGpus(String(data)), OLD_MS);
    };
    socket.onclose = () => this._lost();
    // An error is followed by a close.
    socket.onerror = () => undefined;
    this._awaitNext();
  }

  private _close(): void {
    const socket = this._socket;
    this._socket = undefined;
    if (socket !== undefined) {
      socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
      socket.close();
    }
  }

  private _tellInterval(): void {
    // 1 is WebSocket.OPEN, which a page's own implementation need not have as a static.
    if (this._socket?.readyState === 1) {
      this._socket.send(JSON.stringify({ interval_ms: this._intervalMs }));
    }
  }

  private _awaitNext(): void {
    clearTimeout(this._silence);
    const patience = Math.max(SILENT_MS, OLD_INTERVALS * this._intervalMs);
    this._silence = setTimeout(() => this._lost(), patience);
  }

  private _tell(answer: GpuAnswer, leastMs: number): void {
    this._forgetAge();
    this._answered.emit(answer);
    if ('state' in answer) {
      this._freshUntil = Date.now() + Math.max(leastMs, OLD_INTERVALS * this._intervalMs);
      this._age();
    }
  }

  /** Says it once the latest state is old: on a slow network, or where nobody looked for a while. */
  private _age(): void {
    if (this._freshUntil !== undefined) {
      const left = Math.max(0, this._freshUntil - Date.now());
      this._ageing = setTimeout(() => {
        this._answered.emit({ problem: { id: 'slow', detail: '' } });
      }, left);
    }
  }

  private _forgetAge(): void {
    clearTimeout(this._ageing);
    this._freshUntil = undefined;
  }

  /** Learns by a request why, tells it, and tries again in a while. */
  private _lost(): void {
    clearTimeout(this._silence);
    this._close();
    const job = ++this._job;
    void loadGpus(this._settings).then(answer => {
      if (job === this._job && this._isRunning) {
        this._tell(answer, 2 * POLL_MS);
        const wait = this._backoff.next();
        this._timer = setTimeout(
          () => this._open(),
          'state' in answer ? Math.min(wait, POLL_MS) : wait
        );
      }
    });
  }
}
