// The controls of a plan of loading.
import type { TranslationBundle } from '@jupyterlab/translation';

import { MODEL_SIZES, MOST_PARAMETERS } from '../../model/planner/count';
import type { ILoadingInputs } from '../../wire/plan';
import { DTYPES } from '../../wire/plan';
import { Form } from './form';

const NAMED = DTYPES.map(each => [each, each] as const);

/** Returns the form; `changed` hears of every choice. */
export function loadingForm(
  inputs: ILoadingInputs,
  trans: TranslationBundle,
  changed: (inputs: ILoadingInputs) => void
): HTMLElement {
  const form = new Form(inputs, tidy, changed);
  form.group(
    trans.__('Checkpoint'),
    form.count(
      { label: trans.__('Parameters'), least: 1, most: MOST_PARAMETERS, stops: MODEL_SIZES },
      'parameters'
    ),
    form.choice(trans.__('In the file'), NAMED, 'stored'),
    form.choice(trans.__('In the model'), NAMED, 'dtype'),
    form.choice(trans.__('Made by the class as'), NAMED, 'built')
  );
  return form.node;
}

function tidy(inputs: ILoadingInputs): ILoadingInputs {
  return { ...inputs, largest: Math.min(inputs.largest, inputs.parameters) };
}
