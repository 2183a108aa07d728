// A server of a test's own, which it may end and start again.
import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import path from 'node:path';

const UI_TESTS = path.join(__dirname, '../..');
const PYTHON = process.env.MEMTRACK_PYTHON ?? path.join(UI_TESTS, '../.venv/bin/python');
const STARTING_MS = 60_000;

/** A JupyterLab on a port of its own, with the configuration of the test server. */
export class OwnServer {
  readonly url: string;
  private readonly _port = freePort();
  private _process: ChildProcess | undefined;

  constructor() {
    this.url = `http://localhost:${this._port}`;
  }

  /** Starts it; resolves once it answers. */
  async start(): Promise<void> {
    const config = ['-m', 'jupyterlab', '--config', 'jupyter_server_test_config.py'];
    this._process = spawn(PYTHON, config, {
      cwd: UI_TESTS,
      env: { ...process.env, MEMTRACK_TEST_PORT: this._port },
      stdio: 'ignore'
    });
    const until = Date.now() + STARTING_MS;
    while (Date.now() < until) {
      const answer = await fetch(`${this.url}/api`).catch(() => undefined);
      if (answer?.ok) {
        return;
      }
      await new Promise(resolve => setTimeout(resolve, 200));
    }
    throw new Error('The server did not start.');
  }

  /** Ends it; resolves once it is gone. */
  async stop(): Promise<void> {
    const running = this._process;
    this._process = undefined;
    if (running?.exitCode === null) {
      const gone = new Promise(resolve => running.once('exit', resolve));
      running.kill('SIGTERM');
      await gone;
    }
  }
}

function freePort(): string {
  // Printed as text: of a number, node may colour the digits.
  const program =
    "const s = require('net').createServer().listen(0, '127.0.0.1', () => " +
    '{ console.log(String(s.address().port)); s.close(); })';
  return execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }).trim();
}
