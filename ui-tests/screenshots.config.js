// Takes the pictures of the README: `make screenshots`.
const path = require('node:path');

// Two H200 as NVML told of them, six processes at work.
process.env.MEMTRACK_TEST_TAPE ??= path.join(
  __dirname,
  '../python_pkg/tests/fixtures/nvml/h200-2.json'
);

const base = require('./playwright.config.js');

module.exports = {
  ...base,
  testMatch: '**/*.screenshots.ts',
  reporter: 'list',
  use: { ...base.use, deviceScaleFactor: 2 }
};
