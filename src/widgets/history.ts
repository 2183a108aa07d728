// The widget of a history: the model carries its messages, the view shows it where there is no renderer
// of ours (VS Code, Voila, nbclassic).
import type { IBackboneModelOptions } from '@jupyter-widgets/base';
import { DOMWidgetModel, type DOMWidgetView } from '@jupyter-widgets/base';
import type { IDisposable } from '@lumino/disposable';
import type { Widget } from '@lumino/widgets';

import { PACKAGE_NAME, PACKAGE_VERSION } from '../base/version';
import type { ILiveHistories } from '../model/history/live';
import type { HistoryWidget } from '../views/history';
import type { BinaryBuffer } from '../wire';
import { HistoryChannel } from './historychannel';
import { HostView } from './hostview';

const VERSION = `^${PACKAGE_VERSION}`;

/** What the page around the widgets offers. */
export interface IHistoryServices extends HistoryWidget.IOptions {
  /** Where the models make themselves known; undefined where nobody looks for them. */
  readonly liveHistories: ILiveHistories | undefined;
}

/** The history that a kernel answers for. */
export class HistoryModel extends DOMWidgetModel {
  // Backbone calls `initialize` from its constructor: an initializer here would run after it.
  declare channel: HistoryChannel;
  declare private _entry: IDisposable | undefined;

  override defaults(): Record<string, unknown> {
    return {
      ...super.defaults(),
      _model_name: 'HistoryModel',
      _model_module: PACKAGE_NAME,
      _model_module_version: VERSION,
      _view_name: 'HistoryView',
      _view_module: PACKAGE_NAME,
      _view_module_version: VERSION,
      history: {}
    };
  }

  override initialize(attributes: Record<string, unknown>, options: IBackboneModelOptions): void {
    super.initialize(attributes, options);
    this.on('msg:custom', (content: unknown, buffers: readonly BinaryBuffer[]) =>
      this.channel.receive(content, buffers)
    );
    this.on('comm_live_update', () => (this.comm_live ? this._open() : this._end()));
    this.on('destroy', () => this._end());
    this._open();
  }

  /** Where this model makes itself known. */
  protected get liveHistories(): ILiveHistories | undefined {
    return undefined;
  }

  private _open(): void {
    const channel = new HistoryChannel(this.model_id, content => this.send({ ...content }, {}));
    this.channel = channel;
    if (this.comm_live) {
      this._entry = this.liveHistories?.add(channel);
    } else {
      channel.close();
    }
  }

  private _end(): void {
    this._entry?.dispose();
    this.channel.close();
  }
}

/** Model and view of histories, bound to one page. */
export interface IHistoryWidgets {
  readonly HistoryModel: typeof HistoryModel;
  readonly HistoryView: typeof DOMWidgetView;
}

/** Returns model and view that use `services`. */
export function historyWidgets(services: IHistoryServices): IHistoryWidgets {
  class PageHistoryModel extends HistoryModel {
    protected override get liveHistories(): ILiveHistories | undefined {
      return services.liveHistories;
    }
  }
  class HistoryView extends HostView {
    protected override async create(): Promise<Widget> {
      const { historyOf } = await import('../views/history/show');
      const model: unknown = this.model;
      const live = model instanceof HistoryModel ? model.channel : undefined;
      return historyOf(this.model.get('history'), () => live, services);
    }
  }
  return { HistoryModel: PageHistoryModel, HistoryView };
}
