// The GPU that a plan is to fit: one of the table, or a size of the reader's own.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatBytes } from '../../base/bytes';
import type { ICapacity } from '../../wire/plan';
import { choice } from './controls';

/** A choice of GPU; `gpu` is undefined for none. */
export interface IGpuChoice {
  readonly node: HTMLElement;
  readonly gpu: ICapacity | undefined;
}

/** Returns a choice among `gpus`, with `first` chosen, which need not be among them. */
export function gpuChoice(
  gpus: readonly ICapacity[],
  first: ICapacity | undefined,
  changed: () => void,
  trans: TranslationBundle
): IGpuChoice {
  const isKnown = gpus.some(gpu => gpu.name === first?.name && gpu.usable === first.usable);
  const all = first === undefined || isKnown ? gpus : [first, ...gpus];
  const named = all.map((gpu, index) => {
    const size = formatBytes(gpu.usable);
    return [String(index), gpu.name === '' ? size : trans.__('%1 (%2)', gpu.name, size)] as const;
  });
  const control = choice(trans.__('To fit into'), [['', '—'] as const, ...named], changed);
  const index = all.findIndex(gpu => gpu.name === first?.name && gpu.usable === first.usable);
  control.value = index < 0 ? '' : String(index);
  return {
    node: control.node,
    get gpu() {
      return control.value === '' ? undefined : all[Number(control.value)];
    }
  };
}
