import { WireError, decodeReport } from '..';
import { adviceJson, adviceOf } from './advice';
import { reportFixture } from './fixture';

const GIB = 2 ** 30;

function stopsAt(changes: Readonly<Record<string, unknown>>): string {
  try {
    adviceOf(changes);
    return '';
  } catch (error) {
    return error instanceof WireError ? `${error.kind} ${error.where}` : String(error);
  }
}

const [remedy = {}] = adviceJson().remedies as readonly object[];

describe('advice from Python', () => {
  it('is read with every figure as it was written', () => {
    const advice = adviceOf();
    expect([advice.budget, advice.peak, advice.reserved]).toEqual([
      4 * GIB,
      8 * GIB + 96 * 2 ** 20,
      8.5 * GIB + 96 * 2 ** 20
    ]);
    expect(advice.remedies.map(({ id, saving, harm }) => [id, saving, harm])).toEqual([
      ['checkpoint_blocks', 4 * GIB, 5],
      ['fused_loss', 3 * GIB, 2],
      ['autocast_bf16', 2 * GIB, 1],
      ['accumulate', GIB, 3],
      ['loop_optimizer', -GIB / 4, 1],
      ['lora', undefined, 9],
      ['set_to_none', undefined, 0]
    ]);
    expect(advice.combinations.map(({ ids, fits }) => [ids.length, fits])).toEqual([
      [2, true],
      [2, false]
    ]);
  });

  it('is a member of a report that need not be there', () => {
    const { json, buffers } = reportFixture();
    expect(decodeReport(json, buffers).advice).toBeUndefined();
    const advised = { ...(json as object), advice: adviceJson() };
    expect(decodeReport(advised, buffers).advice?.remedies).toHaveLength(7);
  });

  it('takes words of a later version for the least that they can mean', () => {
    const later = { ...remedy, evidence: 'dreamt', cost_class: 'absurd' };
    const { remedies } = adviceOf({ remedies: [later], combinations: [] });
    expect(remedies[0]).toMatchObject({ evidence: 'unknown', costClass: 'high' });
  });

  it('takes code with its comments in every language, or in English alone', () => {
    const earlier = Object.fromEntries(Object.entries(remedy).filter(([key]) => key !== 'codes'));
    const codes = { en: 'a = 1  # one', zh_CN: 'a = 1  # 一' };
    const later = { ...remedy, code: 'a = 1  # one', codes };
    const ones = adviceOf({ remedies: [{ ...earlier, code: 'b' }, later], combinations: [] });
    expect(ones.remedies.map(({ code }) => code)).toEqual([{ en: 'b' }, codes]);
  });

  it.each([
    [{ budget: -1 }, 'advice.budget'],
    [{ base: {} }, 'advice.base.peak'],
    [{ remedies: {} }, 'advice.remedies'],
    [{ remedies: [{ ...remedy, peak: 0.5 }] }, 'advice.remedies[0].peak'],
    [{ remedies: [{ ...remedy, applies: 1 }] }, 'advice.remedies[0].applies'],
    [{ remedies: [{ ...remedy, code: null }] }, 'advice.remedies[0].code'],
    [{ remedies: [{ ...remedy, codes: 7 }] }, 'advice.remedies[0].codes'],
    [
      { combinations: [{ ids: ['nothing'], peak: 1, saving: 1, fits: true }] },
      'advice.combinations[0].ids'
    ]
  ])('says where %j is wrong', (changes, where) => {
    expect(stopsAt(changes)).toBe(`malformed ${where}`);
  });
});
