// The side panel of the GPUs, in the right area, and the commands that go with it.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IGpuMonitor } from '../tokens';

/** Ids of the commands. */
export namespace CommandIDs {
  export const showGpus = 'memtrack:show-gpus';
  export const freeMemory = 'memtrack:free-memory';
  export const showReport = 'memtrack:show-report';
}

const PANEL_ID = 'memtrack-gpu-panel';
// Behind JupyterLab's own panels.
const RANK = 910;
const NO_ARGUMENTS = { args: { type: 'object', properties: {} } } as const;

/** Adds the panel; what it shows is loaded when it is first seen. */
export const gpuPanelPlugin: JupyterFrontEndPlugin<void> = {
  id: 'memtrack:gpu-panel',
  description: 'Shows what is on the GPUs of the server, and whose it is.',
  autoStart: true,
  requires: [IGpuMonitor],
  optional: [ITranslator, ICommandPalette, ILayoutRestorer, INotebookTracker],
  activate: async (
    app: JupyterFrontEnd,
    monitor: IGpuMonitor,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    tracker: INotebookTracker | null
  ): Promise<void> => {
    const trans = (translator ?? nullTranslator).load('memtrack');
    const language = translator?.languageCode ?? 'en';
    const [{ GpuSidePanel }, { gpuIcon }] = await Promise.all([
      import('../panel/sidepanel'),
      import('../panel/icon')
    ]);
    const panel = new GpuSidePanel({
      load: async () => {
        const { makeView } = await import('../panel/view');
        return makeView(app, monitor, trans, language);
      },
      sightChanged: isInSight => monitor.setInSight('panel', isInSight),
      words: {
        loading: trans.__('Asking the server for its GPUs …'),
        failed: trans.__('This could not be loaded. Close the panel and open it to try again.')
      }
    });
    panel.id = PANEL_ID;
    panel.title.icon = gpuIcon;
    panel.title.caption = trans.__('GPUs');
    panel.node.setAttribute('role', 'region');
    panel.node.setAttribute('aria-label', trans.__('GPUs'));
    app.shell.add(panel, 'right', { rank: RANK, type: 'GPUs' });
    restorer?.add(panel, PANEL_ID);
    addCommands(app, monitor, tracker, trans, language);
    addToPalette(palette);
  }
};

function addCommands(
  app: JupyterFrontEnd,
  monitor: IGpuMonitor,
  tracker: INotebookTracker | null,
  trans: TranslationBundle,
  language: string
): void {
  const hasNotebook = (): boolean => Boolean(tracker?.currentWidget);
  const actions = async (): Promise<import('../panel/actions').GpuActions> => {
    const { makeActions } = await import('../panel/view');
    return makeActions(app, monitor, trans, language);
  };
  app.commands.addCommand(CommandIDs.showGpus, {
    label: trans.__('Show GPUs'),
    caption: trans.__('Show what is on the GPUs of the server, and whose it is'),
    describedBy: NO_ARGUMENTS,
    execute: () => app.shell.activateById(PANEL_ID)
  });
  app.commands.addCommand(CommandIDs.freeMemory, {
    label: trans.__('Free GPU Memory of This Notebook'),
    caption: trans.__('Give back what is safe, as %memtrack free does'),
    describedBy: NO_ARGUMENTS,
    isEnabled: hasNotebook,
    execute: async () => {
      const panel = tracker?.currentWidget;
      const kernel = panel?.sessionContext.session?.kernel;
      if (panel && kernel) {
        await (await actions()).freeKernel(kernel.id, panel.title.label);
      }
    }
  });
  app.commands.addCommand(CommandIDs.showReport, {
    label: trans.__('Show the Latest Memory Report'),
    caption: trans.__('Go to the latest memory report or explanation of an error in this notebook'),
    describedBy: NO_ARGUMENTS,
    isEnabled: hasNotebook,
    execute: async () => {
      const panel = tracker?.currentWidget;
      if (panel) {
        await (await actions()).showReport(panel);
      }
    }
  });
}

function addToPalette(palette: ICommandPalette | null): void {
  // What a reader who knows our name looks for.
  const category = 'memtrack';
  for (const command of Object.values(CommandIDs)) {
    palette?.addItem({ command, category });
  }
}
