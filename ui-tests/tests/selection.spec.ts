import type { Locator } from '@playwright/test';
import { expect, test } from '@playwright/test';

import { chooseTab, openSaved, sharedLab } from './support/lab';
import { savedNotebook } from './support/notebooks';
import { LayerTable } from './support/table';
import { Timeline } from './support/timeline';

const lab = sharedLab();
let report: Locator;

test.beforeAll(async () => {
  report = await openSaved(lab.page, savedNotebook('gpt2'));
});

test('a notebook that is not trusted shows its report too', async () => {
  await expect(lab.page.locator('[data-icon="ui-components:not-trusted"]')).toBeVisible();
  await expect(report.getByRole('heading')).toHaveText(
    'Peak 82.2 GiB in backward of gpt2-medium, step 2'
  );
});

test('a layer chosen in the table is drawn in the timeline, and back', async () => {
  const table = new LayerTable(await chooseTab(report, 'Layers'));
  await table.row('transformer').getByRole('rowheader').click();
  await expect(table.row('transformer')).toHaveAttribute('aria-selected', 'true');

  const timeline = new Timeline(await chooseTab(report, 'Timeline'));
  await expect(timeline.picture.getByText(/^gpt2-medium\.transformer [\d.]+ GiB$/)).toBeVisible();
  await expect(timeline.chosenBlocks.first()).toContainText('transformer.h.0');
  const others = timeline.blocks.filter({ hasNotText: 'transformer.' });
  await expect(others.first()).not.toHaveClass(/memtrack-mod-chosen/);

  await timeline.blocks.filter({ hasText: 'h.5.mlp.act' }).first().click();
  await expect(
    timeline.picture.getByText(/^gpt2-medium.*\.h\.5\.mlp\.act [\d.]+ GiB$/)
  ).toBeVisible();
  await expect(timeline.chosenBlocks.first()).toContainText('h.5.mlp.act');

  await chooseTab(report, 'Layers');
  const chosen = table.grid.locator('[aria-selected="true"]');
  await expect(chosen).toHaveCount(1);
  await expect(chosen.getByRole('rowheader')).toHaveText(/^act/);
  await expect(chosen).toBeInViewport();
  // It was inside closed layers.
  await expect(chosen).toHaveAttribute('aria-level', '6');
  expect(lab.errors).toEqual([]);
});

test('Enter in the chart chooses the layer that runs at the moment', async () => {
  const timeline = new Timeline(await chooseTab(report, 'Timeline'));
  await timeline.chart.focus();
  await lab.page.keyboard.press('p');
  await expect(timeline.moment).toHaveText(/^82.2 GiB alive · step 2 · backward · gpt2-medium/);
  await lab.page.keyboard.press('Enter');
  const table = new LayerTable(await chooseTab(report, 'Layers'));
  await expect(table.row('gpt2-medium')).toHaveAttribute('aria-selected', 'true');
  // The keys were ours: none of them did something to the notebook's cells.
  await expect(report).toHaveCount(1);
  expect(lab.errors).toEqual([]);
});
