// A comparison as a widget, where there is no renderer of ours (VS Code, Voila, nbclassic). It needs
// nothing of its kernel but the payload.
import { DOMWidgetModel, type DOMWidgetView } from '@jupyter-widgets/base';
import type { Widget } from '@lumino/widgets';

import { PACKAGE_NAME, PACKAGE_VERSION } from '../base/version';
import type { ComparisonWidget } from '../views/comparison';
import { HostView } from './hostview';

const VERSION = `^${PACKAGE_VERSION}`;

/** Holds the payload of a comparison. */
export class ComparisonModel extends DOMWidgetModel {
  override defaults(): Record<string, unknown> {
    return {
      ...super.defaults(),
      _model_name: 'ComparisonModel',
      _model_module: PACKAGE_NAME,
      _model_module_version: VERSION,
      _view_name: 'ComparisonView',
      _view_module: PACKAGE_NAME,
      _view_module_version: VERSION,
      comparison: {}
    };
  }
}

/** Model and view of comparisons, bound to one page. */
export interface IComparisonWidgets {
  readonly ComparisonModel: typeof ComparisonModel;
  readonly ComparisonView: typeof DOMWidgetView;
}

/** Returns model and view that speak through `services`. */
export function comparisonWidgets(services: ComparisonWidget.IOptions): IComparisonWidgets {
  class ComparisonView extends HostView {
    protected override async create(): Promise<Widget> {
      const { comparisonOf } = await import('../views/comparison/show');
      return comparisonOf(this.model.get('comparison'), services);
    }
  }
  return { ComparisonModel, ComparisonView };
}
