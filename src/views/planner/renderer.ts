// The renderer of the MIME type of plans: small enough to load with the page, it fetches the planner when
// there is something to show.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { Widget } from '@lumino/widgets';
import { Panel } from '@lumino/widgets';

/** Shows the plan of an output. */
export class PlanRenderer extends Panel implements IRenderMime.IRenderer {
  private _shown = '';
  private _job = 0;

  constructor(
    private readonly _mimeType: string,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('memtrack-Output');
  }

  /** Show `model`; the same again leaves alone what the reader has moved, the latest call wins. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const job = ++this._job;
    const { plannerOf } = await import('./show');
    if (this.isDisposed || job !== this._job) {
      return;
    }
    const data = model.data[this._mimeType];
    const text = JSON.stringify(data);
    if (text !== this._shown) {
      this._shown = text;
      this._show(plannerOf(data, this._trans));
    }
  }

  private _show(widget: Widget): void {
    [...this.widgets].forEach(old => old.dispose());
    this.addWidget(widget);
  }
}
