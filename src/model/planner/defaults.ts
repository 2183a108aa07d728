// What a planner begins with where a plan tells nothing: 7 B in training, Llama 3 8 B in generation.
import type { IKvInputs, ILedgerInputs, ILoadingInputs, IPlan } from '../../wire/plan';
import { nearestStop } from './count';

/** The inputs of all planners, so that a reader can go from one to another. */
export interface IPlannerInputs {
  readonly ledger: ILedgerInputs;
  readonly kv: IKvInputs;
  readonly loading: ILoadingInputs;
}

const DEFAULTS: IPlannerInputs = {
  ledger: {
    parameters: 7e9,
    dtype: 'bf16',
    optimizer: 'adamw',
    mixed: 'master',
    zero: 0,
    gpus: 1,
    lora: 0,
    layers: 32,
    hidden: 4096,
    heads: 32,
    sequence: 0,
    batch: 1,
    vocabulary: 0,
    checkpointing: false,
    flash: true
  },
  kv: {
    layers: 32,
    kv_heads: 8,
    key_size: 128,
    value_size: 128,
    length: 8192,
    batch: 1,
    dtype: 'bf16',
    cache_dtype: 'bf16',
    window: 0,
    windowed: 0,
    parameters: 8_030_261_248,
    hidden: 4096,
    heads: 32,
    intermediate: 14_336,
    vocabulary: 128_256,
    prompt: 0,
    flash: true
  },
  loading: { parameters: 7e9, stored: 'bf16', dtype: 'bf16', built: 'fp32', largest: 0 }
};

/** Returns the inputs of `plan`, and those of the other planners with what they have in common. */
export function inputsOf(plan: IPlan): IPlannerInputs {
  const { parameters } = plan.inputs;
  const shared = parameters > 0 ? { parameters } : {};
  return {
    ledger: plan.kind === 'ledger' ? plan.inputs : { ...DEFAULTS.ledger, ...shared },
    // The shape of generation belongs to its own number of parameters.
    kv: plan.kind === 'kv' ? plan.inputs : DEFAULTS.kv,
    loading: plan.kind === 'loading' ? plan.inputs : { ...DEFAULTS.loading, ...shared }
  };
}

/** Layers, hidden size and heads of usual decoders by their parameters: GPT-3 (Brown et al. 2020, table 2.1),
 * Llama 1 to 3 (Touvron et al. 2023; Dubey et al. 2024). */
const USUAL_SHAPES: readonly (readonly [number, number, number, number])[] = [
  [125e6, 12, 768, 12],
  [350e6, 24, 1024, 16],
  [1.3e9, 24, 2048, 32],
  [2.7e9, 32, 2560, 32],
  [7e9, 32, 4096, 32],
  [13e9, 40, 5120, 40],
  [33e9, 60, 6656, 52],
  [70e9, 80, 8192, 64],
  [175e9, 96, 12_288, 96],
  [405e9, 126, 16_384, 128]
];

/**
 * Returns training inputs that make sense: a mix of precisions that its dtype allows, and where there is a
 * sequence a shape of the model as well, a usual one for what nobody chose.
 */
export function sensible(inputs: ILedgerInputs): ILedgerInputs {
  const isWrong =
    (inputs.mixed === 'autocast' && inputs.dtype !== 'fp32') ||
    (inputs.mixed === 'master' && inputs.dtype === 'fp32');
  const mixed = isWrong ? 'none' : inputs.mixed;
  if (inputs.sequence === 0) {
    return { ...inputs, mixed };
  }
  const sizes = USUAL_SHAPES.map(([parameters]) => parameters);
  const [, layers = 0, hidden = 0, heads = 0] =
    USUAL_SHAPES[nearestStop(sizes, inputs.parameters)] ?? [];
  return {
    ...inputs,
    mixed,
    layers: inputs.layers || layers,
    hidden: inputs.hidden || hidden,
    heads: inputs.heads || heads
  };
}

/** Returns generation inputs that make sense: a window that no layer has would change nothing. */
export function sensibleWindow(inputs: IKvInputs): IKvInputs {
  const { layers, window, windowed } = inputs;
  return {
    ...inputs,
    windowed: Math.min(windowed === 0 && window > 0 ? layers : windowed, layers)
  };
}
