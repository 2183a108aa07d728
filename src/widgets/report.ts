// The widget of a live report: the model carries its messages, the view shows it where there is no
// renderer of ours (VS Code, Voila, nbclassic).
import type { IBackboneModelOptions } from '@jupyter-widgets/base';
import { DOMWidgetModel, type DOMWidgetView } from '@jupyter-widgets/base';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import type { Widget } from '@lumino/widgets';

import { PACKAGE_NAME, PACKAGE_VERSION } from '../base/version';
import type { ILiveReports } from '../model/live';
import type { Preferences } from '../model/preferences';
import type { BinaryBuffer } from '../wire';
import { ReportChannel } from './channel';
import { HostView } from './hostview';

const VERSION = `^${PACKAGE_VERSION}`;

/** What the page around the widgets offers. */
export interface IReportServices {
  readonly trans: TranslationBundle;
  /** The reader's language, such as `zh_CN`. */
  readonly language: string;
  readonly preferences: Preferences;
  /** Where the models make themselves known; undefined where nobody looks for them. */
  readonly liveReports: ILiveReports | undefined;
}

/** The report that a kernel sends, and the way back to it. */
export class ReportModel extends DOMWidgetModel {
  // Backbone calls `initialize` from its constructor: an initializer here would run after it.
  declare channel: ReportChannel;
  declare private _entry: IDisposable | undefined;

  override defaults(): Record<string, unknown> {
    return {
      ...super.defaults(),
      _model_name: 'ReportModel',
      _model_module: PACKAGE_NAME,
      _model_module_version: VERSION,
      _view_name: 'ReportView',
      _view_module: PACKAGE_NAME,
      _view_module_version: VERSION,
      report: {}
    };
  }

  override initialize(attributes: Record<string, unknown>, options: IBackboneModelOptions): void {
    super.initialize(attributes, options);
    this.on('change:report', () => this.channel.receiveReport(this.get('report')));
    this.on('msg:custom', (content: unknown, buffers: readonly BinaryBuffer[]) =>
      this.channel.receive(content, buffers)
    );
    this.on('comm_live_update', () => (this.comm_live ? this._open() : this._end()));
    this.on('destroy', () => this._end());
    this._open();
  }

  /** Where this model makes itself known. */
  protected get liveReports(): ILiveReports | undefined {
    return undefined;
  }

  /** A kernel that was lost and found again gets a channel of its own: nobody waits on the old one. */
  private _open(): void {
    const channel = new ReportChannel(this.model_id, content => this.send(content, {}));
    this.channel = channel;
    channel.receiveReport(this.get('report'));
    if (this.comm_live) {
      this._entry = this.liveReports?.add(channel);
    } else {
      channel.close();
    }
  }

  private _end(): void {
    this._entry?.dispose();
    this.channel.close();
  }
}

/** Shows the report of a `ReportModel` in an output. */
export abstract class ReportView extends HostView {
  protected abstract get services(): IReportServices;

  protected override async create(): Promise<Widget | undefined> {
    const { ReportWidget } = await import('../views/report');
    const model: unknown = this.model;
    if (this.luminoWidget.isDisposed || !(model instanceof ReportModel)) {
      return undefined;
    }
    const report = new ReportWidget(this.services);
    report.live = model.channel;
    this.listenTo(model, 'comm_live_update', () => (report.live = model.channel));
    return report;
  }
}

/** The classes that a widget manager makes, bound to one page. */
export interface IReportWidgets {
  readonly ReportModel: typeof ReportModel;
  readonly ReportView: typeof DOMWidgetView;
}

/** Returns model and view that use `services`. */
export function reportWidgets(services: IReportServices): IReportWidgets {
  class PageReportModel extends ReportModel {
    protected override get liveReports(): ILiveReports | undefined {
      return services.liveReports;
    }
  }
  class PageReportView extends ReportView {
    protected override get services(): IReportServices {
      return services;
    }
  }
  return { ReportModel: PageReportModel, ReportView: PageReportView };
}
