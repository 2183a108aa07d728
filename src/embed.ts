// The module that RequireJS loads where there is no JupyterLab: VS Code, Voila, Colab, nbclassic.
export { PACKAGE_NAME, PACKAGE_VERSION } from './base/version';
