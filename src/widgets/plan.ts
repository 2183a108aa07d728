// The planner as a widget, where there is no renderer of ours (VS Code, Voila, nbclassic). It needs
// nothing of its kernel but the payload.
import { DOMWidgetModel, type DOMWidgetView } from '@jupyter-widgets/base';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';

import { PACKAGE_NAME, PACKAGE_VERSION } from '../base/version';
import { HostView } from './hostview';

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

/** Model and view of planners, bound to one page. */
export interface IPlanWidgets {
  readonly PlanModel: typeof PlanModel;
  readonly PlanView: typeof DOMWidgetView;
}

/** Returns model and view that speak through `trans`. */
export function planWidgets(trans: TranslationBundle): IPlanWidgets {
  class PlanView extends HostView {
    protected override async create(): Promise<Widget> {
      const { plannerOf } = await import('../views/planner/show');
      return plannerOf(this.model.get('plan'), trans);
    }
  }
  return { PlanModel, PlanView };
}
