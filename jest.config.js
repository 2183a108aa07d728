const jupyterLab = require('@jupyterlab/testing/lib/jest-config');

// Dependencies that ship ES modules only, so that jest has to transform them.
const esModules = [
  '@codemirror',
  '@jupyter-widgets/',
  '@jupyter/react-components',
  '@jupyter/web-components',
  '@jupyter/ydoc',
  '@jupyterlab/',
  '@marijn',
  '@microsoft',
  'color',
  'exenv-es6',
  'lib0',
  'marked',
  'nanoid',
  'vscode-ws-jsonrpc',
  'y-protocols',
  'y-websocket',
  'yjs'
].join('|');

const jupyter = jupyterLab(__dirname);

module.exports = {
  ...jupyter,
  collectCoverageFrom: ['src/**/*.{ts,tsx}', '!src/**/*.d.ts', '!src/**/__tests__/**'],
  coverageReporters: ['lcov', 'text-summary'],
  maxWorkers: 2,
  moduleNameMapper: {
    ...jupyter.moduleNameMapper,
    '^memtrack-locale/(.*)$': '<rootDir>/python_pkg/memtrack/locale/$1'
  },
  reporters: ['default'],
  roots: ['<rootDir>/src'],
  testRegex: 'src/.*\\.spec\\.tsx?$',
  transformIgnorePatterns: [`/node_modules/(?!${esModules}).+`]
};
