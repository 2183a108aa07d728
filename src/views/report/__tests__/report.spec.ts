import { Widget } from '@lumino/widgets';

import { Preferences } from '../../../model/preferences';
import { FakeLive } from '../../__tests__/live';
import { trans, nextFrame, reportOf, viewOf } from '../../__tests__/sample';
import { ReportWidget } from '..';

jest.mock('../../../draw/plotly', () => ({ drawFigure: jest.fn(), purgeFigure: jest.fn() }));

describe('a report', () => {
  let preferences: Preferences;
  let widget: ReportWidget;

  function make(language = 'en'): ReportWidget {
    widget = new ReportWidget({ trans, language, preferences });
    Widget.attach(widget, document.body);
    return widget;
  }

  const text = (selector: string): string => widget.node.querySelector(selector)?.textContent ?? '';
  const isHidden = (selector: string): boolean =>
    widget.node.querySelector(selector)?.classList.contains('lm-mod-hidden') ?? true;

  beforeEach(() => {
    preferences = new Preferences();
    preferences.values = { ...preferences.values, defaultTab: 'ledger' };
  });

  afterEach(() => widget.dispose());

  it.each([
    ['zh_CN', '峰值 9 KiB', '其中一半是 logits。还有。'],
    ['zh-TW', '峰值 9 KiB', '其中一半是 logits。还有。'],
    ['fr_FR', 'Peak 9 KiB', 'Half of it is logits.More.'],
    ['default', 'Peak 9 KiB', 'Half of it is logits.More.']
  ])('says its first lines in the language %s', async (language, headline, details) => {
    make(language).setReport(reportOf());
    await nextFrame();
    expect(text('[role=heading]')).toBe(headline);
    expect(text('.memtrack-Report-details')).toBe(details);
  });

  it('tells how it came about and what is missing', async () => {
    make().setReport(reportOf({ evidence: 'predicted', state: 'interrupted' }));
    await nextFrame();
    const badges = [...widget.node.querySelectorAll('.memtrack-Report-badges > *')];
    expect(badges.map(badge => badge.textContent)).toEqual(['predicted', 'interrupted']);
    expect(text('.memtrack-Report-facts')).toBe('gpt2 · run 14 · 2 steps · 41.0 ms a step');
    expect(text('.memtrack-Report-notices')).toBe('Work on other threads is not seen.');
  });

  it('says beside every tab that its figures are predicted, and offers no time axis', async () => {
    make().setReport(reportOf({ evidence: 'predicted', stepNs: undefined }));
    await nextFrame();
    expect(text('.memtrack-Report-facts')).toBe('gpt2 · run 14 · 2 steps');
    const badge = widget.node.querySelector<HTMLElement>('.memtrack-Tabs-bar .memtrack-Badge');
    expect(badge?.textContent).toBe('predicted');
    expect(badge?.hidden).toBe(false);
    const tabs = [...widget.node.querySelectorAll<HTMLElement>('[role=tab]')];
    tabs.find(tab => tab.textContent === 'Timeline')?.click();
    const axes = widget.node.querySelector<HTMLElement>('.memtrack-Timeline .memtrack-Buttons');
    expect(axes?.textContent).toBe('EventsTime');
    expect(axes?.hidden).toBe(true);
    widget.setReport(reportOf({ evidence: 'measured' }));
    await nextFrame();
    expect(badge?.hidden).toBe(true);
    expect(axes?.hidden).toBe(false);
  });

  it('folds to its first two lines, and remembers it for the run', async () => {
    make().setReport(reportOf());
    await nextFrame();
    const fold = widget.node.querySelector<HTMLElement>('.memtrack-Report-fold');
    expect(fold?.getAttribute('aria-expanded')).toBe('true');
    fold?.click();
    expect(fold?.getAttribute('aria-expanded')).toBe('false');
    expect(widget.node.querySelector<HTMLElement>('.memtrack-Report-body')?.hidden).toBe(true);
    expect(isHidden('.memtrack-Tabs')).toBe(true);
    widget.dispose();
    make().setReport(reportOf());
    expect(isHidden('.memtrack-Tabs')).toBe(true);
  });

  it('follows the settings as they change', async () => {
    make().setReport(reportOf());
    await nextFrame();
    preferences.values = { ...preferences.values, isFolded: true, defaultTab: 'timeline' };
    expect(isHidden('.memtrack-Tabs')).toBe(true);
    expect(text('[role=tab][aria-selected=true]')).toBe('Timeline');
  });

  it('lets the reader choose a device only where there are several', async () => {
    const cpu = viewOf(2, { device: { kind: 'cpu', index: -1, name: 'cpu', total: -1 } });
    make().setReport(reportOf());
    await nextFrame();
    const chooser = widget.node.querySelector('select');
    expect(chooser?.hidden).toBe(true);
    widget.setReport(reportOf({ views: [viewOf(), cpu] }));
    await nextFrame();
    expect(chooser?.hidden).toBe(false);
    expect([...(chooser?.options ?? [])].map(option => option.text)).toEqual([
      'NVIDIA H200 (cuda:0)',
      'cpu'
    ]);
    if (chooser) {
      chooser.selectedIndex = 1;
      chooser.dispatchEvent(new Event('change'));
    }
    await nextFrame();
    expect(text('.memtrack-Ledger-table caption')).toBe('At the peak, cpu');
  });

  it('keeps tab and device when the same run comes again', async () => {
    make().setReport(reportOf({ views: [viewOf(), viewOf(2)] }));
    await nextFrame();
    widget.node.querySelectorAll<HTMLElement>('[role=tab]')[1]?.click();
    widget.setReport(reportOf({ views: [viewOf(), viewOf(2)], state: 'failed' }));
    await nextFrame();
    expect(text('[role=tab][aria-selected=true]')).toBe('Timeline');
    expect(text('.memtrack-mod-failed')).toBe('failed');
  });

  it('without a device has no tabs', async () => {
    make().setReport(reportOf({ views: [] }));
    await nextFrame();
    expect(isHidden('.memtrack-Tabs')).toBe(true);
    expect(text('[role=heading]')).toBe('Nothing was recorded.');
  });

  it('saved while it was going on says so, and that it goes on only where its kernel lives', async () => {
    make().setReport(reportOf({ state: 'recording' }));
    await nextFrame();
    const badges = (): (string | null)[] =>
      [...widget.node.querySelectorAll('.memtrack-Report-badges > *')].map(
        ({ textContent }) => textContent
      );
    expect(badges()).toEqual(['measured', 'unfinished']);
    const live = new FakeLive();
    widget.live = live;
    await nextFrame();
    expect(badges()).toEqual(['recording']);
    live.isClosed = true;
    live.closed.emit();
    await nextFrame();
    expect(badges()).toEqual(['measured', 'unfinished']);
  });

  describe('that is live', () => {
    it('shows each tick it draws, and says so', async () => {
      const live = new FakeLive();
      make().setReport(reportOf({ views: [], state: 'recording' }));
      widget.live = live;
      await nextFrame();
      expect(text('[role=heading]')).toBe(
        'Watching. The report comes here as soon as the model runs.'
      );
      expect(live.seenTicks).toEqual([0]);
      live.say(1, 1024);
      live.say(2, 2048);
      await nextFrame();
      expect(live.seenTicks).toEqual([0, 2]);
      expect(text('[role=heading]')).toBe('Peak 2.00 KiB so far');
      expect(text('.memtrack-Live-where')).toBe('step 4 · backward');
      expect(isHidden('.memtrack-Live')).toBe(false);
      const shown = [...widget.node.querySelectorAll<HTMLElement>('.memtrack-Live-figure')];
      expect(shown.filter(({ hidden }) => !hidden).map(({ textContent }) => textContent)).toEqual([
        'allocated 512 B',
        'peak 2.00 KiB',
        'elapsed 5.00 s'
      ]);
    });

    it('draws nothing and says nothing while it is hidden', async () => {
      const live = new FakeLive();
      make();
      widget.live = live;
      widget.hide();
      live.seenTicks.length = 0;
      live.say(1, 1024);
      await nextFrame();
      expect(live.seenTicks).toEqual([]);
      widget.show();
      await nextFrame();
      expect(live.seenTicks).toContain(1);
      expect(text('[role=heading]')).toBe('Peak 1.00 KiB so far');
    });

    it('becomes the final report when that comes', async () => {
      const live = new FakeLive();
      make();
      widget.live = live;
      live.say(1, 1024);
      await nextFrame();
      live.report = reportOf();
      live.reportChanged.emit();
      await nextFrame();
      expect(text('[role=heading]')).toBe('Peak 9 KiB');
      expect(isHidden('.memtrack-Live')).toBe(true);
    });

    it('no longer follows a live report that is taken away', async () => {
      const live = new FakeLive();
      make().setReport(reportOf({ state: 'recording' }));
      widget.live = live;
      live.say(1, 1024);
      await nextFrame();
      widget.live = undefined;
      live.say(2, 4096);
      await nextFrame();
      expect(live.seenTicks).not.toContain(2);
      expect(text('[role=heading]')).toBe('Peak 9 KiB');
    });
  });
});
