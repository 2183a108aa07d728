import { WireError } from '..';
import { decodeDiagnosis } from '../decodediagnosis';
import { DIAGNOSES, diagnosisJson, diagnosisOf } from './diagnosis';

/** Where the decoder stops at a payload with `changes`; "" if it does not. */
function stopsAt(changes: Readonly<Record<string, unknown>>): string {
  try {
    decodeDiagnosis(diagnosisJson('full', changes));
    return '';
  } catch (error) {
    return error instanceof WireError ? `${error.kind} ${error.where}` : String(error);
  }
}

describe('a diagnosis from Python', () => {
  it('is read with every figure as it was written', () => {
    const diagnosis = diagnosisOf();
    expect(diagnosis).toMatchObject({ kind: 'cuda_oom', isDeviceMemory: true });
    expect(diagnosis.place).toEqual({
      phase: 'forward',
      layer: 'layers.17.self_attn',
      step: 3,
      site: 'train.py:88'
    });
    expect(diagnosis.numbers.get('requested')).toBe(2 ** 31);
    expect(diagnosis.otherProcesses).toEqual([
      { pid: 4121, bytes: 1287651328 },
      { pid: 77, bytes: -1 }
    ]);
    expect(diagnosis.causes.map(({ id, confidence }) => [id, confidence])).toEqual([
      ['capacity', 0.93],
      ['fragmentation', 0.05]
    ]);
    expect(diagnosis.causes[0]?.evidence[0]).toMatchObject({ zh_CN: '峰值时：激活' });
    expect(diagnosis.remedies.map(({ savingBytes }) => savingBytes)).toEqual([
      5905580032,
      undefined
    ]);
    expect(diagnosis.needed.largestFree).toBe(641728512);
    expect(diagnosis.holders[1]).toEqual({
      name: { en: 'layers.0.<mlp>', zh_CN: 'layers.0.<mlp>' },
      bytes: 943718400,
      allocations: 3
    });
    const sum = diagnosis.parts.reduce((bytes, part) => bytes + part.bytes, 0);
    expect(sum).toBe(diagnosis.numbers.get('total'));
  });

  it.each(DIAGNOSES)('is read where it is %s', name => {
    const { message, headline } = diagnosisOf(name);
    expect(headline.en).not.toBe('');
    expect(message).toBe(diagnosisJson(name).message);
  });

  it('needs no more than what it is and its headline', () => {
    const { schema, kind, device_memory, headline } = diagnosisJson('none');
    expect(decodeDiagnosis({ schema, kind, device_memory, headline })).toEqual(diagnosisOf('none'));
  });
});

describe('the decoder of diagnoses', () => {
  it('refuses another major version, and reads a newer minor one with keys it does not know', () => {
    expect(stopsAt({ schema: 'memtrack.diagnosis/2' })).toBe('version schema');
    expect(stopsAt({ schema: 'memtrack.diagnosis/10' })).toBe('version schema');
    expect(stopsAt({ schema: 'memtrack.report/1' })).toBe('version schema');
    expect(stopsAt({ schema: 'memtrack.diagnosis/1.7', new_key: [1] })).toBe('');
  });

  it.each([[null], [[]], ['text'], [undefined], [{}]])('refuses %j', json => {
    expect(() => decodeDiagnosis(json)).toThrow(WireError);
  });

  it.each([
    [{ kind: 1 }, 'kind'],
    [{ device_memory: 'true' }, 'device_memory'],
    [{ headline: 'text' }, 'headline'],
    [{ headline: { zh_CN: '…' } }, 'headline.en'],
    [{ place: [] }, 'place'],
    [{ place: { step: -1 } }, 'place.step'],
    [{ numbers: { total: '24' } }, 'numbers.total'],
    [{ other_processes: [{ pid: 1, bytes: -2 }] }, 'other_processes[0].bytes'],
    [{ causes: {} }, 'causes'],
    [{ causes: [{ id: 'x', confidence: 1.01, title: { en: '' } }] }, 'causes[0].confidence'],
    [
      { causes: [{ id: 'x', confidence: 1, title: { en: '' }, evidence: ['x'] }] },
      'causes[0].evidence[0]'
    ],
    [{ checks: [{ id: 'x', text: { en: '' }, code: 7 }] }, 'checks[0].code'],
    [{ remedies: [{ id: 'x', title: { en: '' }, saving_bytes: 0.5 }] }, 'remedies[0].saving_bytes'],
    [{ needed: { requested: -1 } }, 'needed.requested'],
    [{ holders: [{ name: { en: '' }, bytes: 2 ** 60 }] }, 'holders[0].bytes'],
    [{ parts: [{ id: 'free', bytes: -1, certainty: '' }] }, 'parts[0].bytes'],
    [{ message: null, later: [null] }, 'later[0]']
  ])('says where %j is wrong', (changes, where) => {
    expect(stopsAt(changes)).toBe(`malformed ${where}`);
  });

  it('leaves out a figure that stands for no limit', () => {
    const { numbers } = diagnosisOf('full', {
      numbers: { total: 7, allowed: 2 ** 64, free: null }
    });
    expect([...numbers]).toEqual([['total', 7]]);
  });

  it('takes the names of a prototype for names', () => {
    const json: unknown = JSON.parse('{"en": "x", "__proto__": "y", "constructor": "z"}');
    const { headline } = diagnosisOf('full', { headline: json });
    expect(headline.en).toBe('x');
    expect(Object.getPrototypeOf(headline)).toBe(Object.prototype);
  });
});
