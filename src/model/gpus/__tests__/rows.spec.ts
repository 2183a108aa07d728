import type { IGpuDevice } from '../../../wire/gpus';
import {
  GIB,
  NOW_S,
  deviceJson,
  gpusState,
  kernelJson,
  processJson
} from '../../../wire/__tests__/gpusample';
import { heldRows, processRows, rowName, sortedRows } from '../rows';
import { DEFAULT_GPU_SETTINGS, gpuSettingsFrom } from '../settings';
import { warningsOf } from '../warnings';

const NOW = 1000 * NOW_S;

function devices(...changes: readonly object[]): readonly IGpuDevice[] {
  return gpusState(changes.map(each => deviceJson({ ...each }))).devices;
}

function rows(changes = {}): ReturnType<typeof processRows> {
  const [device] = devices(changes);
  return device === undefined ? [] : processRows(device, 'id-train', NOW, true);
}

const pids = (list: ReturnType<typeof processRows>): number[] =>
  list.map(({ process }) => process.pid);

describe('the processes of a device', () => {
  it('are told apart: this notebook, another one, no kernel', () => {
    expect(rows().map(({ kind }) => kind)).toEqual(['current', 'kernel', 'foreign']);
    expect(rows().map(rowName)).toEqual(['train.ipynb', 'eval.ipynb', 'python']);
    expect(rows().map(({ idleS }) => idleS)).toEqual([60, 60, undefined]);
    expect(rows().map(({ ageS }) => ageS)).toEqual([7200, 7200, 7200]);
  });

  it.each([
    ['memory', true, [100, 200, 4121]],
    ['memory', false, [4121, 200, 100]],
    ['name', false, [200, 4121, 100]],
    ['pid', true, [4121, 200, 100]],
    ['activity', true, [100, 200, 4121]]
  ] as const)('sort by %s, descending: %s', (column, isDescending, expected) => {
    expect(pids(sortedRows(rows(), { column, isDescending }))).toEqual(expected);
  });

  it('of unknown size come last, up and down', () => {
    const processes = [processJson({ pid: 1, bytes: null }), processJson({ pid: 2, bytes: 1 })];
    for (const isDescending of [true, false]) {
      expect(pids(sortedRows(rows({ processes }), { column: 'memory', isDescending }))).toEqual([
        2, 1
      ]);
    }
  });

  it('keep their places while they are held; new ones come at the end', () => {
    expect(pids(heldRows(rows(), ['4121', '100']))).toEqual([4121, 100, 200]);
  });

  it('of other users may be left out', () => {
    const [device] = devices({ processes: [processJson(), processJson({ pid: 9, mine: false })] });
    expect(device && pids(processRows(device, undefined, NOW, false))).toEqual([4121]);
  });
});

describe('warnings', () => {
  const ids = (changes: object, settings = DEFAULT_GPU_SETTINGS): string[] => {
    const all = devices(changes);
    return all.flatMap(device => warningsOf(device, all, settings, NOW).map(({ id }) => id));
  };
  const long = { last_activity: new Date(NOW - 3 * 3_600_000).toISOString() };

  it('are none where all is well', () => {
    expect(ids({ processes: [kernelJson('train', 100, 12 * GIB)] })).toEqual([]);
  });

  it.each([
    ['full', { used: 22 * GIB, free: GIB, processes: [kernelJson('a', 1, 22 * GIB)] }],
    ['flag', { flags: ['ecc_uncorrected'], processes: [kernelJson('a', 1, 12 * GIB)] }],
    ['idle', { processes: [kernelJson('a', 1, 12 * GIB, long)] }],
    ['sessionless', { processes: [processJson({ bytes: 12 * GIB })] }],
    ['sessionless', { processes: [kernelJson('a', 1, 12 * GIB, { path: '', type: '' })] }],
    ['defunct', { processes: [processJson({ bytes: 12 * GIB, state: 'zombie' })] }],
    ['unlisted', { processes: [] }]
  ])('tell: %s', (id, changes) => {
    expect(ids(changes)).toEqual([id]);
  });

  it('tell many without a session in one line, with what they hold together', () => {
    const many = (count: number): object => ({
      processes: Array.from({ length: count }, (_, at) =>
        processJson({ pid: 50 + at, bytes: (12 * GIB) / count })
      )
    });
    expect(ids(many(3))).toEqual(['sessionless', 'sessionless', 'sessionless']);
    expect(ids(many(4))).toEqual(['sessionlessMany']);
    const [device] = devices(many(4));
    expect(device && warningsOf(device, [device], DEFAULT_GPU_SETTINGS, NOW)).toEqual([
      { id: 'sessionlessMany', count: 4, bytes: 12 * GIB }
    ]);
  });

  it('follow the settings', () => {
    const processes = [kernelJson('a', 1, 12 * GIB, long)];
    expect(ids({ processes }, gpuSettingsFrom({ idleTime: 240 }))).toEqual([]);
    expect(ids({ processes }, gpuSettingsFrom({ idleMemory: 13 }))).toEqual([]);
    expect(ids({ processes }, gpuSettingsFrom({ idleTime: 240, fullThreshold: 50 }))).toEqual([
      'full'
    ]);
  });

  it('leave a busy kernel and one of another user alone', () => {
    expect(ids({ processes: [kernelJson('a', 1, 12 * GIB, { ...long, state: 'busy' })] })).toEqual(
      []
    );
    expect(ids({ processes: [processJson({ bytes: 12 * GIB, mine: false })] })).toEqual([]);
  });

  it('do not take what they cannot know for unlisted', () => {
    expect(ids({ processes: [processJson({ bytes: null, mine: false })] })).toEqual([]);
    expect(ids({ processes: [], lists_processes: false })).toEqual([]);
    const mig = devices(
      { processes: [] },
      { uuid: 'MIG-1', parent: 'GPU-aaaa', used: 0, processes: [] }
    );
    const [whole] = mig;
    expect(whole && warningsOf(whole, mig, DEFAULT_GPU_SETTINGS, NOW)).toEqual([]);
  });
});
