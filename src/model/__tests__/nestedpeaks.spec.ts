import { peakKinds, peakRows } from '../nestedpeaks';

// forward, backward, optimizer, between
const peaks = {
  length: 7,
  step: [0, 0, 0, 1, 1, 1, 1],
  kind: [0, 1, 3, 0, 1, 2, 3],
  bytes: [5, 9, 9, 6, 4, 3, 6],
  cut: [1, 3, 3, 5, 7, 8, 4],
  layer: [0, 1, -1, 2, -1, -1, -1]
};

it('is a row a step with the peak of each of its phases', () => {
  const rows = peakRows(peaks);
  expect(rows.map(({ step, highest }) => [step, highest])).toEqual([
    [0, 'backward'],
    [1, 'forward']
  ]);
  expect(rows[0]?.phases.get('backward')).toEqual({ bytes: 9, cut: 3, layer: 1 });
  expect(rows[0]?.phases.has('optimizer')).toBe(false);
});

it('tells of what lies between phases only where it is higher than they are', () => {
  expect(peakKinds(peakRows(peaks))).toEqual(['forward', 'backward', 'optimizer']);
  const bytes = [5, 9, 9, 6, 4, 3, 7];
  expect(peakKinds(peakRows({ ...peaks, bytes }))).toEqual([
    'forward',
    'backward',
    'optimizer',
    'other'
  ]);
});

it('is empty without peaks', () => {
  const none = { length: 0, step: [], kind: [], bytes: [], cut: [], layer: [] };
  expect(peakRows(none)).toEqual([]);
  expect(peakKinds([])).toEqual([]);
});
