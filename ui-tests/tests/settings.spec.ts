import type { Locator } from '@playwright/test';
import { expect, test } from '@playwright/test';

import { chooseTab, openSaved, sharedLab } from './support/lab';
import { savedNotebook } from './support/notebooks';
import { LayerTable } from './support/table';
import { Timeline } from './support/timeline';

const PLUGIN = 'memtrack:plugin';

const lab = sharedLab();
let report: Locator;

test.beforeAll(async () => {
  report = await openSaved(lab.page, savedNotebook('gpt2'));
});

/** Changes a setting as the editor of settings does. */
function set(name: string, value: unknown): Promise<void> {
  return lab.page.evaluate(
    async ([plugin, key, chosen]) => {
      const registry = await window.galata.getPlugin('@jupyterlab/apputils-extension:settings');
      await registry?.set(plugin, key, chosen as string);
    },
    [PLUGIN, name, value] as const
  );
}

test('the tab shown first', async () => {
  await expect(report.getByRole('tab', { selected: true })).toHaveText('Layers');
  await set('defaultTab', 'ledger');
  await expect(report.getByRole('tab', { selected: true })).toHaveText('Ledger');
  await set('defaultTab', 'layers');
  await expect(report.getByRole('tab', { selected: true })).toHaveText('Layers');
});

test('the axis of the timeline', async () => {
  const timeline = new Timeline(await chooseTab(report, 'Timeline'));
  await expect(timeline.button('Events')).toHaveAttribute('aria-pressed', 'true');
  await expect(timeline.picture.locator('.xtick').last()).toHaveText(/^[\d,]+$/);
  await set('timelineAxis', 'time');
  await expect(timeline.button('Time')).toHaveAttribute('aria-pressed', 'true');
  await expect(timeline.picture.locator('.xtick').last()).toHaveText(/^[\d.]+ m?s$/);
});

test('the columns of the layer table, which a choice in a report sets too', async () => {
  const table = new LayerTable(await chooseTab(report, 'Layers'));
  await set('layerColumns', ['at_peak', 'forward_ns']);
  await expect(table.headings).toHaveText(['Layer', 'At peak', 'Forward']);
  await table.button('Columns').click();
  await table.toolbar.getByRole('checkbox', { name: /^Backward/ }).check();
  await lab.page.keyboard.press('Escape');
  await expect(table.headings).toHaveText(['Layer', 'At peak', 'Forward', 'Backward']);
  const kept = await lab.page.evaluate(async plugin => {
    const registry = await window.galata.getPlugin('@jupyterlab/apputils-extension:settings');
    return (await registry?.get(plugin, 'layerColumns'))?.composite;
  }, PLUGIN);
  expect(kept).toEqual(['at_peak', 'forward_ns', 'backward_ns']);
});

test('whether reports are folded', async () => {
  await expect(report.getByRole('tablist')).toBeVisible();
  await set('foldedByDefault', true);
  await expect(report.getByRole('tablist')).toBeHidden();
  await expect(report.getByRole('heading')).toBeVisible();
  await report.getByRole('button', { name: 'Memory report' }).click();
  await expect(report.getByRole('tablist')).toBeVisible();
  await set('foldedByDefault', false);
});

test('all of them are in the editor of settings', async () => {
  await lab.page.evaluate(
    async query => void (await window.jupyterapp.commands.execute('settingeditor:open', { query })),
    'memtrack'
  );
  const form = lab.page.getByRole('group', { name: 'memtrack: reports' });
  await expect(form.getByRole('heading')).toHaveText(['First tab of a report', 'Timeline axis']);
  await expect(form.getByRole('listbox').getByRole('option', { selected: true })).toHaveText([
    'At peak',
    'Forward',
    'Backward'
  ]);
  await form.getByRole('checkbox', { name: 'Fold reports' }).check();
  await lab.page.getByRole('tab', { name: 'gpt2.ipynb' }).click();
  await expect(report.getByRole('tablist')).toBeHidden();
  expect(lab.errors).toEqual([]);
});
