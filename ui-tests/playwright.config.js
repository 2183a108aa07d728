// Galata's configuration, with the browser of this machine, a server of our own and a free port.
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const base = require('@jupyterlab/galata/lib/playwright-config');

// Playwright reads this file again in every worker: what is drawn here goes into the environment,
// which the workers inherit.
process.env.MEMTRACK_CHROMIUM ??= findChromium();
process.env.MEMTRACK_TEST_PORT ??= findFreePort();
process.env.MEMTRACK_TEST_HOME ??= fs.mkdtempSync(path.join(os.tmpdir(), 'memtrack-ui-tests-'));
process.env.MEMTRACK_TEST_FAULTS ??= path.join(process.env.MEMTRACK_TEST_HOME, 'faults.json');

const url = `http://localhost:${process.env.MEMTRACK_TEST_PORT}`;
const home = process.env.MEMTRACK_TEST_HOME;
const python = process.env.MEMTRACK_PYTHON ?? path.join(__dirname, '..', '.venv', 'bin', 'python');

module.exports = {
  ...base,
  testDir: 'tests',
  outputDir: 'test-results',
  forbidOnly: Boolean(process.env.CI),
  fullyParallel: false,
  reporter: [['list'], ['html', { open: 'never' }]],
  retries: 0,
  timeout: 90_000,
  expect: { timeout: 15_000, toHaveScreenshot: { maxDiffPixelRatio: 0.01 } },
  workers: 1,
  use: {
    ...base.use,
    baseURL: url,
    locale: 'en-US',
    launchOptions: {
      executablePath: process.env.MEMTRACK_CHROMIUM,
      args: [
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-lcd-text',
        '--disable-sync',
        '--enable-unsafe-swiftshader',
        '--font-render-hinting=none',
        '--force-color-profile=srgb',
        '--no-first-run'
      ]
    },
    trace: 'retain-on-failure',
    // Playwright records with an ffmpeg that it downloads, and stops where there is none.
    video: 'off'
  },
  webServer: {
    command: `"${python}" -m jupyterlab --config jupyter_server_test_config.py`,
    url: `${url}/lab`,
    cwd: __dirname,
    env: {
      ...process.env,
      // Nothing of the user's own Jupyter, and nothing left in it.
      IPYTHONDIR: path.join(home, 'ipython'),
      JUPYTER_CONFIG_DIR: path.join(home, 'config'),
      JUPYTER_DATA_DIR: path.join(home, 'data'),
      JUPYTER_RUNTIME_DIR: path.join(home, 'runtime'),
      XDG_DATA_HOME: path.join(home, 'xdg-data'),
      XDG_STATE_HOME: path.join(home, 'xdg-state'),
      LANG: 'C.UTF-8'
    },
    gracefulShutdown: { signal: 'SIGTERM', timeout: 10_000 },
    reuseExistingServer: false,
    stdout: 'ignore',
    stderr: process.env.MEMTRACK_TEST_LOG ? 'pipe' : 'ignore',
    timeout: 120_000
  }
};

function findChromium() {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  const found = names
    .flatMap(name => folders.map(folder => path.join(folder, name)))
    .find(file => fs.existsSync(file));
  if (found === undefined) {
    throw new Error('No Chromium found: install one, or name it with MEMTRACK_CHROMIUM=<path>.');
  }
  return found;
}

function findFreePort() {
  const program =
    "const s = require('net').createServer().listen(0, '127.0.0.1', () => " +
    '{ console.log(s.address().port); s.close(); })';
  return execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }).trim();
}
