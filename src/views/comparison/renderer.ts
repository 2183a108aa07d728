// The renderer of the MIME type of comparisons: small enough to load with the page, it fetches the view
// when there is something to show.
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { Widget } from '@lumino/widgets';
import { Panel } from '@lumino/widgets';

import type { ComparisonWidget } from '.';

/** Shows the comparison of an output. */
export class ComparisonRenderer extends Panel implements IRenderMime.IRenderer {
  private _shown: unknown;
  private _job = 0;

  constructor(
    private readonly _mimeType: string,
    private readonly _services: ComparisonWidget.IOptions
  ) {
    super();
    this.addClass('memtrack-Output');
  }

  /** Show `model`; the same again leaves alone what the reader has opened, the latest call wins. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const job = ++this._job;
    const isStale = (): boolean => this.isDisposed || job !== this._job;
    const [{ ComparisonWidget }, { unpackComparison }, { failureText, failureWidget }] =
      await Promise.all([
        import('.'),
        import('../../wire/decodecomparison'),
        import('../report/failure')
      ]);
    const data: unknown = model.data[this._mimeType];
    if (isStale() || data === this._shown) {
      return;
    }
    try {
      const comparison = await unpackComparison(data);
      if (!isStale()) {
        this._show(new ComparisonWidget(comparison, this._services));
        this._shown = data;
      }
    } catch (error) {
      if (!isStale()) {
        this._show(failureWidget(failureText(error, this._services.trans)));
      }
    }
  }

  private _show(widget: Widget): void {
    [...this.widgets].forEach(old => old.dispose());
    this.addWidget(widget);
  }
}
