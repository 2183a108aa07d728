// The kernels of this page's notebooks and consoles, and which of them is in front. JupyterLab's shell
// tells of consoles too; Notebook 7 has a notebook alone.
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ISessionContext } from '@jupyterlab/apputils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

import { UsageComm } from '../api/usagecomm';
import type { ICurrentNotebook } from '../model/gpus/model';

/** Follows the notebooks of this page. `changed` comes when another kernel is in front. */
export class Notebooks implements IDisposable {
  private readonly _changed = new Signal<this, void>(this);
  private readonly _comms = new Map<ISessionContext, UsageComm>();
  private readonly _followed = new WeakSet<ISessionContext>();
  private _front: ISessionContext | undefined;
  private _isDisposed = false;

  constructor(
    shell: JupyterFrontEnd.IShell,
    private readonly _tracker: INotebookTracker | undefined
  ) {
    _tracker?.forEach(panel => this._follow(panel.sessionContext));
    _tracker?.widgetAdded.connect(this._onAdded, this);
    _tracker?.currentChanged.connect(this._onNotebook, this);
    shell.currentChanged?.connect(this._onShell, this);
    this._choose(_tracker?.currentWidget?.sessionContext);
    this._onShell(shell);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The notebook or console in front, or that was before a widget of another kind; undefined without a kernel. */
  get current(): ICurrentNotebook | undefined {
    const kernel = this._front?.session?.kernel;
    return kernel ? { kernelId: kernel.id, path: this._front?.path ?? '' } : undefined;
  }

  /** The comm to the kernel in front. */
  get comm(): UsageComm | undefined {
    return this._front && this._comms.get(this._front);
  }

  /** The comm to a kernel that a notebook of this page has. */
  commOf(kernelId: string): UsageComm | undefined {
    return [...this._comms.values()].find(comm => comm.kernelId === kernelId);
  }

  /** The open notebook with this kernel. */
  panelOf(kernelId: string): NotebookPanel | undefined {
    return this._tracker?.find(panel => panel.sessionContext.session?.kernel?.id === kernelId);
  }

  /** All comms, for who wants to stop them. */
  get comms(): readonly UsageComm[] {
    return [...this._comms.values()];
  }

  /** Whether the notebook in front has memtrack in a cell: its kernel may have it loaded. */
  get isOfMemtrack(): boolean {
    const panel = this._tracker?.find(({ sessionContext }) => sessionContext === this._front);
    const cells = panel?.content.model?.cells;
    return (
      cells !== undefined &&
      [...cells].some(cell => cell.sharedModel.getSource().includes('memtrack'))
    );
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      Signal.clearData(this);
      this._comms.forEach(comm => comm.dispose());
      this._comms.clear();
    }
  }

  private _onAdded(_: INotebookTracker, panel: NotebookPanel): void {
    this._follow(panel.sessionContext);
  }

  private _onNotebook(_: INotebookTracker, panel: NotebookPanel | null): void {
    this._choose(panel?.sessionContext);
  }

  private _onShell(shell: JupyterFrontEnd.IShell): void {
    const context = sessionOf(shell.currentWidget);
    if (context !== undefined) {
      this._choose(context);
    }
  }

  private _choose(context: ISessionContext | undefined): void {
    if (context !== undefined) {
      this._follow(context);
    }
    if (context !== this._front) {
      this._front = context;
      this._changed.emit();
    }
  }

  private _follow(context: ISessionContext): void {
    if (this._comms.has(context) || this._followed.has(context)) {
      return;
    }
    this._followed.add(context);
    context.kernelChanged.connect(this._onKernel, this);
    context.disposed.connect(this._onClosed, this);
    this._onKernel(context);
  }

  private _onKernel(context: ISessionContext): void {
    this._comms.get(context)?.dispose();
    this._comms.delete(context);
    const kernel = context.session?.kernel;
    if (kernel) {
      this._comms.set(context, new UsageComm(kernel));
    }
    if (context === this._front) {
      this._changed.emit();
    }
  }

  private _onClosed(context: ISessionContext): void {
    this._comms.get(context)?.dispose();
    this._comms.delete(context);
    if (context === this._front) {
      this._front = undefined;
      this._changed.emit();
    }
  }
}

function sessionOf(widget: Widget | null): ISessionContext | undefined {
  const context: unknown = widget !== null && 'sessionContext' in widget && widget.sessionContext;
  const isSession = typeof context === 'object' && context !== null && 'kernelChanged' in context;
  return isSession ? (context as ISessionContext) : undefined;
}
