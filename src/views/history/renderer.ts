// The renderer of the MIME type of histories: it finds the kernel that answers for one, when there is one.
import type { Widget } from '@lumino/widgets';

import type { HistoryWidget } from '.';
import type { ILiveHistories } from '../../model/history/live';
import { OutputRenderer } from '../outputrenderer';

/** What a renderer is made from. */
export interface IHistoryRendererServices extends HistoryWidget.IOptions {
  /** Undefined where there are no live histories. */
  readonly liveHistories: ILiveHistories | undefined;
}

/** Shows the history of an output. */
export class HistoryRenderer extends OutputRenderer {
  private _follow: (id: string) => void = () => undefined;

  constructor(
    mimeType: string,
    private readonly _services: IHistoryRendererServices
  ) {
    super(mimeType);
    _services.liveHistories?.changed.connect(this._onLiveHistories, this);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._services.liveHistories?.changed.disconnect(this._onLiveHistories, this);
      super.dispose();
    }
  }

  protected override async create(data: unknown): Promise<Widget> {
    const [{ historyOf }, { HistoryWidget }] = await Promise.all([import('./show'), import('.')]);
    const { liveHistories } = this._services;
    const widget = historyOf(data, id => liveHistories?.get(id), this._services);
    this._follow = id => {
      if (widget instanceof HistoryWidget && !widget.isDisposed && id === widget.modelId) {
        widget.live = liveHistories?.get(id);
      }
    };
    return widget;
  }

  private _onLiveHistories(_: ILiveHistories, id: string): void {
    this._follow(id);
  }
}
