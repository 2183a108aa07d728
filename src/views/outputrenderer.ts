// A renderer that holds one widget: small enough to load with the page, it fetches the view when there is
// something to show.
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { Widget } from '@lumino/widgets';
import { Panel } from '@lumino/widgets';

/** Shows the output of one MIME type as what `create` gives. */
export abstract class OutputRenderer extends Panel implements IRenderMime.IRenderer {
  private _shown: string | undefined = '';
  private _job = 0;

  constructor(private readonly _mimeType: string) {
    super();
    this.addClass('memtrack-Output');
  }

  /** Returns the view of `data`, or a sentence why there is none. */
  protected abstract create(data: unknown): Promise<Widget>;

  /** Show `model`; the same again leaves alone what the reader has opened, the latest call wins. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const job = ++this._job;
    const data = model.data[this._mimeType];
    const text = JSON.stringify(data);
    if (text === this._shown) {
      return;
    }
    const widget = await this.create(data);
    if (this.isDisposed || job !== this._job) {
      widget.dispose();
      return;
    }
    this._shown = text;
    [...this.widgets].forEach(old => old.dispose());
    this.addWidget(widget);
  }
}
