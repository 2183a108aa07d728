// A plan as the views read it: what each planner is told, the twin of memtrack/planners/inputs.py, with
// its names. 0 is "not told". Sizes are counts of elements, tokens or layers; `usable` alone is bytes.

export const OPTIMIZERS = [
  'adamw',
  'adam',
  'adam8bit',
  'adafactor',
  'lion',
  'momentum',
  'rmsprop',
  'adagrad',
  'sgd',
  'none'
] as const;
export const MIXED = ['none', 'autocast', 'master'] as const;
export const FLOATS = ['fp32', 'bf16', 'fp16'] as const;
export const DTYPES = ['fp32', 'bf16', 'fp16', 'fp8', 'int8', 'int4'] as const;

export type Optimizer = (typeof OPTIMIZERS)[number];
export type Mixed = (typeof MIXED)[number];
export type Float = (typeof FLOATS)[number];
export type Dtype = (typeof DTYPES)[number];

/** One training step. `lora` is the share of parameters added as adapters; the others are frozen. */
export interface ILedgerInputs {
  readonly parameters: number;
  readonly dtype: Float;
  readonly optimizer: Optimizer;
  readonly mixed: Mixed;
  readonly zero: number;
  readonly gpus: number;
  readonly lora: number;
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  readonly sequence: number;
  readonly batch: number;
  readonly vocabulary: number;
  readonly checkpointing: boolean;
  readonly flash: boolean;
}

/** Generation. `window` holds in `windowed` of the layers; `prompt` 0 is all of `length`. */
export interface IKvInputs {
  readonly layers: number;
  readonly kv_heads: number;
  readonly key_size: number;
  readonly value_size: number;
  readonly length: number;
  readonly batch: number;
  readonly dtype: Dtype;
  readonly cache_dtype: Dtype;
  readonly window: number;
  readonly windowed: number;
  readonly parameters: number;
  readonly hidden: number;
  readonly heads: number;
  readonly intermediate: number;
  readonly vocabulary: number;
  readonly prompt: number;
  readonly flash: boolean;
}

/** Loading a checkpoint of `stored` dtype into a model made as `built` that is to be `dtype`. */
export interface ILoadingInputs {
  readonly parameters: number;
  readonly stored: Dtype;
  readonly dtype: Dtype;
  readonly built: Dtype;
  readonly largest: number;
}

/** A GPU to fit into; `name` is "" where only its size is known. */
export interface ICapacity {
  readonly name: string;
  readonly usable: number;
}

/** A plan as it arrives: what is told, and the GPUs to choose from. */
export type IPlan = { readonly gpus: readonly ICapacity[]; readonly gpu: ICapacity | undefined } & (
  | { readonly kind: 'ledger'; readonly inputs: ILedgerInputs }
  | { readonly kind: 'kv'; readonly inputs: IKvInputs }
  | { readonly kind: 'loading'; readonly inputs: ILoadingInputs }
);
