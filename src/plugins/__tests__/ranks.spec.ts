import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';

import { RANKS_MIME_TYPE } from '../../wire/mimetype';
import { ranksPlugin } from '../ranks';

describe('the plugin of ranks', () => {
  const factories: [IRenderMime.IRendererFactory, number][] = [];
  const registry = {
    addFactory: (factory: IRenderMime.IRendererFactory, rank: number) =>
      factories.push([factory, rank])
  };

  it('comes before ipywidgets, in untrusted notebooks too', () => {
    void ranksPlugin.activate({} as JupyterFrontEnd, registry, null, null);
    const [factory, rank] = factories[0] ?? [];
    expect(rank).toBeLessThan(-10);
    expect(factory).toMatchObject({ safe: true, mimeTypes: [RANKS_MIME_TYPE] });
  });

  it('makes a renderer without any of the optional services', () => {
    const options = { mimeType: RANKS_MIME_TYPE } as IRenderMime.IRendererOptions;
    const renderer = factories[0]?.[0].createRenderer(options);
    expect(renderer?.node.isConnected).toBe(false);
    renderer?.dispose();
  });
});
