import type { DOMWidgetModel } from '@jupyter-widgets/base';
import { Widget } from '@lumino/widgets';

import { PACKAGE_VERSION } from '../../base/version';
import type { ILiveReport, ILiveReports } from '../../model/live';
import { Registry } from '../../model/registry';
import { Preferences } from '../../model/preferences';
import { trans, nextFrame } from '../../views/__tests__/sample';
import { reportFixture } from '../../wire/__tests__/fixture';
import type { ReportModel } from '../report';
import { reportWidgets } from '../report';
import { FakeComm, FakeManager } from './page';

jest.mock('../../draw/plotly', () => ({ drawFigure: jest.fn(), purgeFigure: jest.fn() }));

const NAMES = {
  model_name: 'ReportModel',
  model_module: 'memtrack',
  model_module_version: `^${PACKAGE_VERSION}`
};

const TICK = {
  type: 'tick',
  tick: 4,
  state: 'recording',
  step: 1,
  phase: 'forward',
  allocated: 100,
  peak: 200,
  reserved: null,
  elapsed_ns: 1e9,
  points: { time_ns: [0, 5], allocated: [1, 2] }
};

describe('the widget of a live report', () => {
  let liveReports: ILiveReports;
  let manager: FakeManager;
  let comm: FakeComm;
  const fixture = reportFixture();

  beforeEach(() => {
    liveReports = new Registry<ILiveReport>();
    const preferences = new Preferences();
    manager = new FakeManager(reportWidgets({ trans, language: 'en', preferences, liveReports }));
    comm = new FakeComm('m1');
  });

  async function make(report: object = {}, withComm = true): Promise<ReportModel> {
    const options = { ...NAMES, model_id: 'm1', ...(withComm ? { comm } : {}) };
    return (await manager.new_model(options, { report })) as ReportModel;
  }

  it('names itself as the Python side does', async () => {
    const model = await make();
    expect(model.get('_model_name')).toBe('ReportModel');
    expect(model.get('_view_name')).toBe('ReportView');
    expect(model.get('_view_module')).toBe('memtrack');
    expect(model.get('_view_module_version')).toBe(`^${PACKAGE_VERSION}`);
  });

  it('makes itself known under its id as long as its kernel lives', async () => {
    const model = await make();
    expect(liveReports.get('m1')).toBe(model.channel);
    comm.end();
    expect(liveReports.get('m1')).toBeUndefined();
    expect(model.channel.isClosed).toBe(true);
  });

  it('is known anew when a lost kernel is found again', async () => {
    const model = await make(fixture);
    const before = model.channel;
    model.comm_live = false;
    expect(liveReports.get('m1')).toBeUndefined();
    model.comm_live = true;
    expect(liveReports.get('m1')).toBe(model.channel);
    expect(model.channel).not.toBe(before);
    expect(model.channel.report?.layers.length).toBeGreaterThan(0);
  });

  it('is not live without a kernel, but has its report', async () => {
    const model = await make(fixture, false);
    expect(liveReports.get('m1')).toBeUndefined();
    expect(model.channel.report?.views.length).toBeGreaterThan(0);
    await expect(model.channel.requestWindow(0, { start: 0, end: 9 }, 10)).resolves.toBeUndefined();
  });

  it('reads the report from buffers that lie in a message', async () => {
    const model = await make();
    expect(model.channel.report).toBeUndefined();
    const changed = jest.fn();
    model.channel.reportChanged.connect(changed);
    model.set('report', fixture);
    expect(changed).toHaveBeenCalledTimes(1);
    expect(model.channel.report?.layers.length).toBeGreaterThan(0);
  });

  it('passes ticks on and answers each once', async () => {
    const model = await make();
    const ticked = jest.fn();
    model.channel.ticked.connect(ticked);
    await comm.say(TICK);
    expect(ticked).toHaveBeenCalledTimes(1);
    expect(model.channel.tick).toMatchObject({ number: 4, peak: 200, reserved: undefined });
    for (let tick = 4; tick <= 24; tick++) {
      model.channel.seen(tick);
      model.channel.seen(tick);
    }
    const answered = [4, 14, 24].map(tick => ({ type: 'seen', tick }));
    expect(comm.customs).toEqual(answered);
  });

  it('ignores messages of a later version', async () => {
    const model = await make();
    await comm.say({ type: 'confetti' });
    expect(model.channel.tick).toBeUndefined();
  });

  it('gives the answer to the latest question, and none to one that was overtaken', async () => {
    const model = await make(fixture);
    const first = model.channel.requestWindow(0, { start: 0, end: 5 }, 100);
    const second = model.channel.requestWindow(0, { start: 2, end: 6 }, 100);
    await expect(first).resolves.toBeUndefined();
    expect(comm.customs[1]).toEqual({
      type: 'window',
      request: 2,
      view: 0,
      start: 2,
      end: 6,
      buckets: 100
    });
    const views = (fixture.json as { views: { timeline: unknown }[] }).views;
    const json = views[0]?.timeline;
    await comm.say({ type: 'window', request: 1, view: 0, json }, fixture.buffers);
    await comm.say({ type: 'window', request: 2, view: 0, json }, fixture.buffers);
    const timeline = await second;
    expect(timeline?.points.length).toBe(model.channel.report?.views[0]?.timeline.points.length);
  });

  it('brings the answer to who asks for advice, the same to whoever asks meanwhile', async () => {
    const model = await make(fixture);
    const first = model.channel.requestAdvice();
    expect(model.channel.requestAdvice()).toBe(first);
    expect(comm.customs).toEqual([{ type: 'advice', request: 1 }]);
    await comm.say({ type: 'advice', request: 7, problem: { en: 'of another question' } });
    await comm.say({ type: 'advice', request: 1, problem: { en: 'It saw no memory.' } });
    await expect(first).resolves.toEqual({
      advice: undefined,
      problem: { en: 'It saw no memory.' }
    });
    const second = model.channel.requestAdvice();
    comm.end();
    await expect(second).resolves.toBeUndefined();
  });

  it('leaves no question open when the kernel goes', async () => {
    const model = await make();
    const asked = model.channel.requestWindow(0, { start: 0, end: 5 }, 100);
    comm.end();
    await expect(asked).resolves.toBeUndefined();
  });

  it('shows the report where there is no renderer of ours', async () => {
    const model = await make(fixture);
    const view = await manager.create_view(model as unknown as DOMWidgetModel);
    Widget.attach(view.luminoWidget, document.body);
    await nextFrame();
    expect(view.el.querySelector('[role=heading]')?.textContent).toMatch(/^Peak /);
    view.remove();
    expect(view.el.querySelector('.memtrack-Report')).toBeNull();
  });
});
