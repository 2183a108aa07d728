import { trans } from '../../__tests__/sample';
import { diagnosisOf } from '../../../wire/__tests__/diagnosis';
import { DevicePicture, askedPlace } from '../picture';

const GIB = 2 ** 30;

function partsOf(free: number): Parameters<typeof askedPlace>[0] {
  const part = { certainty: 'measured', details: [] };
  return [
    { id: 'parameter', bytes: (10 - free) * GIB, ...part },
    ...(free > 0 ? [{ id: 'free', bytes: free * GIB, ...part }] : [])
  ];
}

describe('what was asked of a device', () => {
  it('begins where the device is free and goes past its end', () => {
    const place = askedPlace(partsOf(2), 10 * GIB, 4 * GIB);
    expect(place.device).toBeCloseTo(10 / 12);
    expect(place.left).toBeCloseTo(8 / 12);
    expect(place.width).toBeCloseTo(4 / 12);
    expect(place.isCut).toBe(false);
  });

  it('lies inside of it where it would have fitted', () => {
    expect(askedPlace(partsOf(4), 10 * GIB, GIB)).toEqual({
      device: 1,
      left: 0.6,
      width: 0.1,
      isCut: false
    });
  });

  it('is cut where it would leave little of the device', () => {
    const place = askedPlace(partsOf(0), 10 * GIB, 2000 * GIB);
    expect(place).toMatchObject({ left: 10 / 15, device: 10 / 15, isCut: true });
    expect(place.left + place.width).toBeCloseTo(1);
  });
});

describe('the picture of a device', () => {
  const picture = new DevicePicture(trans);

  afterAll(() => picture.dispose());

  const answer = (...args: Parameters<typeof diagnosisOf>): string | null | undefined =>
    [
      ...(picture.show(diagnosisOf(...args))?.querySelectorAll('.memtrack-Picture-answer') ?? [])
    ].at(-1)?.textContent;

  it('names every part, and marks what is estimated', () => {
    const items = picture.show(diagnosisOf())?.querySelectorAll('.memtrack-Picture-legend li');
    const names = [...(items ?? [])].map(item => item.textContent);
    expect(names).toContain('activations 14.8 GiB');
    expect(names).toContain('CUDA context ~512 MiB');
    expect(names.at(-1)).toBe('23.7 GiB in all');
  });

  it('says in words what is missing', () => {
    expect(answer()).toBe('2.00 GiB asked for · 1.50 GiB more than the device has free');
    const needed = { requested: 3 * 2 ** 20, segment: 20 * 2 ** 20 };
    expect(answer('full', { needed })).toBe(
      '3.00 MiB asked for; the allocator wants 20.0 MiB for it · the device has 514 MiB free'
    );
    const parts = [{ id: 'parameter', bytes: GIB, certainty: 'measured' }];
    expect(answer('full', { parts })).toBe('2.00 GiB asked for · the device has nothing free');
    expect(answer('full', { needed: {}, numbers: {} })).toBeUndefined();
  });

  it('has a bar of what a process may have where that is less than the device', () => {
    const parts = [
      { id: 'activation', bytes: 2 * GIB, certainty: 'measured' },
      { id: 'cache', bytes: GIB, certainty: 'measured' },
      { id: 'context', bytes: GIB, certainty: 'estimated' },
      { id: 'free', bytes: 20 * GIB, certainty: 'measured' }
    ];
    const needed = { requested: 2 * GIB };
    const shown = picture.show(
      diagnosisOf('full', { parts, needed, numbers: { allowed: 4 * GIB } })
    );
    const bars = [...(shown?.querySelectorAll('[role=img]') ?? [])];
    expect(bars.map(bar => bar.getAttribute('aria-label'))).toEqual([
      '24.0 GiB in all: activations 2.00 GiB, allocator cache 1.00 GiB, CUDA context 1.00 GiB, free 20.0 GiB',
      '4.00 GiB in all: activations 2.00 GiB, allocator cache 1.00 GiB, free 1.00 GiB'
    ]);
    const said = [...(shown?.querySelectorAll('.memtrack-Picture-answer') ?? [])];
    expect(said.map(node => node.textContent)).toEqual([
      'PyTorch in this process may have 4.00 GiB of it',
      '2.00 GiB asked for · 1.00 GiB more than the limit leaves'
    ]);
    const only = shown?.querySelectorAll('.memtrack-Picture');
    const hatched = [...(only ?? [])].map(
      box => box.querySelector('.memtrack-Picture-asked') !== null
    );
    expect(hatched).toEqual([false, true]);
  });

  it('has none where the limit is the device, or does not fit what is held', () => {
    const bars = (allowed: number): number =>
      picture.show(diagnosisOf('full', { numbers: { allowed } }))?.querySelectorAll('[role=img]')
        .length ?? 0;
    expect([bars(100 * GIB), bars(GIB), bars(23 * GIB)]).toEqual([1, 1, 2]);
    const small = { needed: { requested: 2 ** 20 }, numbers: { allowed: 23 * GIB } };
    expect(answer('full', small)).toBe('1.00 MiB asked for · the limit leaves 1.50 GiB');
  });

  it('is not drawn where the device is not known', () => {
    expect(picture.show(diagnosisOf('text'))).toBeUndefined();
  });
});
