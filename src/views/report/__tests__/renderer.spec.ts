import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Widget } from '@lumino/widgets';

import type { ILiveReport, ILiveReports } from '../../../model/live';
import { Registry } from '../../../model/registry';
import { Preferences } from '../../../model/preferences';
import { MIME_TYPE } from '../../../wire';
import { readFixture } from '../../../wire/__tests__/fixture';
import '../../../wire/__tests__/streams';
import { FakeLive } from '../../__tests__/live';
import { trans, nextFrame } from '../../__tests__/sample';
import { ReportRenderer } from '../renderer';

jest.mock('../../../draw/plotly', () => ({ drawFigure: jest.fn(), purgeFigure: jest.fn() }));

const packed = readFixture('notebook.json');

function modelOf(changes: Record<string, unknown> = {}): IRenderMime.IMimeModel {
  const data = { ...packed, ...changes } as ReadonlyPartialJSONObject;
  return { trusted: false, metadata: {}, data: { [MIME_TYPE]: data }, setData: jest.fn() };
}

describe('the renderer of an output', () => {
  const preferences = new Preferences();
  let liveReports: ILiveReports;
  let renderer: ReportRenderer;

  beforeEach(() => {
    liveReports = new Registry<ILiveReport>();
    renderer = new ReportRenderer(MIME_TYPE, {
      trans,
      language: 'en',
      preferences,
      liveReports
    });
    Widget.attach(renderer, document.body);
  });

  afterEach(() => renderer.dispose());

  const report = (): Element | null => renderer.node.querySelector('.memtrack-Report');
  const failure = (): string => renderer.node.querySelector('[role=alert]')?.textContent ?? '';

  it('shows the report of an untrusted notebook without a kernel', async () => {
    await renderer.renderModel(modelOf());
    await nextFrame();
    expect(report()?.querySelector('[role=heading]')?.textContent).toMatch(/^Peak /);
  });

  it('shown again keeps the view and what the reader did there', async () => {
    await renderer.renderModel(modelOf());
    await nextFrame();
    const first = report();
    renderer.node.querySelectorAll<HTMLElement>('[role=tab]')[3]?.click();
    await renderer.renderModel(modelOf());
    await nextFrame();
    expect(report()).toBe(first);
    const tab = renderer.node.querySelector('[role=tab][aria-selected=true]');
    expect(tab?.textContent).toBe('Ledger');
  });

  it('shows the latest of two that come at once', async () => {
    const label = 'older';
    const other = { ...(packed.report as object), label };
    const older = renderer.renderModel(modelOf({ report: other }));
    const newer = renderer.renderModel(modelOf());
    await Promise.all([older, newer]);
    await nextFrame();
    expect(report()?.querySelector('.memtrack-Report-facts')?.textContent).not.toContain(label);
  });

  it('shows nothing when it is disposed meanwhile', async () => {
    const rendering = renderer.renderModel(modelOf());
    renderer.dispose();
    await rendering;
    expect(report()).toBeNull();
  });

  it('says in one sentence what it cannot show, and recovers', async () => {
    await renderer.renderModel(modelOf({ schema: 'memtrack.report/2' }));
    expect(failure()).toMatch(/^This memory report was written by another version of memtrack\./);
    await renderer.renderModel(modelOf({ buffers: 'AAAA' }));
    expect(failure()).toMatch(/^This memory report is damaged and cannot be shown \(/);
    expect(report()).toBeNull();
    await renderer.renderModel(modelOf());
    expect(failure()).toBe('');
    expect(report()).not.toBeNull();
  });

  describe('with a kernel', () => {
    it('attaches to a live report that is there', async () => {
      const live = new FakeLive('m1');
      liveReports.add(live);
      await renderer.renderModel(modelOf({ model_id: 'm1' }));
      expect(live.seenTicks).toEqual([0]);
    });

    it('attaches when it comes later, and lets go when it dies', async () => {
      await renderer.renderModel(modelOf({ model_id: 'm1' }));
      const live = new FakeLive('m1');
      const entry = liveReports.add(live);
      expect(live.seenTicks).toEqual([0]);
      entry.dispose();
      live.say(1, 1024);
      await nextFrame();
      expect(live.seenTicks).toEqual([0]);
      expect(report()).not.toBeNull();
    });

    it('leaves other reports alone', async () => {
      await renderer.renderModel(modelOf({ model_id: 'm1' }));
      const other = new FakeLive('m2');
      liveReports.add(other);
      expect(other.seenTicks).toEqual([]);
    });

    it('hears nothing after it is disposed', async () => {
      await renderer.renderModel(modelOf({ model_id: 'm1' }));
      renderer.dispose();
      const live = new FakeLive('m1');
      liveReports.add(live);
      expect(live.seenTicks).toEqual([]);
    });
  });
});
