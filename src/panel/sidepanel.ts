// The side panel as JupyterLab knows it: light, made at start; what it holds is loaded when it is first seen.
import { SidePanel } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { Panel, Widget } from '@lumino/widgets';

/** What the panel is made with. */
export interface ISidePanelOptions {
  /** Makes what the panel holds. */
  readonly load: () => Promise<Widget>;
  /** Called when the panel can be seen and when it cannot any more. */
  readonly sightChanged: (isInSight: boolean) => void;
  /** What stands there until it is loaded, and where it cannot be. */
  readonly words: { readonly loading: string; readonly failed: string };
}

/** A side panel that tells whether it can be seen. */
export class GpuSidePanel extends SidePanel {
  private _isInSight = false;
  private _loading: Promise<void> | undefined;

  constructor(private readonly _options: ISidePanelOptions) {
    super({ content: new Panel() });
    this.addClass('memtrack-GpuPanel');
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._tell(false);
      super.dispose();
    }
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._tell(this.isVisible);
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._tell(this.isVisible);
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this._tell(false);
  }

  protected override onBeforeDetach(message: Message): void {
    this._tell(false);
    super.onBeforeDetach(message);
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    this.content.widgets[0]?.node.focus();
  }

  private _tell(isInSight: boolean): void {
    if (isInSight === this._isInSight) {
      return;
    }
    this._isInSight = isInSight;
    if (isInSight) {
      this._loading ??= this._load();
    }
    this._options.sightChanged(isInSight);
  }

  /** What could not be loaded is tried again when the panel is next seen. */
  private async _load(): Promise<void> {
    const { load, words } = this._options;
    const line = new Widget();
    line.addClass('memtrack-GpuPanel-line');
    line.node.setAttribute('role', 'status');
    line.node.textContent = words.loading;
    this.content.widgets[0]?.dispose();
    this.content.addWidget(line);
    try {
      const widget = await load();
      line.dispose();
      if (this.isDisposed) {
        widget.dispose();
      } else {
        this.content.addWidget(widget);
      }
    } catch (error) {
      console.error(error);
      line.node.textContent = words.failed;
      this._loading = undefined;
    }
  }
}
