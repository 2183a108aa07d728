import { WireError } from '..';
import { decodePlan } from '../decodeplan';
import { KV_INPUTS, planJson } from './plan';

function stopsAt(...args: Parameters<typeof planJson>): string {
  try {
    decodePlan(planJson(...args));
    return '';
  } catch (error) {
    return error instanceof WireError ? `${error.kind} ${error.where}` : String(error);
  }
}

describe('a plan from Python', () => {
  it('is read as it was written', () => {
    const plan = decodePlan(planJson());
    expect(plan.kind).toBe('ledger');
    expect(plan.gpu).toEqual({ name: 'NVIDIA A100 80GB', usable: 85_093_000_000 });
    expect(plan.gpus.length).toBeGreaterThan(10);
    expect(plan.inputs).toEqual(planJson().inputs);
  });

  it('may have no GPU, and be of another kind', () => {
    const kv = decodePlan(planJson({ kind: 'kv', inputs: KV_INPUTS, gpu: '', capacity: null }));
    expect([kv.kind, kv.gpu, kv.inputs]).toEqual(['kv', undefined, KV_INPUTS]);
    const inputs = { parameters: 5, stored: 'bf16', dtype: 'int4', built: 'fp32', largest: 0 };
    expect(decodePlan(planJson({ kind: 'loading', inputs })).inputs).toEqual(inputs);
  });

  it('is refused from another major version, and read from a later minor one', () => {
    expect(stopsAt({ schema: 'memtrack.plan/2' })).toBe('version schema');
    expect(stopsAt({ schema: 'memtrack.plan/1.3', later: true })).toBe('');
  });

  it.each([
    [{ kind: 'tea' }, {}, 'kind'],
    [{ gpus: [{ name: 'x', usable: 0 }] }, {}, 'gpus[0].usable'],
    [{ capacity: 1.5 }, {}, 'capacity'],
    [{}, { parameters: 0 }, 'inputs.parameters'],
    [{}, { parameters: 1e300 }, 'inputs.parameters'],
    [{}, { dtype: 'bf61' }, 'inputs.dtype'],
    [{}, { optimizer: null }, 'inputs.optimizer'],
    [{}, { lora: 1.1 }, 'inputs.lora'],
    [{}, { flash: 'yes' }, 'inputs.flash'],
    [{}, { gpus: -1 }, 'inputs.gpus']
  ])('says where %j %j is wrong', (changes, inputs, where) => {
    expect(stopsAt(changes, inputs)).toBe(`malformed ${where}`);
  });
});
