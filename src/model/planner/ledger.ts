// The ledger of one GPU in training: the twin of memtrack/planners/ledger.py and activations.py, where
// each formula has its source. Both are checked against tests/fixtures/plans/cases.json.
import type { ILedgerInputs } from '../../wire/plan';
import { bytesOf, ceilDiv } from './elements';
import type { IPlanPart } from './parts';

const BUCKET_ELEMENTS = 500_000_000;
const BLOCK = 256;
const FACTOR_SIDE = 4096;
const UNITS = 32;

/** The parts of a ledger in the order they are drawn. */
export const LEDGER_PARTS = [
  'parameter',
  'gradient',
  'optimizer_state',
  'cast_weight',
  'communication',
  'activation',
  'output'
] as const;

/** Returns every part of one GPU, those of no bytes too. */
export function ledgerParts(inputs: ILedgerInputs): readonly IPlanPart[] {
  const adapters = Math.floor(inputs.parameters * inputs.lora + 0.5);
  const trained = inputs.lora > 0 ? adapters : inputs.parameters;
  const weights = inputs.parameters + adapters;
  const isIdle = inputs.optimizer === 'none';
  const own = (count: number, stage: number): number =>
    inputs.zero >= stage ? ceilDiv(count, inputs.gpus) : count;
  const bytes: Readonly<Record<(typeof LEDGER_PARTS)[number], number>> = {
    parameter: bytesOf(own(weights, 3), inputs.dtype),
    gradient: isIdle ? 0 : bytesOf(own(trained, 2), inputs.dtype),
    optimizer_state: stateBytes(own(trained, 1), inputs),
    cast_weight: copies(own(trained, 1), weights, inputs),
    communication: isIdle ? 0 : communication(weights, trained, inputs),
    activation: isIdle ? 0 : activationBytes(inputs),
    output: 4 * inputs.sequence * inputs.batch * inputs.vocabulary
  };
  return LEDGER_PARTS.map(id => ({ id, bytes: bytes[id] }));
}

function stateBytes(trained: number, inputs: ILedgerInputs): number {
  const dtype = inputs.mixed === 'master' ? 'fp32' : inputs.dtype;
  switch (inputs.optimizer) {
    case 'adam':
    case 'adamw':
      return 2 * bytesOf(trained, dtype);
    case 'lion':
    case 'momentum':
    case 'rmsprop':
    case 'adagrad':
      return bytesOf(trained, dtype);
    case 'adam8bit':
      return 2 * trained + 8 * ceilDiv(trained, BLOCK);
    case 'adafactor':
      return 4 * ceilDiv(2 * trained, inputs.hidden || FACTOR_SIDE);
    case 'sgd':
    case 'none':
      return 0;
  }
}

function copies(ownTrained: number, weights: number, inputs: ILedgerInputs): number {
  if (inputs.mixed === 'master') {
    return inputs.optimizer === 'none' ? 0 : bytesOf(ownTrained, 'fp32');
  }
  if (inputs.mixed === 'autocast') {
    const isWhole = inputs.zero < 3 || inputs.gpus === 1;
    return bytesOf(isWhole ? weights : largestUnit(weights, inputs), 'bf16');
  }
  return 0;
}

function communication(weights: number, trained: number, inputs: ILedgerInputs): number {
  if (inputs.gpus === 1) {
    return 0;
  }
  if (inputs.zero === 0) {
    return bytesOf(trained, inputs.dtype);
  }
  if (inputs.zero < 3) {
    return bytesOf(Math.min(trained, BUCKET_ELEMENTS), inputs.dtype);
  }
  return bytesOf(2 * largestUnit(weights, inputs) + largestUnit(trained, inputs), inputs.dtype);
}

function activationBytes(inputs: ILedgerInputs): number {
  const { sequence, batch, hidden, heads, layers } = inputs;
  if (sequence === 0) {
    return 0;
  }
  const tokens = sequence * batch;
  const width = inputs.dtype === 'fp32' && inputs.mixed === 'none' ? 4 : 2;
  const attention = inputs.flash ? 4 * heads * tokens : heads * sequence * tokens * (2 * width + 1);
  const one = tokens * hidden * (16 * width + 2) + attention;
  const outside = tokens * hidden * (1 + 2 * width);
  return inputs.checkpointing
    ? layers * tokens * hidden * width + one + outside
    : layers * one + outside;
}

function largestUnit(elements: number, inputs: ILedgerInputs): number {
  return ceilDiv(elements, inputs.layers || UNITS);
}
