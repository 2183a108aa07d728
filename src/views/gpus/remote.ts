// The memory of a kernel by its own word, where the devices of the server are not its devices.
import { bytesIn } from '../../model/gpus/figures';
import type { GpuModel } from '../../model/gpus/model';
import { fileName } from '../../model/gpus/rows';
import { usageOn } from '../../model/gpus/parts';
import { element } from '../dom';
import { setText } from '../settext';
import type { ILineServices } from './processline';

/** Shows what the kernel in front tells of devices that the server does not have. */
export class OwnFigures {
  readonly node: HTMLElement;
  private readonly _note = element('p', { class: 'memtrack-Gpu-note' });
  private readonly _list = element('dl', { class: 'memtrack-Gpus-own' });
  private _shown = '';

  constructor(private readonly _services: ILineServices) {
    this.node = element('section', { class: 'memtrack-Gpu' }, this._note, this._list);
  }

  update(): void {
    const { model, trans } = this._services;
    const devices = elsewhere(model);
    const isRemote = model.state?.hasRemoteKernels === true;
    this.node.hidden = !isRemote && devices.length === 0;
    if (this.node.hidden) {
      return;
    }
    const name = fileName(model.notebook?.path ?? '') || trans.__('the notebook');
    const host = model.usage?.host ?? '';
    this.node.setAttribute('aria-label', trans.__('Memory of %1', name));
    setText(
      this._note,
      devices.length === 0
        ? trans.__(
            'Kernels run on another computer: the GPUs of this server are not theirs. Load memtrack in a notebook, and what its kernel holds is shown here.'
          )
        : trans.__(
            '%1 runs on %2: these are its own figures. The GPUs of this server are elsewhere.',
            name,
            host || trans.__('another computer')
          )
    );
    this._list.hidden = devices.length === 0;
    this._fill(devices);
  }

  private _fill(devices: ReturnType<typeof elsewhere>): void {
    const { model, trans } = this._services;
    const figure = (bytes: number): string => bytesIn(model.settings.units, bytes);
    const lines = devices.map(({ index, allocated, reserved, peak, context }) => [
      trans.__('GPU %1', index),
      context === undefined
        ? trans.__(
            '%1 tensors, %2 allocator cache, peak %3',
            figure(allocated),
            figure(reserved - allocated),
            figure(peak)
          )
        : trans.__(
            '%1 tensors, %2 allocator cache, %3 CUDA context, peak %4',
            figure(allocated),
            figure(reserved - allocated),
            figure(context),
            figure(peak)
          )
    ]);
    const shown = JSON.stringify(lines);
    if (shown !== this._shown) {
      this._shown = shown;
      this._list.replaceChildren(
        ...lines.flatMap(([term = '', text = '']) => [
          element('dt', {}, term),
          element('dd', {}, text)
        ])
      );
    }
  }
}

/** The devices of the kernel in front that are not among those of the server. */
function elsewhere(model: GpuModel): NonNullable<GpuModel['usage']>['devices'] {
  const { usage, state } = model;
  if (usage === undefined || (state === undefined && model.problem === undefined)) {
    return [];
  }
  const here = state?.devices ?? [];
  return usage.devices.filter(
    own => !here.some(device => usageOn(device, { ...usage, devices: [own] }) !== undefined)
  );
}
