import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';

import { DIAGNOSIS_MIME_TYPE } from '../../wire/mimetype';
import { diagnosisPlugin } from '../diagnosis';

describe('the plugin of diagnoses', () => {
  it('comes first, in untrusted notebooks too, and needs nothing else', () => {
    const factories: [IRenderMime.IRendererFactory, number][] = [];
    const registry = {
      addFactory: (factory: IRenderMime.IRendererFactory, rank: number) =>
        factories.push([factory, rank])
    };
    void diagnosisPlugin.activate({} as JupyterFrontEnd, registry, null);
    const [factory, rank] = factories[0] ?? [];
    expect(rank).toBeLessThan(-10);
    expect(factory).toMatchObject({ safe: true, mimeTypes: [DIAGNOSIS_MIME_TYPE] });
    const options = { mimeType: DIAGNOSIS_MIME_TYPE } as IRenderMime.IRendererOptions;
    const renderer = factory?.createRenderer(options);
    expect(renderer?.node.isConnected).toBe(false);
    renderer?.dispose();
  });
});
