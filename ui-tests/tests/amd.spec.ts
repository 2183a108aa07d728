import { expect, test } from '@playwright/test';
import fs from 'node:fs';
import path from 'node:path';

import manifest from '../../package.json';

const BUNDLE = path.join(__dirname, '../../python_pkg/memtrack/nbextension/index.js');

/** What RequireJS offers to a module, and what this page keeps of it. */
interface IAmdWindow extends Window {
  define?: (needs: string[], factory: (...modules: unknown[]) => unknown) => void;
  amdNeeds?: string[];
  amdModule?: Record<string, unknown>;
}

// VS Code, Colab and Voila evaluate the one file and give it @jupyter-widgets/base.
test('the bundle for other front ends is one AMD module that needs widgets and nothing else', async ({
  page
}) => {
  const requests: string[] = [];
  page.on('request', request => requests.push(request.url()));
  const errors: string[] = [];
  page.on('pageerror', error => errors.push(error.message));

  await page.setContent('<!doctype html><title>AMD</title>');
  await page.evaluate(() => {
    const host = window as IAmdWindow;
    // Classes to extend, for whatever the module asks of @jupyter-widgets/base.
    const base = new Proxy({}, { get: () => function () {} });
    host.define = (needs, factory) => {
      host.amdNeeds = needs;
      host.amdModule = factory(...needs.map(() => base)) as Record<string, unknown>;
    };
  });
  await page.addScriptTag({ content: fs.readFileSync(BUNDLE, 'utf8') });
  const found = await page.evaluate(() => {
    const host = window as IAmdWindow;
    return { needs: host.amdNeeds ?? [], exports: { ...host.amdModule } };
  });

  expect(errors).toEqual([]);
  expect(found.needs.filter(name => name !== '@jupyter-widgets/base')).toEqual([]);
  expect(found.exports).toMatchObject({ PACKAGE_VERSION: manifest.version });
  expect(requests.filter(url => !url.startsWith('data:'))).toEqual([]);
});
