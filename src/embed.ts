// The module that RequireJS loads where there is no JupyterLab: VS Code, Voila, Colab, nbclassic. A
// report that was exported as one HTML file has it inside.
import { comparisonWidgets } from './widgets/comparison';
import { embeddedServices } from './widgets/embedded';
import { historyWidgets } from './widgets/history';
import { planWidgets } from './widgets/plan';
import { reportWidgets } from './widgets/report';

export { PACKAGE_NAME, PACKAGE_VERSION } from './base/version';
export { showReport } from './widgets/standalone';

const services = embeddedServices();

/** Model and view of a live report. */
export const { ReportModel, ReportView } = reportWidgets(services);

/** Model and view of a comparison. */
export const { ComparisonModel, ComparisonView } = comparisonWidgets(services);

/** Model and view of kept runs. */
export const { HistoryModel, HistoryView } = historyWidgets({
  ...services,
  liveHistories: undefined
});

/** Model and view of a planner. */
export const { PlanModel, PlanView } = planWidgets(services.trans);
