// The renderer of the MIME type of diagnoses: small enough to load with the page, it fetches the view
// when there is something to show.
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { Widget } from '@lumino/widgets';
import { Panel } from '@lumino/widgets';

import type { DiagnosisWidget } from '.';

/** Shows the diagnosis of an output. */
export class DiagnosisRenderer extends Panel implements IRenderMime.IRenderer {
  private _view: DiagnosisWidget | undefined;
  private _shown = '';
  private _job = 0;

  constructor(
    private readonly _mimeType: string,
    private readonly _services: DiagnosisWidget.IOptions
  ) {
    super();
    this.addClass('memtrack-Output');
  }

  /** Show `model`; the same again leaves alone what the reader has unfolded, the latest call wins. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const job = ++this._job;
    const [{ DiagnosisWidget }, { decodeDiagnosis }, { failureText, failureWidget }] =
      await Promise.all([import('.'), import('../../wire/decodediagnosis'), import('./failure')]);
    if (this.isDisposed || job !== this._job) {
      return;
    }
    const data = model.data[this._mimeType];
    const text = JSON.stringify(data);
    if (text === this._shown) {
      return;
    }
    this._shown = text;
    try {
      const diagnosis = decodeDiagnosis(data);
      this._view ??= this._show(new DiagnosisWidget(this._services));
      this._view.setDiagnosis(diagnosis);
    } catch (error) {
      this._view = undefined;
      this._show(failureWidget(failureText(error, this._services.trans)));
    }
  }

  private _show<T extends Widget>(widget: T): T {
    [...this.widgets].forEach(old => old.dispose());
    this.addWidget(widget);
    return widget;
  }
}
