import { DIAGNOSIS_MIME_TYPE, MIME_TYPE } from '../../wire/mimetype';
import { latestCell } from '../latest';

describe('the latest report of a notebook', () => {
  const cell = (
    executionCount: number | null,
    ...types: string[]
  ): Parameters<typeof latestCell>[0][0] => ({
    executionCount,
    types
  });

  it('is that of the cell that was run last, wherever it stands', () => {
    expect(
      latestCell([cell(7, MIME_TYPE), cell(3, DIAGNOSIS_MIME_TYPE), cell(9, 'text/plain')])
    ).toBe(0);
    expect(latestCell([cell(3, MIME_TYPE), cell(7, DIAGNOSIS_MIME_TYPE)])).toBe(1);
  });

  it('is the last one where none was run, and none where there is none', () => {
    expect(latestCell([cell(null, MIME_TYPE), cell(null, MIME_TYPE), cell(null)])).toBe(1);
    expect(latestCell([cell(1, 'text/html')])).toBe(-1);
    expect(latestCell([])).toBe(-1);
  });
});
