import { expect, test } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { LayerTable } from './support/table';

const PYTHON = process.env.MEMTRACK_PYTHON ?? path.join(__dirname, '../../.venv/bin/python');
const RECORDING = path.join(__dirname, '../../python_pkg/tests/fixtures/report/recording.memtrack');
const MOST_BYTES = 3_000_000;

test('a report in one HTML file is interactive, and asks nobody for anything', async ({
  page,
  context
}) => {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'memtrack-page-')), 'report.html');
  execFileSync(PYTHON, ['-m', 'memtrack', 'export', RECORDING, file]);
  expect(fs.statSync(file).size).toBeLessThan(MOST_BYTES);
  const requests: string[] = [];
  page.on('request', request => requests.push(request.url()));
  const errors: string[] = [];
  page.on('pageerror', error => errors.push(error.message));
  page.on('console', message => {
    if (message.type() === 'error') {
      errors.push(message.text());
    }
  });
  await context.setOffline(true);
  await page.goto(pathToFileURL(file).href);

  const report = page.getByRole('region', { name: 'Memory report' });
  await expect(report).toContainText('Peak');
  const table = new LayerTable(report);
  await report.getByRole('tab', { name: 'Layers' }).click();
  await expect(table.rows.first()).toContainText('loss');
  await table.sortBy('Params');
  await expect(table.heading('Params')).toHaveAttribute('aria-sort', 'descending');
  await expect(table.rows.first()).toContainText('gpt');
  await table.sortBy('Params');
  await expect(table.rows.first()).toContainText('loss');

  await report.getByRole('tab', { name: 'Timeline' }).click();
  await expect(report.locator('.main-svg').first()).toBeVisible();
  await report.getByRole('tab', { name: 'Ledger' }).click();
  await expect(report.getByRole('tabpanel')).toContainText('MiB');

  expect(errors).toEqual([]);
  const asked = requests.filter(url => !/^(file|data|blob):/.test(url));
  expect(asked).toEqual([]);
});
