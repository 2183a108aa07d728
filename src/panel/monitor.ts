// Asks server and kernels while somebody looks, and neither otherwise.
import type { ServerConnection } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import type { GpuAnswer } from '../api/gpus';
import { GpuStream } from '../api/gpustream';
import type { UsageComm } from '../api/usagecomm';
import { GpuModel } from '../model/gpus/model';
import type { GpuWatcher, IGpuMonitor } from '../model/gpus/monitor';
import type { Notebooks } from './notebooks';

/** Keeps a `GpuModel` up to date for those who look. */
export class GpuMonitor implements IGpuMonitor, IDisposable {
  readonly model = new GpuModel();
  private readonly _stream: GpuStream;
  private readonly _inSight = new Set<GpuWatcher>();
  private _comm: UsageComm | undefined;
  private _isDisposed = false;

  constructor(
    settings: ServerConnection.ISettings,
    readonly notebooks: Notebooks
  ) {
    this._stream = new GpuStream(settings, this.model.settings.intervalMs);
    this._stream.answered.connect(this._onAnswer, this);
    notebooks.changed.connect(this._onNotebook, this);
    document.addEventListener('visibilitychange', this._apply);
    this._onNotebook();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  setInSight(watcher: GpuWatcher, isInSight: boolean): void {
    this._inSight[isInSight ? 'add' : 'delete'](watcher);
    this._apply();
  }

  /** Takes the settings in the model up, after they have changed. */
  applySettings(): void {
    this._stream.intervalMs = this.model.settings.intervalMs;
    this._apply();
  }

  retry(): void {
    this._stream.retry();
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      document.removeEventListener('visibilitychange', this._apply);
      this._stream.dispose();
      this.notebooks.dispose();
      Signal.clearData(this);
    }
  }

  private readonly _apply = (): void => {
    const isPage = document.visibilityState !== 'hidden';
    const isPanel = isPage && this._inSight.has('panel');
    if (isPanel) {
      this._stream.start();
    } else {
      this._stream.stop();
    }
    const { hasStatusItem, intervalMs } = this.model.settings;
    if (isPanel || (isPage && hasStatusItem && this._inSight.has('status'))) {
      this._comm?.watch(intervalMs, isPanel || this.notebooks.isOfMemtrack);
    } else {
      this._comm?.unwatch();
    }
  };

  private _onAnswer(_: GpuStream, answer: GpuAnswer): void {
    if ('state' in answer) {
      this.model.receive(answer.state);
    } else {
      this.model.fail(answer.problem);
    }
  }

  private _onNotebook(): void {
    const { comm, current } = this.notebooks;
    if (comm !== this._comm) {
      if (this._comm !== undefined && !this._comm.isDisposed) {
        this._comm.unwatch();
        this._comm.usageChanged.disconnect(this._onUsage, this);
      }
      this._comm = comm;
      comm?.usageChanged.connect(this._onUsage, this);
    }
    this.model.notebook = current;
    this.model.usage = comm?.usage;
    this._apply();
  }

  private _onUsage(comm: UsageComm): void {
    this.model.usage = comm.usage;
  }
}
