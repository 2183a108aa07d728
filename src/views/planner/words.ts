// The words of the planner.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatBytes, formatCount } from '../../base/bytes';
import type { Verdict } from '../../model/planner/parts';
import type { ICapacity, ILedgerInputs, IPlan, Optimizer } from '../../wire/plan';
import { partName } from '../names';

export type PlanKind = IPlan['kind'];

export function kindName(kind: PlanKind, trans: TranslationBundle): string {
  switch (kind) {
    case 'ledger':
      return trans.__('Training');
    case 'kv':
      return trans.__('Generation');
    case 'loading':
      return trans.__('Loading');
  }
}

/** Returns the name of an optimizer. */
export function optimizerName(optimizer: Optimizer, trans: TranslationBundle): string {
  const names: Readonly<Record<Exclude<Optimizer, 'none'>, string>> = {
    adamw: 'AdamW',
    adam: 'Adam',
    adam8bit: '8-bit Adam',
    adafactor: 'Adafactor',
    lion: 'Lion',
    momentum: 'SGD + momentum',
    rmsprop: 'RMSprop',
    adagrad: 'Adagrad',
    sgd: 'SGD'
  };
  return optimizer === 'none' ? trans.__('none: no training') : names[optimizer];
}

/** Returns the name of a part, as it is in this plan. */
export function planPartName(
  id: string,
  ledger: ILedgerInputs | undefined,
  trans: TranslationBundle
): string {
  if (id === 'cast_weight' && ledger?.mixed === 'master') {
    return trans.__('fp32 master weights');
  }
  if (id === 'communication' && ledger?.zero === 3) {
    return trans.__('gathered layers');
  }
  if (id === 'output') {
    return trans.__('logits');
  }
  return id === 'cache_kv' ? trans.__('KV cache') : partName(id, trans);
}

/** Returns the answer in a sentence: how much for what. */
export function totalText(
  kind: PlanKind,
  total: number,
  parameters: number,
  trans: TranslationBundle
): string {
  const size = formatBytes(total);
  const count = formatCount(parameters);
  switch (kind) {
    case 'ledger':
      return trans.__('%1 on each GPU to train %2 parameters', size, count);
    case 'kv':
      return trans.__('%1 to generate with %2 parameters', size, count);
    case 'loading':
      return trans.__('At least %1 on the GPU to load %2 parameters', size, count);
  }
}

/** Returns whether it fits, with what is left or missing. */
export function verdictText(
  verdict: Verdict,
  total: number,
  gpu: ICapacity,
  trans: TranslationBundle
): string {
  const size = formatBytes(gpu.usable);
  const where = gpu.name === '' ? size : trans.__('%1 (%2)', gpu.name, size);
  switch (verdict) {
    case 'fits':
      return trans.__('Fits %1: %2 left', where, formatBytes(gpu.usable - total));
    case 'close':
      return trans.__('Too close to call on %1: the CUDA context may not fit beside it', where);
    case 'over':
      return trans.__(
        'Does not fit %1: %2 too much, and the CUDA context',
        where,
        formatBytes(Math.max(0, total - gpu.usable))
      );
  }
}

/** Returns the name of a way to load, which is mostly the code of it. */
export function wayName(id: string, trans: TranslationBundle): string {
  switch (id) {
    case 'load_cpu':
      return trans.__("torch.load, load_state_dict, then .to('cuda', dtype)");
    case 'load_cuda':
      return trans.__("torch.load(map_location='cuda') into a model on the GPU, then .to(dtype)");
    case 'mmap':
      return trans.__("torch.load(mmap=True), load_state_dict, then .to('cuda', dtype)");
    case 'assign':
      return trans.__("torch.load, load_state_dict(assign=True), then .to('cuda', dtype)");
    case 'meta':
      return trans.__("model on meta, torch.load, assign=True, then .to('cuda', dtype)");
    case 'meta_mmap':
      return trans.__("model on meta, torch.load(mmap=True), assign=True, then .to('cuda', dtype)");
    case 'safetensors':
      return trans.__("safetensors load_file, load_state_dict, then .to('cuda', dtype)");
    case 'safetensors_cuda':
      return trans.__(
        "model on meta, safetensors load_file(device='cuda'), assign=True, then .to(dtype)"
      );
    case 'pretrained_old':
      return trans.__(
        "from_pretrained(name) of transformers 4, which makes fp32, then .to('cuda', dtype)"
      );
    case 'pretrained':
      return trans.__(
        'from_pretrained(name, dtype=dtype), then .cuda(); transformers 4: low_cpu_mem_usage=True'
      );
    case 'pretrained_device_map':
      return trans.__("from_pretrained(name, dtype=dtype, device_map='cuda')");
    default:
      return id;
  }
}
