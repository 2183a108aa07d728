// What the buttons of the panel do: to kernels of this server, through Jupyter's own routes.
import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { NotebookPanel } from '@jupyterlab/notebook';
import { KernelAPI } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';

import { bytesIn } from '../model/gpus/figures';
import type { IProcessRow } from '../model/gpus/rows';
import { rowName } from '../model/gpus/rows';
import type { Text } from '../wire';
import type { IGpuDevice } from '../wire/gpus';
import type { IGpuActions } from '../views/gpus/actions';
import { showLatest } from './latest';
import type { GpuMonitor } from './monitor';
import { askInterrupt, askShutDown } from './questions';

const READ_MS = 8000;

/** The actions of the panel in one application. */
export class GpuActions implements IGpuActions {
  constructor(
    private readonly _app: JupyterFrontEnd,
    private readonly _monitor: GpuMonitor,
    private readonly _trans: TranslationBundle,
    private readonly _say: (text: Text) => string
  ) {}

  open(row: IProcessRow): void {
    this._report(this._open(row));
  }

  explain(row: IProcessRow): void {
    this._report(this._explain(row));
  }

  free(row: IProcessRow): void {
    const id = row.process.kernel?.id;
    this._report(id === undefined ? Promise.resolve() : this.freeKernel(id, rowName(row)));
  }

  interrupt(row: IProcessRow): void {
    this._report(this._interrupt(row));
  }

  shutDown(row: IProcessRow, device: IGpuDevice): void {
    this._report(this._shutDown(row, device));
  }

  retry(): void {
    this._monitor.retry();
  }

  /** Gives back what is safe in a kernel of this page, and tells what went. */
  async freeKernel(kernelId: string, name: string): Promise<void> {
    const trans = this._trans;
    const answer = await this._monitor.notebooks.commOf(kernelId)?.free();
    if (answer === undefined) {
      const text = trans.__(
        'memtrack is not loaded in %1: run “%load_ext memtrack” there first.',
        name
      );
      Notification.warning(text, { autoClose: READ_MS });
    } else if ('refused' in answer) {
      Notification.warning(this._say(answer.refused), { autoClose: READ_MS });
    } else {
      const bytes = bytesIn(this._monitor.model.settings.units, answer.bytes);
      const text =
        answer.bytes > 0
          ? trans.__('%1 given back in %2.', bytes, name)
          : trans.__('Nothing in %1 could be given back: what is left is in use.', name);
      Notification[answer.bytes > 0 ? 'success' : 'info'](text, { autoClose: READ_MS });
    }
  }

  /** Shows the latest report or diagnosis in `panel`, or says that there is none. */
  async showReport(panel: NotebookPanel): Promise<void> {
    this._app.shell.activateById(panel.id);
    if (!(await showLatest(panel))) {
      const text = this._trans.__(
        'There is no memory report in %1 yet: “%memtrack MODEL” in a cell makes one.',
        panel.title.label
      );
      Notification.info(text, { autoClose: READ_MS });
    }
  }

  private async _open(row: IProcessRow): Promise<unknown> {
    const { path = '', id = '', type = '' } = row.process.kernel ?? {};
    const panel = this._monitor.notebooks.panelOf(id);
    if (panel !== undefined) {
      this._app.shell.activateById(panel.id);
      return panel;
    }
    const command = type === 'console' ? 'console:open' : 'docmanager:open';
    return this._app.commands.execute(command, { path, activate: true });
  }

  private async _explain(row: IProcessRow): Promise<void> {
    const opened = await this._open(row);
    if (opened instanceof NotebookPanel) {
      await this.showReport(opened);
    }
  }

  private async _interrupt(row: IProcessRow): Promise<void> {
    const id = row.process.kernel?.id;
    if (id !== undefined && (await askInterrupt(row, this._trans))) {
      await KernelAPI.interruptKernel(id, this._app.serviceManager.serverSettings);
    }
  }

  private async _shutDown(row: IProcessRow, device: IGpuDevice): Promise<void> {
    const id = row.process.kernel?.id;
    const { units } = this._monitor.model.settings;
    if (id === undefined || !(await askShutDown(row, device, units, this._trans))) {
      return;
    }
    const { sessions, kernels } = this._app.serviceManager;
    await sessions.refreshRunning();
    const session = [...sessions.running()].find(({ kernel }) => kernel?.id === id);
    // The session goes with its kernel; a kernel without one goes alone.
    await (session === undefined ? kernels.shutdown(id) : sessions.shutdown(session.id));
    const text = this._trans.__('The kernel of %1 was shut down.', rowName(row));
    Notification.success(text, { autoClose: READ_MS });
  }

  /** What could not be done is said, with the server's reason. */
  private _report(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      Notification.error(this._trans.__('That did not work: %1', reason), { autoClose: READ_MS });
    });
  }
}
