// What a planner begins with where a plan tells nothing: 7 B in training, Llama 3 8 B in generation.
import type { IKvInputs, ILedgerInputs, ILoadingInputs, IPlan } from '../../wire/plan';

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

/** Returns training inputs that make sense: a mix of precisions that its dtype allows. */
export function sensible(inputs: ILedgerInputs): ILedgerInputs {
  const isWrong =
    (inputs.mixed === 'autocast' && inputs.dtype !== 'fp32') ||
    (inputs.mixed === 'master' && inputs.dtype === 'fp32');
  const mixed = isWrong ? 'none' : inputs.mixed;
  const isShaped = inputs.layers > 0 && inputs.hidden > 0 && inputs.heads > 0;
  return { ...inputs, mixed, sequence: isShaped ? inputs.sequence : 0 };
}
