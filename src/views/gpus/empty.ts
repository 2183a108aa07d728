// Why there are no devices to show, and the way out; and the line above figures that are old.
import type { TranslationBundle } from '@jupyterlab/translation';

import { PACKAGE_VERSION } from '../../base/version';
import type { GpuModel, IServerProblem } from '../../model/gpus/model';
import type { Text } from '../../wire';
import type { IGpuState } from '../../wire/gpus';

/** What stands in the place of the devices: what is the matter, what helps, a command, details. */
export interface IExplanation {
  /** A name of the state, for tests and for telling one from another. */
  readonly id: string;
  readonly title: string;
  readonly advice: string;
  readonly command: string;
  readonly detail: string;
}

/** Returns why there is nothing to show; undefined where there is something. */
export function explanationOf(
  model: GpuModel,
  trans: TranslationBundle,
  say: (text: Text) => string
): IExplanation | undefined {
  const { state, problem } = model;
  if (problem !== undefined && (state === undefined || !isLate(problem))) {
    return ofProblem(problem, trans);
  }
  if (state === undefined) {
    return asking(trans);
  }
  return state.devices.length > 0 ? undefined : ofStatus(state, trans, say);
}

/** Whether the latest figures are still worth to be seen, as those of their time. */
export function isLate({ id }: IServerProblem): boolean {
  return id === 'unreachable' || id === 'slow';
}

function asking(trans: TranslationBundle): IExplanation {
  const title = trans.__('Asking the server for its GPUs …');
  return { id: 'asking', title, advice: '', command: '', detail: '' };
}

function ofStatus(
  { status }: IGpuState,
  trans: TranslationBundle,
  say: (text: Text) => string
): IExplanation {
  if (status.id === 'ok') {
    return {
      id: 'no_devices',
      title: trans.__('No GPU was found where Jupyter Server runs.'),
      advice: trans.__(
        'Recording works all the same, on the CPU; what a model would need on a GPU can be predicted.'
      ),
      command: '%memtrack predict BUILD --gpu NAME',
      detail: status.detail
    };
  }
  const { id, message, advice, detail } = status;
  return { id, title: say(message), advice: say(advice), command: '', detail };
}

function ofProblem({ id, detail }: IServerProblem, trans: TranslationBundle): IExplanation {
  switch (id) {
    case 'missing':
      return {
        id,
        title: trans.__('The server half of memtrack is not enabled.'),
        advice: trans.__(
          'This page has memtrack, but Jupyter Server does not. Run this where the server runs, in its environment, and restart it:'
        ),
        command: 'pip install memtrack && jupyter server extension enable memtrack',
        detail
      };
    case 'old':
    case 'version':
      return {
        id,
        title: trans.__('The server half of memtrack is of another version.'),
        advice: trans.__(
          'This page has %1. Bring the server to the same version, restart it, then reload the page:',
          PACKAGE_VERSION
        ),
        command: `pip install memtrack==${PACKAGE_VERSION}`,
        detail
      };
    case 'forbidden':
      return {
        id,
        title: trans.__('The server does not let this page ask.'),
        advice: trans.__('Reload the page to log in again; else ask whoever runs this server.'),
        command: '',
        detail
      };
    case 'unreachable':
      return {
        id,
        title: trans.__('The server does not answer.'),
        advice: trans.__('It is tried again and again. If it was ended, start it anew.'),
        command: '',
        detail
      };
    case 'slow':
      return asking(trans);
    case 'understood':
      return {
        id,
        title: trans.__('What the server says cannot be read.'),
        advice: trans.__('Something between page and server may change it; please report this:'),
        command: '',
        detail
      };
  }
}
