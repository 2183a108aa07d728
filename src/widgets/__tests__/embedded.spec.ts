import { catalogueBundle } from '../catalogue';
import { embeddedServices } from '../embedded';

describe('translation without JupyterLab', () => {
  const trans = catalogueBundle({
    'step %1': ['第 %1 步'],
    '%1 step': ['%1 步'],
    'verb\u0004free': ['释放'],
    empty: ['']
  });

  it('finds sentences and fills their places', () => {
    expect(trans.__('step %1', 3)).toBe('第 3 步');
    expect(trans.gettext('step %1', 3)).toBe('第 3 步');
    expect(trans._p('verb', 'free')).toBe('释放');
  });

  it('stays English where the catalogue lacks one', () => {
    expect(trans.__('%1 of %2', 'a', 'b')).toBe('a of b');
    expect(trans.__('empty')).toBe('empty');
    expect(trans._p('noun', 'free')).toBe('free');
  });

  it('counts: the number is the first value', () => {
    expect(trans._n('%1 step', '%1 steps', 2)).toBe('2 步');
    const english = catalogueBundle({});
    expect(english._n('%1 block of %2', '%1 blocks of %2', 1, 'x')).toBe('1 block of x');
    expect(english._n('%1 block of %2', '%1 blocks of %2', 5, 'x')).toBe('5 blocks of x');
  });
});

describe('a page without JupyterLab', () => {
  it('speaks the language of the browser', () => {
    expect(embeddedServices(['zh-TW', 'en']).language).toBe('zh_CN');
    expect(embeddedServices(['de', 'zh']).language).toBe('en');
    expect(embeddedServices([]).trans.__('Timeline')).toBe('Timeline');
    expect(embeddedServices(['zh-CN']).trans.__('Timeline')).not.toBe('Timeline');
  });
});
