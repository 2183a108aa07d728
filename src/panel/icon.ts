// The icon of the panel: a card with its fan, in the colours of the theme.
import { LabIcon } from '@jupyterlab/ui-components';

/** A graphics card. */
export const gpuIcon = new LabIcon({
  name: 'memtrack:gpu',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" fill-rule="evenodd" d="M2 4h2v1h17a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1h-4v2H7v-2H4v3H2V4Zm3 3v8h15V7H5Zm9.5 1a3 3 0 1 1 0 6 3 3 0 0 1 0-6Zm0 1.7a1.3 1.3 0 1 0 0 2.6 1.3 1.3 0 0 0 0-2.6ZM7 8.5h2.6v1.6H7V8.500Zm0 3.400h2.600v1.600H7v-1.600Z"/>
</svg>`
});
