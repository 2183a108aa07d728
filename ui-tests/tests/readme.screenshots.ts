// The pictures of the README: GPT-2 medium in training on an NVIDIA H200, as it was recorded.
import type { Locator } from '@playwright/test';
import { expect, test } from '@playwright/test';
import path from 'node:path';

import { chooseTab, openSaved, sharedLab } from './support/lab';
import { savedNotebook } from './support/notebooks';
import { takePicture } from './support/picture';
import { Timeline } from './support/timeline';

const FOLDER = path.join(__dirname, '../../docs/images');
// What JupyterLab looks like on most machines; the last comes with the test server.
const FONTS = { 'ui-font-family': '"Liberation Sans", Arial, "DejaVu Sans"' };

const lab = sharedLab({
  settings: { '@jupyterlab/apputils-extension:themes': { overrides: FONTS } }
});
let report: Locator;

test.beforeAll(async () => {
  report = await openSaved(lab.page, savedNotebook('gpt2'));
  await lab.page.sidebar.close('left');
});

test('layers', async () => {
  await lab.page.setViewportSize({ width: 1180, height: 1100 });
  await chooseTab(report, 'Layers');
  await expect(report.getByRole('rowheader', { name: /^Total/ })).toBeVisible();
  await take('report-layers');
});

test('timeline', async () => {
  await showTimeline();
  await take('report-timeline');
});

test('ledger', async () => {
  await lab.page.setViewportSize({ width: 1180, height: 1100 });
  await chooseTab(report, 'Ledger');
  await expect(report.getByRole('rowheader', { name: 'the whole device' })).toBeVisible();
  await take('report-ledger');
});

test('dark', async () => {
  await lab.page.theme.setDarkTheme();
  await showTimeline();
  await take('report-dark');
});

async function showTimeline(): Promise<void> {
  await lab.page.setViewportSize({ width: 1100, height: 1100 });
  const timeline = new Timeline(await chooseTab(report, 'Timeline'));
  await expect(timeline.picture.getByText(/^Peak/)).toBeVisible();
}

async function take(name: string): Promise<void> {
  await lab.page.mouse.move(0, 0);
  await lab.page.evaluate(() => document.fonts.ready);
  await takePicture(report, path.join(FOLDER, `${name}.png`), { animations: 'disabled' });
}
