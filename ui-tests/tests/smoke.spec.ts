import { expect, test } from '@jupyterlab/galata';
import type { ConsoleMessage } from '@playwright/test';

// The start-up itself is under test, so nothing may load the page before the test listens.
test.use({ autoGoto: false });

test('the extension starts without an error in the console', async ({ page }) => {
  const errors: string[] = [];
  page.on('pageerror', error => errors.push(error.message));
  page.on('console', (message: ConsoleMessage) => {
    if (message.type() === 'error' || message.text().includes('memtrack')) {
      errors.push(`${message.type()}: ${message.text()} (${message.location().url})`);
    }
  });
  const info = page.waitForResponse('**/memtrack/api/info*');
  await page.goto();

  expect((await info).status()).toBe(200);
  const plugins = await page.evaluate(() =>
    window.jupyterapp.listPlugins().filter(id => id.startsWith('memtrack:'))
  );
  expect(plugins).toContain('memtrack:version-check');
  const inactive = await page.evaluate(
    ids => ids.filter(id => !window.jupyterapp.isPluginActivated(id)),
    plugins
  );
  expect(inactive).toEqual([]);
  expect(errors).toEqual([]);
});
