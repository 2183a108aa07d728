// The comm to one kernel that tells what the kernel holds. Nothing is sent while nobody watches; a
// kernel in which memtrack is not loaded closes the comm, and announces itself once it is.
import type { Kernel, KernelMessage } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { decodeUsage } from '../wire/decodegpus';
import type { FreeAnswer } from '../wire/freed';
import { readFreeAnswer } from '../wire/freed';
import type { IUsage } from '../wire/gpus';

/** The target that the kernel half of memtrack answers. */
export const USAGE_TARGET = 'memtrack.usage';

type Settle = (answer: FreeAnswer | undefined) => void;

/** What a kernel connection tells of its memory. */
export class UsageComm implements IDisposable {
  private readonly _usageChanged = new Signal<this, IUsage | undefined>(this);
  private _usage: IUsage | undefined;
  private _comm: Kernel.IComm | undefined;
  private _isWatching = false;
  // Whether memtrack is known to be loaded, and whether the kernel was asked: a server notes each
  // question that nobody answers.
  private _isLoaded = false;
  private _hasAsked = false;
  private _intervalMs = 1000;
  private _waiting: Settle[] = [];
  private _isDisposed = false;

  constructor(private readonly _kernel: Kernel.IKernelConnection) {
    if (_kernel.handleComms) {
      _kernel.registerCommTarget(USAGE_TARGET, this._onAnnounced);
    }
    _kernel.statusChanged.connect(this._onStatus, this);
    _kernel.disposed.connect(this.dispose, this);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  get kernelId(): string {
    return this._kernel.id;
  }

  /** The latest; undefined where the kernel tells nothing. */
  get usage(): IUsage | undefined {
    return this._usage;
  }

  get usageChanged(): ISignal<this, IUsage | undefined> {
    return this._usageChanged;
  }

  /** Whether the kernel has memtrack loaded, as far as is known. */
  get isOpen(): boolean {
    return this._comm !== undefined;
  }

  /** Has the kernel tell its memory; where it does not yet, and `asks`, asks whether it can. */
  watch(intervalMs: number, asks: boolean): void {
    const isNews = !this._isWatching || intervalMs !== this._intervalMs;
    this._isWatching = true;
    this._intervalMs = intervalMs;
    if (this._comm !== undefined) {
      if (isNews) {
        this._send({ watching: true, interval_ms: intervalMs });
      }
    } else if (this._isLoaded || (asks && !this._hasAsked)) {
      this._hasAsked = true;
      this._open();
    }
  }

  /** Has the kernel stop. */
  unwatch(): void {
    if (this._isWatching) {
      this._isWatching = false;
      this._send({ watching: false });
    }
  }

  /** Gives back what is safe in the kernel; undefined where memtrack is not loaded or the kernel ends. */
  free(): Promise<FreeAnswer | undefined> {
    return new Promise(resolve => {
      this._waiting.push(resolve);
      if (this._comm === undefined) {
        this._open();
      }
      if (!this._send({ free: true })) {
        this._settle(undefined);
      }
    });
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    if (!this._kernel.isDisposed) {
      if (this._kernel.handleComms) {
        this._kernel.removeCommTarget(USAGE_TARGET, this._onAnnounced);
      }
      const comm = this._comm;
      this._forget();
      if (comm !== undefined && !comm.isDisposed && this._kernel.status !== 'dead') {
        comm.close();
      }
    }
    this._settle(undefined);
    Signal.clearData(this);
  }

  private _open(): void {
    const { status, handleComms } = this._kernel;
    if (!handleComms || this._kernel.isDisposed || status === 'dead') {
      return;
    }
    const comm = this._kernel.createComm(USAGE_TARGET);
    comm.onMsg = message => this._receive(message);
    comm.onClose = () => {
      if (this._comm === comm) {
        this._forget();
      }
    };
    this._comm = comm;
    comm.open({ interval_ms: this._intervalMs, watching: this._isWatching });
    if (!this._isWatching) {
      this._send({ watching: false });
    }
  }

  /** The kernel has loaded memtrack just now; the comm it says so with is not for talking. */
  private readonly _onAnnounced = (announcement: Kernel.IComm): void => {
    announcement.onClose = () => undefined;
    this._comm = undefined;
    this._isLoaded = true;
    if (this._isWatching) {
      this._open();
    }
  };

  private _receive({ content }: KernelMessage.ICommMsgMsg): void {
    try {
      const answer = readFreeAnswer(content.data);
      if (answer !== undefined) {
        this._settle(answer);
        return;
      }
      this._usage = decodeUsage(content.data);
    } catch (error) {
      // A kernel with another version of memtrack: as if it told nothing.
      console.warn('memtrack: what the kernel says of its memory cannot be read.', error);
      this._usage = undefined;
    }
    this._usageChanged.emit(this._usage);
  }

  private _onStatus(_: Kernel.IKernelConnection, status: Kernel.Status): void {
    if (['restarting', 'autorestarting', 'terminating', 'dead'].includes(status)) {
      this._isLoaded = false;
      this._hasAsked = true;
      this._forget();
    }
  }

  /** The other end is gone. */
  private _forget(): void {
    this._comm = undefined;
    this._settle(undefined);
    if (this._usage !== undefined) {
      this._usage = undefined;
      this._usageChanged.emit(undefined);
    }
  }

  private _send(data: JSONObject): boolean {
    if (this._comm === undefined || this._comm.isDisposed || this._kernel.isDisposed) {
      return false;
    }
    this._comm.send(data);
    return true;
  }

  private _settle(answer: FreeAnswer | undefined): void {
    const waiting = this._waiting;
    this._waiting = [];
    waiting.forEach(resolve => resolve(answer));
  }
}
