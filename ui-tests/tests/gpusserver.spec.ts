// The panel where the server ends and comes back, and where its half of memtrack is missing or old;
// and in Notebook 7.
import { expect, test } from '@playwright/test';

import { GpuPanel } from './support/gpus';
import { refuseKernel } from './support/lab';
import { savedNotebook } from './support/notebooks';
import { OwnServer } from './support/server';

test('survives a restart of the server', async ({ page }) => {
  const server = new OwnServer();
  try {
    await server.start();
    await page.goto(`${server.url}/lab?reset`);
    await page.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
    const panel = new GpuPanel(page);
    await panel.open();
    await expect(panel.device(0)).toBeVisible();
    await server.stop();
    const notice = panel.region.getByText(/^[^;]+server[^;]*; figures are of/);
    await expect(notice).toBeVisible();
    await expect(panel.device(0)).toBeVisible();
    await server.start();
    await expect(notice).toBeHidden({ timeout: 45_000 });
    await expect(panel.device(0)).toBeVisible();
  } finally {
    await server.stop();
  }
});

for (const [id, hasInfo, text] of [
  ['missing', false, 'jupyter server extension enable memtrack'],
  ['old', true, 'pip install memtrack==']
] as const) {
  test(`explains that the server half is ${id}`, async ({ page }) => {
    const answer = (status: number, json: object): object => ({
      status,
      contentType: 'application/json',
      body: JSON.stringify(json)
    });
    await page.route('**/memtrack/api/gpus?*', route =>
      route.fulfill(answer(404, { message: 'Not Found' }))
    );
    await page.route('**/memtrack/api/info?*', route =>
      route.fulfill(hasInfo ? answer(200, { version: '0.0.1' }) : answer(404, { message: '' }))
    );
    await page.routeWebSocket('**/memtrack/api/gpus/stream*', socket => socket.close());
    await page.goto('/lab?reset');
    await page.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
    const panel = new GpuPanel(page);
    await panel.open();
    await expect(panel.explanation).toHaveAttribute('data-state', id);
    await expect(panel.explanation).toContainText(text);
  });
}

test('Notebook 7 has the panel at its right', async ({ page }) => {
  await page.goto(`/notebooks/${savedNotebook('gpt2')}`);
  await refuseKernel(page);
  // Galata's helper for menus is JupyterLab's; this is Notebook 7.
  /* eslint-disable jupyter/galata-prefer-menu-helper */
  await page.getByRole('menuitem', { name: 'View', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Show GPUs' }).click();
  /* eslint-enable jupyter/galata-prefer-menu-helper */
  const panel = new GpuPanel(page);
  await expect(panel.device(0)).toContainText('H200');
  await expect(panel.rows(panel.device(1))).toContainText('grace');
});
