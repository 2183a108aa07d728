// The controls of a plan of generation.
import type { TranslationBundle } from '@jupyterlab/translation';

import { MODEL_SIZES, MOST_PARAMETERS, powers } from '../../model/planner/count';
import { sensibleWindow } from '../../model/planner/defaults';
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
  const form = new Form(inputs, sensibleWindow, changed);
  addSequences(form, trans);
  addModel(form, trans);
  return form.node;
}

function addSequences(form: Form<IKvInputs>, trans: TranslationBundle): void {
  const tokens = { most: 1e8, stops: powers(7, 20) };
  form.group(
    trans.__('Sequences'),
    form.count({ label: trans.__('Tokens of each'), least: 1, ...tokens }, 'length'),
    form.count(
      { label: trans.__('At a time'), least: 1, most: 1e6, stops: powers(0, 10) },
      'batch'
    ),
    form.count(
      {
        label: trans.__('Read at once'),
        least: 0,
        most: tokens.most,
        stops: [0, ...tokens.stops],
        zero: trans.__('all')
      },
      'prompt'
    ),
    form.choice(trans.__('Cache'), NAMED, 'cache_dtype')
  );
}

function addModel(form: Form<IKvInputs>, trans: TranslationBundle): void {
  const most = 1e7;
  form.group(
    trans.__('Model'),
    form.count(
      { label: trans.__('Parameters'), least: 0, most: MOST_PARAMETERS, stops: MODEL_SIZES },
      'parameters'
    ),
    form.choice(trans.__('Weights'), NAMED, 'dtype'),
    form.count({ label: trans.__('Layers'), least: 1, most }, 'layers'),
    form.count({ label: trans.__('KV heads'), least: 1, most }, 'kv_heads'),
    form.count(
      { label: trans.__('Head size'), least: 1, most },
      { read: ({ key_size: size }) => size, write: size => ({ key_size: size, value_size: size }) }
    ),
    form.count(
      { label: trans.__('Sliding window'), least: 0, most, zero: trans.__('none') },
      'window'
    ),
    form.count({ label: trans.__('Layers with it'), least: 0, most }, 'windowed'),
    form.check(trans.__('fused attention'), 'flash')
  );
}
