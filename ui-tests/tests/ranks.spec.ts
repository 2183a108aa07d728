// Several ranks of one run in a saved notebook, without a kernel.
import type { Locator } from '@playwright/test';
import { expect, test } from '@playwright/test';

import { THEMES, violationsIn } from './support/accessibility';
import { chooseTab, openNotebook, refuseKernel, reportIn, sharedLab } from './support/lab';
import { savedNotebook } from './support/notebooks';

const lab = sharedLab();
let ranks: Locator;

test.beforeAll(async () => {
  await openNotebook(lab.page, savedNotebook('ranks'));
  await refuseKernel(lab.page);
  ranks = lab.page.getByRole('region', { name: 'Ranks of one run' });
  await expect(ranks).toBeVisible();
});

test('ranks begin with how unequal they are and who is missing', async () => {
  await expect(ranks.getByRole('heading', { level: 3 }).first()).toContainText(
    'Rank 1 peaks at 1.23 GiB, 1.73 × the mean'
  );
  const table = ranks.getByRole('table', { name: 'Peaks of the ranks' });
  await expect(table.getByRole('row', { name: /^rank 2/ })).toContainText('no recording');
  await expect(table.getByRole('row', { name: /^rank 3/ })).toContainText('no end');
});

test('peaks are bars to one scale', async () => {
  const widths = await ranks
    .locator('.memtrack-PartsBar-bar')
    .evaluateAll(bars => bars.map(bar => bar.getBoundingClientRect().width));
  const [first = 0, fullest = 1, last = 0] = widths;
  expect(first / fullest).toBeCloseTo(464 / 1264, 2);
  expect(last).toBe(first);
});

test('the report of the fullest rank is shown, and of another by keyboard', async () => {
  const { page } = lab;
  const report = reportIn(page);
  await expect(report.getByRole('heading').first()).toContainText('Peak 1.23 GiB');
  await ranks.getByRole('radio', { name: 'rank 1' }).focus();
  await page.keyboard.press('ArrowDown');
  await expect(ranks.getByRole('radio', { name: 'rank 3' })).toBeChecked();
  await expect(ranks.getByRole('group', { name: 'Rank 3', exact: true })).toBeVisible();
  await expect(report.getByRole('heading').first()).toContainText('Peak 464 MiB');
  await expect(ranks.getByRole('table', { name: /^By category/ })).toContainText('-267 MiB');
  await ranks.getByRole('row', { name: /^rank 1/ }).click();
  await expect(report.getByRole('heading').first()).toContainText('Peak 1.23 GiB');
  const layers = await chooseTab(report, 'Layers');
  await expect(layers.getByRole('row', { name: /^head/ })).toContainText('964 MiB');
  expect(lab.errors).toEqual([]);
});

for (const theme of THEMES) {
  test(`nothing is out of reach or out of sight in ${theme}`, async () => {
    await lab.page.theme.setTheme(theme);
    expect(await violationsIn(lab.page, '.memtrack-Ranks')).toEqual([]);
  });
}

test('nothing is wider than a narrow window', async () => {
  await lab.page.setViewportSize({ width: 620, height: 900 });
  const over = (): Promise<number> => ranks.evaluate(node => node.scrollWidth - node.clientWidth);
  await expect.poll(over).toBeLessThanOrEqual(0);
});
