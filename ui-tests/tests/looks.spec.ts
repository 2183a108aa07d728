// What the report looks like, as pictures. After a change that is meant, take them again:
// make browser PLAYWRIGHT_ARGS="looks --update-snapshots=all"
import type { Locator } from '@playwright/test';
import { expect, test } from '@playwright/test';

import { chooseTab, openSaved, sharedLab } from './support/lab';
import { savedNotebook } from './support/notebooks';
import { Timeline } from './support/timeline';

// Another Chromium draws the edges of letters a little differently.
const LIKE = { animations: 'disabled', maxDiffPixelRatio: 0.03 } as const;

const lab = sharedLab({ viewport: { width: 1240, height: 1000 } });
let report: Locator;

test.beforeAll(async () => {
  report = await openSaved(lab.page, savedNotebook('devices'));
  await lab.page.evaluate(() => document.fonts.ready);
});

test('layers', async () => {
  await chooseTab(report, 'Layers');
  await expect(report).toHaveScreenshot('layers.png', LIKE);
});

test('timeline', async () => {
  await showTimeline();
  await expect(report).toHaveScreenshot('timeline.png', LIKE);
});

test('ledger', async () => {
  await chooseTab(report, 'Ledger');
  await expect(report).toHaveScreenshot('ledger.png', LIKE);
});

test('summary', async () => {
  await chooseTab(report, 'Summary');
  await expect(report).toHaveScreenshot('summary.png', LIKE);
});

test('timeline in the dark', async () => {
  await lab.page.theme.setDarkTheme();
  await showTimeline();
  await expect(report).toHaveScreenshot('timeline-dark.png', LIKE);
});

async function showTimeline(): Promise<void> {
  const timeline = new Timeline(await chooseTab(report, 'Timeline'));
  await expect(timeline.picture.getByText(/^Peak/)).toBeVisible();
}
