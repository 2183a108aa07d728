// The build for places without JupyterLab (VS Code, Voila, nbclassic, a CDN): one AMD file with its
// style inside. They bring @jupyter-widgets/base; loading more files by relative path fails there.
const path = require('path');
const { rspack } = require('@rspack/core');
const base = require('@jupyter/builder/lib/webpack.config.base');
const style = require('./rspack.style.config.cjs');

const target = directory => ({
  ...base,
  name: directory,
  mode: 'production',
  devtool: false,
  entry: ['./style/index.js', './lib/embed.js'],
  output: {
    path: path.resolve(__dirname, directory),
    filename: 'index.js',
    library: { type: 'amd' },
    publicPath: ''
  },
  externals: ['@jupyter-widgets/base'],
  // The catalogues are Python's; JupyterLab gets them from its server, these places in the file.
  resolve: {
    ...base.resolve,
    alias: { 'memtrack-locale': path.resolve(__dirname, 'python_pkg/memtrack/locale') }
  },
  module: {
    ...base.module,
    rules: [...base.module.rules, ...style.module.rules],
    parser: { javascript: { dynamicImportMode: 'eager' } }
  },
  plugins: [...base.plugins, new rspack.optimize.LimitChunkCountPlugin({ maxChunks: 1 })],
  performance: { hints: false },
  stats: 'errors-warnings'
});

module.exports = [target('dist'), target('python_pkg/memtrack/nbextension')];
