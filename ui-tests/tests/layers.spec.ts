import { expect, test } from '@playwright/test';

import { chooseTab, openSaved, sharedLab } from './support/lab';
import { savedNotebook } from './support/notebooks';
import { LayerTable, clipboardLines } from './support/table';

const lab = sharedLab();
let table: LayerTable;

test.beforeAll(async () => {
  await lab.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const report = await openSaved(lab.page, savedNotebook('gpt2'));
  table = new LayerTable(await chooseTab(report, 'Layers'));
});

test('is a tree grid: rows tell their level, place and state, sums their totals', async () => {
  const { grid, rows } = table;
  const headings = await table.headings.allInnerTexts();
  expect(headings.slice(0, 4)).toEqual(['Layer', 'Calls', 'Output', 'Saved']);
  await expect(grid).toHaveAttribute('aria-colcount', String(headings.length));
  await expect(rows.first()).toHaveAttribute('aria-level', '1');
  await expect(rows.first()).toHaveAttribute('aria-setsize', '1');
  await expect(table.row('transformer')).toHaveAttribute('aria-level', '2');
  await expect(table.row('transformer')).toHaveAttribute('aria-expanded', 'true');
  await expect(table.row('lm_head')).not.toHaveAttribute('aria-expanded', /./);
  await expect(table.row('lm_head')).toHaveAttribute('aria-posinset', '2');
  // What the headline says is the sum of the layers and of what is in none.
  await expect(table.row('Total').getByRole('gridcell', { name: '82.2 GiB' })).toBeVisible();
  await expect(table.row('gpt2-medium').getByText('peak', { exact: true })).toBeVisible();
});

test('opens and closes layers, and counts the rows that are shown', async () => {
  const { grid } = table;
  const before = Number(await grid.getAttribute('aria-rowcount'));
  const blocks = table.row('h ');
  await blocks.dblclick();
  await expect(blocks).toHaveAttribute('aria-expanded', 'true');
  await expect(grid).toHaveAttribute('aria-rowcount', String(before + 24));
  await blocks.dblclick();
  await expect(blocks).toHaveAttribute('aria-expanded', 'false');
  await expect(grid).toHaveAttribute('aria-rowcount', String(before));
  await expect(blocks).toHaveAttribute('aria-selected', 'true');
  await lab.page.keyboard.press('Escape');
  await expect(blocks).toHaveAttribute('aria-selected', 'false');
});

