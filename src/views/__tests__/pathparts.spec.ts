import { cutInside, splitLayerPath, splitSite } from '../pathparts';

describe('a path cut inside', () => {
  it('keeps the last half of the names of a layer', () => {
    expect(splitLayerPath('transformer.h.0.attn.c_proj')).toEqual([
      'transformer.h.',
      '0.attn.c_proj'
    ]);
    expect(splitLayerPath('Net')).toEqual(['', 'Net']);
  });

  it('keeps file, line and function of a site', () => {
    expect(splitSite('/home/me/train.py:10 a/b')).toEqual(['/home/me/', 'train.py:10 a/b']);
    expect(splitSite('C:\\me\\train.py:10 step')).toEqual(['C:\\me\\', 'train.py:10 step']);
    expect(splitSite('train.py:10 step')).toEqual(['', 'train.py:10 step']);
  });

  it('is all there as text', () => {
    expect(cutInside('here', ['a.', 'b']).textContent).toBe('a.b');
  });
});
