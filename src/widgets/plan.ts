// The planner as a widget, where there is no renderer of ours (VS Code, Voila, nbclassic). It needs
// nothing of its kernel but the payload.
import { DOMWidgetModel, DOMWidgetView } from '@jupyter-widgets/base';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { PACKAGE_NAME, PACKAGE_VERSION } from '../base/version';

const VERSION = `^${PACKAGE_VERSION}`;

/** Holds the payload of a plan. */
export class PlanModel extends DOMWidgetModel {
  override defaults(): Record<string, unknown> {
    return {
      ...super.defaults(),
      _model_name: 'PlanModel',
      _model_module: PACKAGE_NAME,
      _model_module_version: VERSION,
      _view_name: 'PlanView',
      _view_module: PACKAGE_NAME,
      _view_module_version: VERSION,
      plan: {}
    };
  }
}

/** Shows the planner of a `PlanModel` in an output. */
export abstract class PlanView extends DOMWidgetView {
  declare private _planner: Widget | undefined;

  protected abstract get trans(): TranslationBundle;

  override async render(): Promise<void> {
    const { plannerOf } = await import('../views/planner/show');
    if (this.luminoWidget.isDisposed) {
      return;
    }
    this._planner = plannerOf(this.model.get('plan'), this.trans);
    if (this.luminoWidget.isAttached) {
      Widget.attach(this._planner, this.el);
    }
  }

  override remove(): unknown {
    this._planner?.dispose();
    return super.remove();
  }

  // The view is the host of the planner, so the planner hears of what happens to it.
  override processLuminoMessage(message: Message): void {
    super.processLuminoMessage(message);
    const planner = this._planner;
    if (message.type === 'after-attach' && planner?.isAttached === false) {
      Widget.attach(planner, this.el);
    } else if (message.type === 'before-detach' && planner?.isAttached === true) {
      Widget.detach(planner);
    }
  }
}

/** Model and view of planners, bound to one page. */
export interface IPlanWidgets {
  readonly PlanModel: typeof PlanModel;
  readonly PlanView: typeof DOMWidgetView;
}

/** Returns model and view that speak through `trans`. */
export function planWidgets(trans: TranslationBundle): IPlanWidgets {
  class PagePlanView extends PlanView {
    protected override get trans(): TranslationBundle {
      return trans;
    }
  }
  return { PlanModel, PlanView: PagePlanView };
}
