// Our style is loaded at every start of JupyterLab: without comments and spaces it is a fifth less.
// For both builds; the loader is rspack's own.
const path = require('path');

module.exports = {
  module: {
    rules: [
      {
        test: /\.css$/,
        include: path.resolve(__dirname, 'style'),
        enforce: 'pre',
        loader: 'builtin:lightningcss-loader',
        options: { minify: true }
      }
    ]
  }
};
