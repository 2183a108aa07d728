// The module that RequireJS loads where there is no JupyterLab: VS Code, Voila, Colab, nbclassic.
import { embeddedServices } from './widgets/embedded';
import { reportWidgets } from './widgets/report';

export { PACKAGE_NAME, PACKAGE_VERSION } from './base/version';

/** Model and view of a live report. */
export const { ReportModel, ReportView } = reportWidgets(embeddedServices());
