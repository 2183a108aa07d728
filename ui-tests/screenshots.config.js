// Takes the pictures of the README: `make screenshots`.
const base = require('./playwright.config.js');

module.exports = {
  ...base,
  testMatch: '**/*.screenshots.ts',
  reporter: 'list',
  use: { ...base.use, deviceScaleFactor: 2 }
};