test('sorts by every column, both ways, and goes back to the order of the model', async () => {
  const { page } = lab;
  await table.button('Flat').click();
  for (const heading of await table.headings.allInnerTexts()) {
    await table.sortBy(heading);
    const first = await table.heading(heading).getAttribute('aria-sort');
    await expect(table.status).toHaveText(`Sorted by ${heading}, ${first}`);
    await expectOrder(heading, first);
    await table.sortBy(heading);
    const second = first === 'ascending' ? 'descending' : 'ascending';
    await expect(table.heading(heading)).toHaveAttribute('aria-sort', second);
    await expectOrder(heading, second);
    await expect(table.grid.locator('[aria-sort]:not([aria-sort="none"])')).toHaveCount(1);
    await table.sortBy(heading);
    await expect(table.status).toHaveText('In the order of the model');
  }
  await table.button('Flat').click();
  await expect(table.status).toHaveText(/^Layers as a tree/);

  async function expectOrder(heading: string, direction: string | null): Promise<void> {
    const [names, ...lines] = await table.copied(page);
    const column = names?.findIndex(name => name.replace(/ \(.*/, '') === heading) ?? -1;
    // The last two lines are sums; what has no value comes last, whichever way.
    const texts = lines.slice(0, -2).map(line => line[column] ?? '');
    const values = texts.filter(text => text !== '');
    expect(texts.length).toBe(320);
    expect(texts.slice(0, values.length)).toEqual(
      sorted(values, direction === 'descending' ? -1 : 1)
    );
  }
});

function sorted(values: readonly string[], sign: number): string[] {
  const isNumeric = values.every(value => /^-?\d+$/.test(value));
  const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
  return [...values].sort((a, b) =>
    isNumeric ? sign * (Number(a) - Number(b)) : sign * collator.compare(a, b)
  );
}

test('finds layers by path or type and keeps their parents in sight', async () => {
  await table.filter.fill('conv1d');
  await expect(table.status).toHaveText('96 layers found');
  await expect(table.toolbar.getByText('96 of 320 layers')).toBeVisible();
  await expect(table.row('c_fc')).toBeVisible();
  await expect(table.row('transformer')).toBeVisible();
  await expect(table.row('lm_head')).toHaveCount(0);
  await table.filter.fill('no such layer');
  await expect(table.status).toHaveText('0 layers found');
  await table.filter.press('Escape');
  await expect(table.filter).toHaveValue('');
  await expect(table.row('lm_head')).toBeVisible();
});

test('shows the columns that are chosen', async () => {
  const columns = table.toolbar.getByRole('group', { name: 'Columns' });
  await expect(table.heading('Forward')).toHaveCount(0);
  await table.button('Columns').click();
  await columns.getByRole('checkbox', { name: /^Forward/ }).check();
  await columns.getByRole('checkbox', { name: /^Calls/ }).uncheck();
  await expect(table.heading('Forward')).toHaveCount(1);
  await expect(table.heading('Calls')).toHaveCount(0);
  await lab.page.keyboard.press('Escape');
  await expect(columns).toBeHidden();
  await expect(table.button('Columns')).toBeFocused();
  await table.button('Columns').click();
  await columns.getByRole('button', { name: 'Reset to default' }).click();
  await expect(table.heading('Calls')).toHaveCount(1);
  await expect(table.heading('Forward')).toHaveCount(0);
  await lab.page.keyboard.press('Escape');
});

test('is walked with the keyboard alone', async () => {
  const { keyboard } = lab.page;
  const focused = table.grid.locator('[role="row"]:focus');
  await table.filter.focus();
  await keyboard.press('ArrowDown');
  await keyboard.press('Home');
  await expect(focused).toHaveAttribute('aria-rowindex', '2');
  await keyboard.press('ArrowRight');
  await expect(focused).toHaveAttribute('aria-level', '2');
  await keyboard.press('ArrowLeft');
  await expect(focused).toHaveAttribute('aria-expanded', 'false');
  await keyboard.press('ArrowLeft');
  await expect(focused).toHaveAttribute('aria-level', '1');
  await keyboard.press('*');
  await keyboard.press('ArrowRight');
  await keyboard.press('ArrowRight');
  await expect(focused).toHaveAttribute('aria-expanded', 'true');
  await keyboard.type('h');
  await expect(focused).toHaveAttribute('aria-expanded', 'false');
  await keyboard.press('ArrowRight');
  await expect(focused).toHaveAttribute('aria-expanded', 'true');
  await keyboard.press('ArrowDown');
  await expect(focused).toHaveAttribute('aria-level', '4');
  // All 24 blocks at once: eight, and in them more, stay in sight.
  await keyboard.press('*');
  await expect(focused).toHaveAttribute('aria-expanded', 'true');
  const position = Number(await focused.getAttribute('aria-rowindex'));
  await keyboard.press('PageDown');
  await expect
    .poll(async () => Number(await focused.getAttribute('aria-rowindex')))
    .toBeGreaterThan(position + 5);
  await expect(focused).toBeInViewport();
  await keyboard.press('PageUp');
  await expect(focused).toHaveAttribute('aria-rowindex', String(position));
  await keyboard.press('End');
  await expect(focused).toHaveAttribute(
    'aria-rowindex',
    (await table.grid.getAttribute('aria-rowcount')) ?? ''
  );
  await keyboard.press('Home');
  await keyboard.press('ArrowUp');
  await expect(table.grid.getByRole('button').and(lab.page.locator(':focus'))).toHaveCount(1);
  await keyboard.press('ArrowDown');
  await keyboard.press('Enter');
  await expect(focused).toHaveAttribute('aria-selected', 'true');
  // Tab leaves the grid: it is one stop.
  await keyboard.press('Tab');
  await expect(table.grid.locator(':focus')).toHaveCount(0);
});

test('copies the chosen rows, or all that are shown with their sums, in bytes', async () => {
  const { page } = lab;
  await table.row('transformer').getByRole('rowheader').click();
  await table
    .row('wte')
    .getByRole('rowheader')
    .click({ modifiers: ['Control'] });
  await page.keyboard.press('Control+c');
  const [head, ...chosen] = await clipboardLines(page);
  expect(head?.slice(0, 3)).toEqual(['Layer', 'Type', 'Calls']);
  expect(chosen.map(line => line[0])).toEqual([
    'gpt2-medium.transformer',
    'gpt2-medium.transformer.wte'
  ]);
  await page.keyboard.press('Escape');
  const [names, ...all] = await table.copied(page);
  expect(all.at(-1)?.[0]).toBe('Total');
  expect(Number(all.at(-1)?.[names?.indexOf('At peak (bytes)') ?? -1])).toBe(88275203072);
});

test('nothing went wrong in the page meanwhile', () => {
  expect(lab.errors).toEqual([]);
});
