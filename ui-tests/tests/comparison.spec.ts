// Two runs side by side in a saved notebook, without a kernel.
import AxeBuilder from '@axe-core/playwright';
import type { Locator } from '@playwright/test';
import { expect, test } from '@playwright/test';

import { chooseTab, openNotebook, refuseKernel, sharedLab } from './support/lab';
import { savedNotebook } from './support/notebooks';

const THEMES = ['JupyterLab Light', 'JupyterLab Dark', 'JupyterLab Dark High Contrast'];

const lab = sharedLab();
let comparison: Locator;

test.beforeAll(async () => {
  await openNotebook(lab.page, savedNotebook('comparison'));
  await refuseKernel(lab.page);
  comparison = lab.page.getByRole('region', { name: 'Comparison of two runs' });
  await expect(comparison).toBeVisible();
});

test('a comparison begins with what moved the peak', async () => {
  await expect(comparison.getByRole('heading', { level: 3 })).toContainText(
    'optimizer state of gpt.head +400 MiB'
  );
  await expect(comparison.getByRole('img', { name: /^4\.54 GiB in all/ })).toBeVisible();
  const movers = comparison.getByRole('table', { name: 'What moved the peak' });
  await expect(movers.getByRole('row', { name: /^gradients gpt\.head/ })).toContainText('+200 MiB');
  await expect(movers.getByRole('row', { name: /^Peak/ })).toContainText('+804 MiB');
});

test('the table of layers has what changed, and all on demand, by keyboard', async () => {
  const { page } = lab;
  const panel = await chooseTab(comparison, 'Layers');
  const grid = panel.getByRole('treegrid');
  await expect(grid.getByRole('row', { name: /^head/ })).toContainText('+800 MiB');
  await expect(grid.getByText('loss', { exact: true })).toBeHidden();
  const only = panel.getByRole('button', { name: 'Only changed' });
  await only.focus();
  await page.keyboard.press('Space');
  await expect(only).toHaveAttribute('aria-pressed', 'false');
  await expect(grid.getByText('loss', { exact: true })).toBeVisible();
  const filter = panel.getByRole('searchbox');
  await filter.fill('gpt.h.0');
  await expect(grid.getByText('was gpt.h.0', { exact: true })).toBeVisible();
  await filter.fill('');
});

test('both timelines are drawn on one axis', async () => {
  const panel = await chooseTab(comparison, 'Timeline');
  await expect(panel.locator('.scatterlayer .trace')).toHaveCount(4);
  await expect(panel.getByText('before: before <i> · run 12')).toBeVisible();
});

test('settings and code that are not the same stand side by side', async () => {
  const panel = await chooseTab(comparison, 'Settings and code');
  await expect(panel.getByRole('row', { name: /^torch/ })).toContainText('2.12.12.13.0');
});

for (const theme of THEMES) {
  test(`nothing is out of reach or out of sight in ${theme}`, async () => {
    const { page } = lab;
    await page.theme.setTheme(theme);
    for (const tab of ['What moved the peak', 'Layers', 'Timeline', 'Settings and code']) {
      await chooseTab(comparison, tab);
      const { violations } = await new AxeBuilder({ page })
        .include('.memtrack-Comparison')
        .analyze();
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    }
  });
}

test('nothing is wider than a narrow window', async () => {
  const { page } = lab;
  await page.setViewportSize({ width: 620, height: 900 });
  for (const tab of ['What moved the peak', 'Layers', 'Timeline', 'Settings and code']) {
    await chooseTab(comparison, tab);
    const over = await comparison.evaluate(node => node.scrollWidth - node.clientWidth);
    expect(over, tab).toBeLessThanOrEqual(0);
  }
});
