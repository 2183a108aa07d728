import schema from '../../../../schema/gpus.json';
import { deviceJson, gpusState } from '../../../wire/__tests__/gpusample';
import { bytesIn, spanOf } from '../figures';
import { GpuModel } from '../model';
import { DEFAULT_GPU_SETTINGS, gpuSettingsFrom } from '../settings';
import { tracesFrom } from '../traces';

const TWO = [deviceJson(), deviceJson({ uuid: 'GPU-bbbb', index: 1, name: 'NVIDIA A100' })];

describe('the state of the panel', () => {
  it('keeps the last devices when the server is lost, until it answers', () => {
    const model = new GpuModel();
    model.receive(gpusState(TWO));
    model.fail({ id: 'unreachable', detail: '' });
    expect(model.devices).toHaveLength(2);
    expect(model.problem?.id).toBe('unreachable');
    model.receive(gpusState(TWO));
    expect(model.problem).toBeUndefined();
  });

  it.each([
    [['1'], ['GPU-bbbb']],
    [['a100'], ['GPU-bbbb']],
    [['gpu-aaaa'], ['GPU-aaaa']],
    [['7'], ['GPU-aaaa', 'GPU-bbbb']],
    [[], ['GPU-aaaa', 'GPU-bbbb']]
  ])('shows the devices that are wanted: %j', (devices, expected) => {
    const model = new GpuModel();
    model.settings = { ...DEFAULT_GPU_SETTINGS, devices };
    model.receive(gpusState(TWO));
    expect(model.devices.map(({ uuid }) => uuid)).toEqual(expected);
  });

  it('puts no old figures of a lost device into its history', () => {
    const model = new GpuModel();
    const lost = { id: 'lost', message: { en: '' }, advice: { en: '' }, detail: '' };
    model.receive(gpusState([deviceJson({ status: lost })]));
    expect(model.historyOf('GPU-aaaa').length).toBe(0);
    model.receive(gpusState());
    expect(model.historyOf('GPU-aaaa').length).toBe(1);
    model.receive(gpusState([]));
    model.receive(gpusState());
    expect(model.historyOf('GPU-aaaa').length).toBe(1);
  });

  it('forgets what a kernel said when another is in front', () => {
    const model = new GpuModel();
    model.notebook = { kernelId: 'a', path: 'a.ipynb' };
    model.usage = { pid: 1, host: '', devices: [] };
    model.notebook = { kernelId: 'a', path: 'renamed.ipynb' };
    expect(model.usage).toBeDefined();
    model.notebook = { kernelId: 'b', path: 'b.ipynb' };
    expect(model.usage).toBeUndefined();
  });

  it('gives a kernel one colour for good', () => {
    const model = new GpuModel();
    const colours = ['a', 'b', 'a', 'c', 'b'].map(id => model.colourOf(id));
    expect(colours).toEqual([1, 2, 1, 3, 2]);
  });

  it('is as it was left after a reload', () => {
    const model = new GpuModel();
    model.sort = { column: 'pid', isDescending: false };
    model.fold('GPU-bbbb', true);
    const again = new GpuModel();
    again.restore(tracesFrom(JSON.parse(JSON.stringify(model.traces))));
    expect(again.sort).toEqual({ column: 'pid', isDescending: false });
    expect(again.isFolded('GPU-bbbb')).toBe(true);
    expect(tracesFrom({ sort: { column: 'colour' }, folded: 3 })).toEqual(new GpuModel().traces);
    expect(tracesFrom(undefined)).toEqual(new GpuModel().traces);
  });
});

describe('the settings', () => {
  it('have the defaults that the schema says', () => {
    const defaults = Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [name, property.default])
    );
    expect(gpuSettingsFrom(defaults)).toEqual(DEFAULT_GPU_SETTINGS);
    expect(gpuSettingsFrom({})).toEqual(DEFAULT_GPU_SETTINGS);
  });

  it('take what is out of bounds or wrong as near as can be', () => {
    const settings = gpuSettingsFrom({
      interval: 0.01,
      units: 'GB',
      processColumns: ['pid', 'colour', 3],
      fullThreshold: 900,
      otherUsers: 'no'
    });
    expect(settings).toEqual({
      ...DEFAULT_GPU_SETTINGS,
      intervalMs: 250,
      columns: ['pid'],
      fullPercent: 100
    });
  });
});

describe('figures', () => {
  it('are in the unit that was chosen', () => {
    const bytes = 15_249_000_000;
    expect([bytesIn('auto', bytes), bytesIn('GiB', bytes), bytesIn('MiB', bytes)]).toEqual([
      '14.2 GiB',
      '14.20 GiB',
      '14,543 MiB'
    ]);
  });

  it('of time are in their largest unit', () => {
    expect([59.9, 60, 3599, 7300, 200_000].map(spanOf)).toEqual([
      { unit: 'second', count: 59 },
      { unit: 'minute', count: 1 },
      { unit: 'minute', count: 59 },
      { unit: 'hour', count: 2 },
      { unit: 'day', count: 2 }
    ]);
  });
});
