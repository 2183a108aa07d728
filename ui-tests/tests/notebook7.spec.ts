import { expect, test } from '@playwright/test';

import { chooseTab, collectErrors, refuseKernel, reportIn } from './support/lab';
import { savedNotebook, writeNotebook } from './support/notebooks';
import { LayerTable } from './support/table';
import { Timeline } from './support/timeline';

const CELLS = [
  '%load_ext memtrack\nimport torch',
  '%%memtrack\nkept = [torch.ones(1 << 20) for _ in range(4)]'
];

test('Notebook 7 shows a saved report', async ({ page }) => {
  const errors: string[] = [];
  collectErrors(page, errors);
  await page.goto(`/notebooks/${savedNotebook('gpt2')}`);
  await refuseKernel(page);
  const report = reportIn(page);
  await expect(report.getByRole('heading')).toHaveText(/^Peak 82\.2 GiB/);
  const timeline = new Timeline(await chooseTab(report, 'Timeline'));
  await expect(timeline.picture.getByText(/^Peak 82\.2 GiB/)).toBeVisible();
  await timeline.blocks.nth(3).click();
  const table = new LayerTable(await chooseTab(report, 'Layers'));
  await expect(table.grid.locator('[aria-selected="true"]')).toBeInViewport();
  expect(errors.filter(isOurs)).toEqual([]);
});

test('Notebook 7 records a cell', async ({ page, request }) => {
  const errors: string[] = [];
  collectErrors(page, errors);
  await page.goto(`/notebooks/${writeNotebook('seven.ipynb', CELLS)}`);
  // What is run before the kernel is there is not run at all.
  await expect(async () => {
    await page.getByRole('textbox').first().click();
    await page.keyboard.press('Shift+Enter');
    await expect(page.getByText('[1]:')).toBeVisible({ timeout: 5000 });
  }).toPass();
  await page.keyboard.press('Shift+Enter');
  const report = reportIn(page);
  await expect(report.getByRole('heading')).toHaveText(/^Peak 16\.0 MiB/);
  await expect(report.getByRole('tab', { name: 'Timeline' })).toBeVisible();
  const sessions = (await (await request.get('/api/sessions')).json()) as { id: string }[];
  for (const { id } of sessions) {
    await request.delete(`/api/sessions/${id}`);
  }
  expect(errors.filter(isOurs)).toEqual([]);
});

/** JupyterLab's shortcuts may hear of another plugin's settings before they have their own. */
function isOurs(error: string): boolean {
  return !/reading 'schema'/.test(error);
}
