// A file that PyTorch wrote: no layers, no steps, no categories.
import AxeBuilder from '@axe-core/playwright';
import type { Locator } from '@playwright/test';
import { expect, test } from '@playwright/test';

import { chooseTab, openSaved, sharedLab } from './support/lab';
import { savedNotebook } from './support/notebooks';
import { Timeline } from './support/timeline';

const lab = sharedLab();
let report: Locator;

test.beforeAll(async () => {
  report = await openSaved(lab.page, savedNotebook('snapshot'));
});

test('says first when the peak was, and ranks source lines in the place of layers', async () => {
  await expect(report.getByRole('heading')).toHaveText(/^Peak 2\.39 GiB, .* into the recording/);
  await expect(report.getByRole('tab')).toHaveText(['Source lines', 'Timeline', 'Ledger']);
  const lines = report.getByRole('tabpanel', { name: 'Source lines' });
  const row = lines.getByRole('row', { name: /^train_gpt2\.py:11 run/ });
  await expect(row).toContainText('58 %');
});

test('the timeline is drawn by source line', async () => {
  const timeline = new Timeline(await chooseTab(report, 'Timeline'));
  await expect(timeline.picture.getByText(/^Peak/)).toBeVisible();
  await expect(timeline.legend).toContainText('train_gpt2.py:11 run');
  await expect(timeline.legend).toContainText('other lines');
  const areas = timeline.picture.locator('.scatterlayer .fills path.js-fill');
  await expect(areas).toHaveCount(3);
  await expect(timeline.blocks.first()).not.toContainText('outside layers');
  await expect(timeline.moment).not.toContainText('step');
});

test('has no serious accessibility violation', async () => {
  for (const name of ['Source lines', 'Timeline', 'Ledger']) {
    await chooseTab(report, name);
    const { violations } = await new AxeBuilder({ page: lab.page })
      .include('.memtrack-Report')
      .analyze();
    const serious = violations.filter(
      ({ impact }) => impact === 'serious' || impact === 'critical'
    );
    expect(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  }
  expect(lab.errors).toEqual([]);
});
