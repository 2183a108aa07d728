// How the bytes of each part are found, and by whom the formula is: what planwords.py says in text and HTML.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatCount } from '../../base/bytes';
import { bitsOf } from '../../model/planner/elements';
import type { IPlanPart } from '../../model/planner/parts';
import type { IKvInputs, ILedgerInputs } from '../../wire/plan';

/** Returns how a part of training is found. */
export function ledgerFormula(
  part: IPlanPart,
  inputs: ILedgerInputs,
  trans: TranslationBundle
): string {
  switch (part.id) {
    case 'activation':
      return activationFormula(inputs, trans);
    case 'output':
      return trans.__('tokens × vocabulary × 4 bytes');
    case 'communication':
      return communicationFormula(inputs, trans);
  }
  const isCast = part.id === 'cast_weight' && inputs.mixed === 'autocast';
  if (isCast && inputs.zero >= 3 && inputs.gpus > 1) {
    return trans.__('the weights of the running layer × 2 bytes');
  }
  const isWhole = part.id === 'parameter' || isCast;
  const sharded = part.id === 'parameter' ? 3 : part.id === 'gradient' ? 2 : 1;
  const adapters = Math.floor(inputs.parameters * inputs.lora + 0.5);
  const count = isWhole ? inputs.parameters + adapters : adapters || inputs.parameters;
  const isShared = inputs.zero >= sharded && !isCast;
  return perParameter(part.bytes, count, isShared ? inputs.gpus : 1, trans);
}

/** Returns how a part of generation is found. */
export function kvFormula(part: IPlanPart, inputs: IKvInputs, trans: TranslationBundle): string {
  switch (part.id) {
    case 'cache_kv':
      return trans.__('(key + value) × KV heads × layers × tokens × batch');
    case 'output':
      return trans.__('of one token, and an fp32 copy');
    case 'workspace':
      return trans.__('reading the prompt, growing a layer, cuBLAS; estimated');
  }
  return perParameter(part.bytes, inputs.parameters, 1, trans);
}

/** With w bytes an element, as activations.py has it. */
function activationFormula(inputs: ILedgerInputs, trans: TranslationBundle): string {
  const width = inputs.mixed === 'none' ? bitsOf(inputs.dtype) / 8 : 2;
  const [whole, square] = [16 * width + 2, 2 * width + 1];
  const layer = inputs.flash ? `${whole} sbh` : `${whole} sbh + ${square} as²b`;
  // What one layer has while it is computed again is little beside the inputs of all.
  return inputs.checkpointing
    ? trans.__('%1 sbh a layer, and %2 once (Korthikanti et al. 2022); estimated', width, layer)
    : trans.__('%1 a layer (Korthikanti et al. 2022); estimated', layer);
}

function communicationFormula(inputs: ILedgerInputs, trans: TranslationBundle): string {
  if (inputs.zero === 0) {
    return trans.__("DDP's buckets; none with gradient_as_bucket_view=True");
  }
  return inputs.zero < 3
    ? trans.__('a bucket of up to 500 M gradients')
    : trans.__('the running layer whole, and the next one');
}

function perParameter(
  bytes: number,
  count: number,
  shards: number,
  trans: TranslationBundle
): string {
  const each = String(Number(((bytes * shards) / Math.max(1, count)).toPrecision(3)));
  return shards === 1
    ? trans.__('%1 × %2 bytes', formatCount(count), each)
    : trans.__('%1 × %2 bytes ÷ %3 GPUs', formatCount(count), each, shards);
}
