// The renderer of the MIME type of histories: it fetches the view when there is something to show, and
// finds the kernel that answers for it, when there is one.
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Panel } from '@lumino/widgets';

import type { HistoryWidget } from '.';
import type { ILiveHistories } from '../../model/history/live';

/** What a renderer is made from. */
export interface IHistoryRendererServices extends HistoryWidget.IOptions {
  /** Undefined where there are no live histories. */
  readonly liveHistories: ILiveHistories | undefined;
}

/** Shows the history of an output. */
export class HistoryRenderer extends Panel implements IRenderMime.IRenderer {
  private _view: HistoryWidget | undefined;
  private _modelId = '';
  private _shown = '';
  private _job = 0;

  constructor(
    private readonly _mimeType: string,
    private readonly _services: IHistoryRendererServices
  ) {
    super();
    this.addClass('memtrack-Output');
    _services.liveHistories?.changed.connect(this._onLiveHistories, this);
  }

  /** Show `model`; the same again leaves alone what the reader has opened, the latest call wins. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const job = ++this._job;
    const [{ HistoryWidget }, { decodeHistory }, { failureText, failureWidget }] =
      await Promise.all([
        import('.'),
        import('../../wire/decoderuns'),
        import('../report/failure')
      ]);
    const data = model.data[this._mimeType];
    const text = JSON.stringify(data);
    if (this.isDisposed || job !== this._job || text === this._shown) {
      return;
    }
    this._shown = text;
    [...this.widgets].forEach(widget => widget.dispose());
    this._view = undefined;
    try {
      const history = decodeHistory(data);
      this._view = new HistoryWidget(history, this._services);
      this._modelId = history.modelId;
      this.addWidget(this._view);
      this._attach();
    } catch (error) {
      this.addWidget(failureWidget(failureText(error, this._services.trans)));
    }
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._services.liveHistories?.changed.disconnect(this._onLiveHistories, this);
      super.dispose();
    }
  }

  private _onLiveHistories(_: ILiveHistories, id: string): void {
    if (id === this._modelId) {
      this._attach();
    }
  }

  private _attach(): void {
    if (this._view !== undefined) {
      this._view.live =
        this._modelId === '' ? undefined : this._services.liveHistories?.get(this._modelId);
    }
  }
}
