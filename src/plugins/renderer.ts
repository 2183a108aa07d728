// How our renderers are registered: what every MIME type of ours has in common.
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';

// ipywidgets has -10: where both could show an output, ours does, as it needs no kernel.
const RANK = -20;

/** Has outputs of `mimeType` shown by what `create` gives, before any other renderer. */
export function addRenderer(
  rendermime: IRenderMimeRegistry,
  mimeType: string,
  create: (mimeType: string) => IRenderMime.IRenderer
): void {
  rendermime.addFactory(
    {
      // The payload is data: nothing in it becomes markup or code.
      safe: true,
      mimeTypes: [mimeType],
      defaultRank: RANK,
      createRenderer: options => create(options.mimeType)
    },
    RANK
  );
}
