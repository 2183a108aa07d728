// jsdom has no DecompressionStream; every browser that runs JupyterLab 4 has. Import for its effect.
import { DecompressionStream } from 'stream/web';

Object.assign(globalThis, { DecompressionStream });
