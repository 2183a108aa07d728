// What the panel holds, and who does what its buttons say.
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';

import { assert } from '../base/assert';
import type { IGpuMonitor } from '../tokens';
import { GpusView } from '../views/gpus';
import { textIn } from '../wire';
import { GpuActions } from './actions';
import { GpuMonitor } from './monitor';

/** Returns the view of the GPUs. */
export function makeView(
  app: JupyterFrontEnd,
  monitor: IGpuMonitor,
  trans: TranslationBundle,
  language: string
): Widget {
  const actions = makeActions(app, monitor, trans, language);
  return new GpusView({ model: monitor.model, actions, trans, language });
}

/** Returns who interrupts, shuts down, opens and frees. */
export function makeActions(
  app: JupyterFrontEnd,
  monitor: IGpuMonitor,
  trans: TranslationBundle,
  language: string
): GpuActions {
  assert(monitor instanceof GpuMonitor, 'the monitor is that of our own plugin');
  return new GpuActions(app, monitor, trans, text => textIn(text, language));
}
