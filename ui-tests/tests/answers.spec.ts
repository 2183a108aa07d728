// Ledger in detail, peaks of phases and the allocator's summary, in the report that all tests share.
import AxeBuilder from '@axe-core/playwright';
import type { Locator } from '@playwright/test';
import { expect, test } from '@playwright/test';

import { chooseTab, openSaved, sharedLab } from './support/lab';
import { savedNotebook } from './support/notebooks';
import { Timeline } from './support/timeline';

const lab = sharedLab();
let report: Locator;

test.beforeAll(async () => {
  report = await openSaved(lab.page, savedNotebook('devices'));
});

test('a part of the ledger unfolds by keyboard to what it is made of', async () => {
  const ledger = await chooseTab(report, 'Ledger');
  const splinters = ledger.getByRole('rowheader', { name: 'splinters' });
  await expect(splinters).toBeHidden();
  const fold = ledger.getByRole('button', { name: 'allocator cache' });
  await fold.focus();
  await lab.page.keyboard.press('Enter');
  await expect(fold).toHaveAttribute('aria-expanded', 'true');
  await expect(splinters).toBeVisible();
  await expect(ledger.getByRole('rowheader', { name: 'in private pools' })).toBeVisible();
  await expect(ledger.getByRole('rowheader', { name: 'of it rounding' })).toBeVisible();
  const pools = ledger.getByRole('table', { name: 'The allocator at the peak, by pool' });
  await expect(pools.getByRole('row', { name: /^private pool 0\.1/ })).toContainText('12.0 MiB');
});

test('the colours of a table stand in one line, with or without a sign before them', async () => {
  const ledger = await chooseTab(report, 'Ledger');
  const parts = ledger.getByRole('table', { name: /^At the peak/ });
  const lefts = await parts
    .locator('tbody th .memtrack-Swatch')
    .evaluateAll(all => all.map(one => Math.round(one.getBoundingClientRect().left)));
  expect(lefts.length).toBeGreaterThan(4);
  expect(new Set(lefts).size).toBe(1);
});

test('the memory map tells what lies where, by pointer and by keyboard', async () => {
  const ledger = await chooseTab(report, 'Ledger');
  const map = ledger.getByRole('application', { name: /^Map of the allocator/ });
  const spot = ledger.getByRole('status').filter({ hasText: /segment of|Point at a block/ });
  await map.hover({ position: { x: 5, y: 30 } });
  await expect(spot).toContainText('gpt.block.mlp');
  await expect(spot).toContainText('segment of 1.95 GiB');
  await lab.page.mouse.move(0, 0);
  await expect(spot).toHaveText(/^Point at a block/);
  await map.focus();
  await lab.page.keyboard.press('ArrowRight');
  await lab.page.keyboard.press('ArrowRight');
  await expect(spot).toContainText('free · segment of');
});

test('the peak of a phase leads to its moment', async () => {
  const panel = await chooseTab(report, 'Timeline');
  const timeline = new Timeline(panel);
  await expect(timeline.picture.getByText(/^Peak/)).toBeVisible();
  await panel.getByText('Peaks by step and phase').first().click();
  const rows = panel.getByRole('row').filter({ has: lab.page.getByRole('rowheader') });
  await rows.first().getByRole('button').first().click();
  await expect(timeline.moment).toContainText('step 1 · forward');
});

test('the summary compares two moments and copies what PyTorch would print', async () => {
  const { page } = lab;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const summary = await chooseTab(report, 'Summary');
  const reserved = summary.getByRole('row', { name: /^GPU reserved memory/ });
  await expect(reserved).toContainText('8.51 GiB');
  await summary.getByLabel('Moment').selectOption('after forward of step 1');
  await summary.getByLabel('Compare with').selectOption('after backward of step 1');
  await expect(summary.getByRole('columnheader', { name: 'Difference' })).toBeVisible();
  await summary.getByRole('button', { name: 'Allocated memory' }).click();
  await expect(summary.getByRole('rowheader', { name: 'from large pool' }).first()).toBeVisible();
  await summary.getByRole('button', { name: 'Copy as text' }).click();
  await expect(summary.getByRole('status')).toHaveText('Copied');
  const text = await page.evaluate(() => navigator.clipboard.readText());
  expect(text).toContain('PyTorch CUDA memory summary, device ID 0');
  expect(text).toContain('Second: after backward of step 1');
});

test('none of it has a serious accessibility violation', async () => {
  for (const name of ['Ledger', 'Timeline', 'Summary']) {
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
