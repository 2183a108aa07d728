// Only the tests use Babel: jest turns the ES modules among the dependencies into CommonJS with it.
module.exports = require('@jupyterlab/testing/lib/babel-config').default;
