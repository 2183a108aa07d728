import type { JupyterFrontEnd } from '@jupyterlab/application';
import { IJupyterWidgetRegistry } from '@jupyter-widgets/base';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Signal } from '@lumino/signaling';

import type { ILiveReports } from '../../model/live';
import { Preferences } from '../../model/preferences';
import { MIME_TYPE } from '../../wire';
import { liveReportsPlugin } from '../livereports';
import { preferencesPlugin } from '../preferences';
import { reportPlugin } from '../report';
import { widgetsPlugin } from '../widgets';
import schema from '../../../schema/plugin.json';

const app = {} as JupyterFrontEnd;

describe('the plugin of the renderer', () => {
  const factories: [IRenderMime.IRendererFactory, number][] = [];
  const registry = {
    addFactory: (factory: IRenderMime.IRendererFactory, rank: number) =>
      factories.push([factory, rank])
  };

  it('comes before ipywidgets, and in untrusted notebooks too', () => {
    void reportPlugin.activate(app, registry, null, null, null);
    const [factory, rank] = factories[0] ?? [];
    expect(rank).toBeLessThan(-10);
    expect(factory).toMatchObject({ safe: true, mimeTypes: [MIME_TYPE] });
  });

  it('makes a renderer without any of the optional services', () => {
    const options = { mimeType: MIME_TYPE } as IRenderMime.IRendererOptions;
    const renderer = factories[0]?.[0].createRenderer(options);
    expect(renderer?.node.isConnected).toBe(false);
    renderer?.dispose();
  });
});

describe('the plugin of the settings', () => {
  it('applies what is chosen, at once and as it changes', async () => {
    const settings = { composite: { defaultTab: 'ledger' } };
    const changed = new Signal<object, void>(settings);
    const load = jest.fn().mockResolvedValue(Object.assign(settings, { changed }));
    const transform = jest.fn();
    const registry = { load, transform };
    const preferences = (await preferencesPlugin.activate(app, registry)) as Preferences;
    // The schema is translated from the first fetch on.
    expect(transform).toHaveBeenCalledWith('memtrack:plugin', { fetch: expect.any(Function) });
    await Promise.resolve();
    expect(load).toHaveBeenCalledWith('memtrack:plugin');
    expect(preferences.values.defaultTab).toBe('ledger');
    settings.composite.defaultTab = 'timeline';
    changed.emit();
    expect(preferences.values.defaultTab).toBe('timeline');
  });

  it('has settings that say what they are and allow nothing else', () => {
    expect(schema.additionalProperties).toBe(false);
    for (const property of Object.values(schema.properties)) {
      expect(property).toMatchObject({
        title: expect.any(String),
        description: expect.any(String)
      });
      expect(property).toHaveProperty('default');
    }
  });
});

describe('the plugin of the widgets', () => {
  const liveReports = liveReportsPlugin.activate(app) as ILiveReports;

  it('registers a module that is loaded when the first widget comes', async () => {
    const registerWidget = jest.fn();
    const page = { resolveOptionalService: jest.fn().mockResolvedValue({ registerWidget }) };
    await widgetsPlugin.activate(
      page as unknown as JupyterFrontEnd,
      null,
      new Preferences(),
      liveReports
    );
    expect(page.resolveOptionalService).toHaveBeenCalledWith(IJupyterWidgetRegistry);
    const data = registerWidget.mock.calls[0]?.[0];
    expect(data).toMatchObject({ name: 'memtrack' });
    expect(Object.keys(await data.exports())).toEqual([
      'ReportModel',
      'ReportView',
      'PlanModel',
      'PlanView',
      'ComparisonModel',
      'ComparisonView',
      'HistoryModel',
      'HistoryView'
    ]);
  });

  it('does nothing where ipywidgets is not installed', async () => {
    const page = { resolveOptionalService: jest.fn().mockResolvedValue(null) };
    await expect(
      widgetsPlugin.activate(page as unknown as JupyterFrontEnd, null, null, null)
    ).resolves.toBeUndefined();
  });
});
