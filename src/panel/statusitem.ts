// The memory of the kernel in front, in the status bar. A click opens the panel.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { bytesIn } from '../model/gpus/figures';
import type { GpuModel } from '../model/gpus/model';
import { fileName } from '../model/gpus/rows';
import type { IDeviceUsage } from '../wire/gpus';
import { button } from '../views/dom';
import { setText } from '../views/settext';

/** Shows what the kernel in front holds on its GPUs; inactive where it holds nothing. */
export class GpuStatusItem extends Widget {
  private readonly _button: HTMLButtonElement;
  private readonly _activeChanged = new Signal<this, void>(this);
  private _isActive = false;

  constructor(
    private readonly _model: GpuModel,
    private readonly _trans: TranslationBundle,
    open: () => void
  ) {
    super();
    this.addClass('memtrack-GpuStatus');
    this._button = button({ class: 'memtrack-GpuStatus-button' }, open);
    this.node.append(this._button);
    _model.changed.connect(this._onChanged, this);
    this._onChanged();
  }

  get isActive(): boolean {
    return this._isActive;
  }

  get activeChanged(): ISignal<this, void> {
    return this._activeChanged;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._model.changed.disconnect(this._onChanged, this);
      super.dispose();
    }
  }

  private _onChanged(): void {
    const { usage, settings, notebook } = this._model;
    const devices = settings.hasStatusItem ? (usage?.devices ?? []) : [];
    if (devices.length > 0) {
      const figure = (bytes: number): string => bytesIn(settings.units, bytes);
      const held = devices.reduce((sum, device) => sum + heldOn(device), 0);
      setText(this._button, this._trans.__('GPU %1', figure(held)));
      const lines = devices.map(device =>
        this._trans.__(
          'GPU %1: %2 tensors, %3 allocator cache, %4 CUDA context',
          device.index,
          figure(device.allocated),
          figure(device.reserved - device.allocated),
          device.context === undefined ? '?' : figure(device.context)
        )
      );
      const name = fileName(notebook?.path ?? '');
      const title = [this._trans.__('GPU memory of %1', name), ...lines].join('\n');
      if (this._button.title !== title) {
        this._button.title = title;
      }
    }
    if (this._isActive !== devices.length > 0) {
      this._isActive = devices.length > 0;
      this._activeChanged.emit();
    }
  }
}

function heldOn({ reserved, context }: IDeviceUsage): number {
  return reserved + (context ?? 0);
}
