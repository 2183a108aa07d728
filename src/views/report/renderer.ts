// The renderer of our MIME type: small enough to load with the page, it fetches the view when there
// is something to show, and finds the live report of an output when there is one.
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Panel } from '@lumino/widgets';

import type { ILiveReports } from '../../model/live';
import type { ReportWidget } from '.';
import type { Preferences } from '../../model/preferences';

/** What a renderer is made from. */
export interface IRendererServices {
  readonly trans: TranslationBundle;
  readonly language: string;
  readonly preferences: Preferences;
  /** Undefined where there are no live reports. */
  readonly liveReports: ILiveReports | undefined;
}

/** Shows the report of an output. */
export class ReportRenderer extends Panel implements IRenderMime.IRenderer {
  private _view: ReportWidget | undefined;
  private _modelId = '';
  private _job = 0;

  constructor(
    private readonly _mimeType: string,
    private readonly _services: IRendererServices
  ) {
    super();
    this.addClass('memtrack-Output');
    this._services.liveReports?.changed.connect(this._onLiveReports, this);
  }

  /** Show `model`; called again it brings the same view up to date, and the latest call wins. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const job = ++this._job;
    const isStale = (): boolean => this.isDisposed || job !== this._job;
    const [{ ReportWidget }, { unpackNotebook }] = await Promise.all([
      import('.'),
      import('../../wire')
    ]);
    if (isStale()) {
      return;
    }
    try {
      const { report, modelId } = await unpackNotebook(model.data[this._mimeType]);
      if (isStale()) {
        return;
      }
      const view = this._view ?? this._show(new ReportWidget(this._services));
      view.setReport(report);
      this._modelId = modelId;
      this._attach();
    } catch (error) {
      await this._fail(error, isStale);
    }
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._services.liveReports?.changed.disconnect(this._onLiveReports, this);
      super.dispose();
    }
  }

  private _show(view: ReportWidget): ReportWidget {
    this._clear();
    this._view = view;
    this.addWidget(view);
    return view;
  }

  private _clear(): void {
    this._view = undefined;
    [...this.widgets].forEach(widget => widget.dispose());
  }

  private async _fail(error: unknown, isStale: () => boolean): Promise<void> {
    const { failureWidget, failureText } = await import('./failure');
    if (!isStale()) {
      this._modelId = '';
      this._clear();
      this.addWidget(failureWidget(failureText(error, this._services.trans)));
    }
  }

  private _onLiveReports(_: ILiveReports, id: string): void {
    if (id === this._modelId) {
      this._attach();
    }
  }

  private _attach(): void {
    if (this._view !== undefined) {
      this._view.live =
        this._modelId === '' ? undefined : this._services.liveReports?.get(this._modelId);
    }
  }
}
