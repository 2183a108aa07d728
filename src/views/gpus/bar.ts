// The bar of a device. Its segments live as long as what they stand for, so that they grow and shrink
// in place and nothing flickers.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatPercent } from '../../base/bytes';
import { bytesIn } from '../../model/gpus/figures';
import type { GpuModel } from '../../model/gpus/model';
import type { IDevicePart } from '../../model/gpus/parts';
import type { IGpuDevice } from '../../wire/gpus';
import { element } from '../dom';
import { partTitle } from './words';

/** The parts of one device from zero to its total. */
export class GpuBar {
  readonly node = element('div', { class: 'memtrack-Gpu-bar', role: 'img' });
  private readonly _segments = new Map<string, HTMLElement>();

  constructor(
    private readonly _model: GpuModel,
    private readonly _trans: TranslationBundle
  ) {}

  update(device: IGpuDevice, parts: readonly IDevicePart[]): void {
    const { units } = this._model.settings;
    const keys = new Set(parts.map(({ key }) => key));
    for (const [key, node] of this._segments) {
      if (!keys.has(key)) {
        node.remove();
        this._segments.delete(key);
      }
    }
    let before = 0;
    const said: string[] = [];
    for (const part of parts) {
      const text = `${partTitle(part, device, this._trans)} ${bytesIn(units, part.bytes)}`;
      said.push(text);
      const node = this._segmentOf(part);
      setTitle(node, `${text} (${formatPercent(part.bytes, device.total)})`);
      node.style.left = `${(100 * before) / Math.max(1, device.total)}%`;
      node.style.width = `${(100 * part.bytes) / Math.max(1, device.total)}%`;
      before += part.bytes;
    }
    const total = bytesIn(units, device.total);
    this.node.setAttribute('aria-label', this._trans.__('%1 in all: %2', total, said.join(', ')));
  }

  private _segmentOf(part: IDevicePart): HTMLElement {
    const known = this._segments.get(part.key);
    if (known !== undefined) {
      return known;
    }
    const node = element('span', { class: `memtrack-Gpu-part ${partClass(part, this._model)}` });
    this._segments.set(part.key, node);
    this.node.append(node);
    return node;
  }
}

/** The class that gives a part its colour and pattern, in the bar and beside its name. */
export function partClass({ kind, kernelId }: IDevicePart, model: GpuModel): string {
  const colour = kind === 'kernel' ? ` memtrack-mod-kernel${model.colourOf(kernelId)}` : '';
  return `memtrack-mod-${kind}${colour}`;
}

/** Sets the title only if it is another, so that one that is shown stays. */
function setTitle(node: HTMLElement, title: string): void {
  if (node.title !== title) {
    node.title = title;
  }
}
