// Advice in a saved notebook, without a kernel.
import { expect, test } from '@playwright/test';

import { THEMES, violationsIn } from './support/accessibility';
import { openSaved, sharedLab } from './support/lab';
import { savedNotebook } from './support/notebooks';

const lab = sharedLab();

test('advice is the tab that a report with advice opens at', async () => {
  const { page } = lab;
  const report = await openSaved(page, savedNotebook('advice'));
  await expect(report.getByRole('tab', { name: 'Advice' })).toHaveAttribute(
    'aria-selected',
    'true'
  );
  await expect(report.getByRole('heading', { level: 4 }).first()).toHaveText(
    'Peak 82.2 GiB: it does not fit into 6.00 GiB'
  );
  const table = report.getByRole('table', { name: 'What helps' });
  const first = table.locator('.memtrack-Fold').first();
  await first.focus();
  await page.keyboard.press('Enter');
  await expect(table.getByText(/^Simulated: /).first()).toBeVisible();
});

for (const theme of THEMES) {
  test(`advice has no accessibility violation in ${theme}`, async () => {
    await lab.page.theme.setTheme(theme);
    expect(await violationsIn(lab.page, '.memtrack-Advice')).toEqual([]);
    expect(lab.errors).toEqual([]);
  });
}
