// The controls of a plan of generation.
import type { TranslationBundle } from '@jupyterlab/translation';

import { MODEL_SIZES, MOST_PARAMETERS, powers } from '../../model/planner/count';
import type { IKvInputs } from '../../wire/plan';
import { DTYPES } from '../../wire/plan';
import { Form } from './form';

const NAMED = DTYPES.map(each => [each, each] as const);

/** Returns the form; `changed` hears of every choice. */
export function kvForm(
  inputs: IKvInputs,
  trans: TranslationBundle,
  changed: (inputs: IKvInputs) => void
): HTMLElement {
  const form = new Form(inputs, tidy, changed);
  addSequences(form, trans);
  addModel(form, trans);
  return form.node;
}

function tidy(inputs: IKvInputs): IKvInputs {
  return { ...inputs, windowed: Math.min(inputs.windowed, inputs.layers) };
}

function addSequences(form: Form<IKvInputs>, trans: TranslationBundle): void {
  form.group(
    trans.__('Sequences'),
    form.count(
      { label: trans.__('Tokens of each'), least: 1, most: 1e8, stops: powers(7, 20) },
      inputs => inputs.length,
      length => ({ length })
    ),
    form.count(
      { label: trans.__('At a time'), least: 1, most: 1e6, stops: powers(0, 10) },
      inputs => inputs.batch,
      batch => ({ batch })
    ),
    form.count(
      {
        label: trans.__('Read at once'),
        least: 0,
        most: 1e8,
        stops: [0, ...powers(7, 20)],
        zero: trans.__('all')
      },
      inputs => inputs.prompt,
      prompt => ({ prompt })
    ),
    form.choice(
      trans.__('Cache'),
      NAMED,
      inputs => inputs.cache_dtype,
      dtype => ({ cache_dtype: dtype })
    )
  );
}

function addModel(form: Form<IKvInputs>, trans: TranslationBundle): void {
  const box = (
    label: string,
    least: number,
    read: (inputs: IKvInputs) => number,
    write: (value: number) => Partial<IKvInputs>
  ): ReturnType<typeof form.count> => form.count({ label, least, most: 1e7 }, read, write);
  form.group(
    trans.__('Model'),
    form.count(
      { label: trans.__('Parameters'), least: 0, most: MOST_PARAMETERS, stops: MODEL_SIZES },
      inputs => inputs.parameters,
      parameters => ({ parameters })
    ),
    form.choice(
      trans.__('Weights'),
      NAMED,
      inputs => inputs.dtype,
      dtype => ({ dtype })
    ),
    box(
      trans.__('Layers'),
      1,
      inputs => inputs.layers,
      layers => ({ layers })
    ),
    box(
      trans.__('KV heads'),
      1,
      inputs => inputs.kv_heads,
      heads => ({ kv_heads: heads })
    ),
    box(
      trans.__('Head size'),
      1,
      inputs => inputs.key_size,
      size => ({ key_size: size, value_size: size })
    ),
    box(
      trans.__('Sliding window'),
      0,
      inputs => inputs.window,
      tokens => ({ window: tokens })
    ),
    box(
      trans.__('Layers with it'),
      0,
      inputs => inputs.windowed,
      windowed => ({ windowed })
    ),
    form.check(
      trans.__('fused attention'),
      inputs => inputs.flash,
      flash => ({ flash })
    )
  );
}
