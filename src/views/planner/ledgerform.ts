// The controls of a plan of training.
import type { TranslationBundle } from '@jupyterlab/translation';

import { MODEL_SIZES, MOST_PARAMETERS, powers } from '../../model/planner/count';
import { sensible } from '../../model/planner/defaults';
import type { ILedgerInputs } from '../../wire/plan';
import { FLOATS, MIXED, OPTIMIZERS } from '../../wire/plan';
import { Form } from './form';
import { optimizerName } from './words';

const LORA_PERCENTS = ['0', '0.1', '0.25', '0.5', '1', '2', '5'] as const;
const STAGES = ['0', '1', '2', '3'] as const;

/** Returns the form; `changed` hears of every choice. */
export function ledgerForm(
  inputs: ILedgerInputs,
  trans: TranslationBundle,
  changed: (inputs: ILedgerInputs) => void
): HTMLElement {
  const form = new Form(inputs, sensible, changed);
  addModel(form, trans);
  addDevices(form, trans);
  addActivations(form, trans);
  return form.node;
}

function addModel(form: Form<ILedgerInputs>, trans: TranslationBundle): void {
  const mixed = {
    none: trans.__('not mixed'),
    autocast: 'autocast',
    master: trans.__('fp32 master weights')
  };
  form.group(
    trans.__('Model'),
    form.count(
      { label: trans.__('Parameters'), least: 1, most: MOST_PARAMETERS, stops: MODEL_SIZES },
      'parameters'
    ),
    form.choice(
      trans.__('Weights'),
      FLOATS.map(each => [each, each] as const),
      'dtype'
    ),
    form.choice(
      trans.__('Mixed precision'),
      MIXED.map(each => [each, mixed[each]] as const),
      'mixed',
      ({ dtype }) => (dtype === 'fp32' ? ['master'] : ['autocast'])
    ),
    form.choice(
      trans.__('Optimizer'),
      OPTIMIZERS.map(each => [each, optimizerName(each, trans)] as const),
      'optimizer'
    ),
    form.choice(
      trans.__('LoRA adapters'),
      LORA_PERCENTS.map(each => [each, each === '0' ? trans.__('none') : `${each} %`] as const),
      {
        read: ({ lora }) => nearestPercent(100 * lora),
        write: percent => ({ lora: Number(percent) / 100 })
      }
    )
  );
}

function addDevices(form: Form<ILedgerInputs>, trans: TranslationBundle): void {
  const stages = {
    '0': trans.__('DDP: nothing sharded'),
    '1': trans.__('ZeRO 1: optimizer state'),
    '2': trans.__('ZeRO 2: gradients too'),
    '3': trans.__('ZeRO 3, FSDP: weights too')
  };
  form.group(
    trans.__('GPUs'),
    form.count({ label: trans.__('Number'), least: 1, most: 65_536, stops: powers(0, 10) }, 'gpus'),
    form.choice(
      trans.__('Sharding'),
      STAGES.map(each => [each, stages[each]] as const),
      { read: ({ zero }) => STAGES[zero] ?? '0', write: stage => ({ zero: Number(stage) }) }
    )
  );
}

function addActivations(form: Form<ILedgerInputs>, trans: TranslationBundle): void {
  const most = 1e7;
  form.group(
    trans.__('Activations of a transformer'),
    form.count(
      {
        label: trans.__('Sequence'),
        least: 0,
        most: 1e8,
        stops: [0, ...powers(7, 17)],
        zero: trans.__('off')
      },
      'sequence'
    ),
    form.count(
      { label: trans.__('Batch on a GPU'), least: 1, most: 1e6, stops: powers(0, 9) },
      'batch'
    ),
    form.count({ label: trans.__('Layers'), least: 0, most }, 'layers'),
    form.count({ label: trans.__('Hidden size'), least: 0, most }, 'hidden'),
    form.count({ label: trans.__('Heads'), least: 0, most }, 'heads'),
    form.count({ label: trans.__('Vocabulary'), least: 0, most }, 'vocabulary'),
    form.check(trans.__('fused attention'), 'flash'),
    form.check(trans.__('checkpoint every layer'), 'checkpointing')
  );
}

function nearestPercent(percent: number): (typeof LORA_PERCENTS)[number] {
  const distance = (each: string): number => Math.abs(Number(each) - percent);
  return LORA_PERCENTS.reduce((best, each) => (distance(each) < distance(best) ? each : best));
}
