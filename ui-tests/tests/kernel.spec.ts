// One notebook with one kernel, through a day of work: live training, the report, a reload, a
// failure, and the saved notebook when the kernel is gone.
import type { Locator } from '@playwright/test';
import { expect, test } from '@playwright/test';

import { chooseTab, openNotebook, reportIn, runCell, sharedLab } from './support/lab';
import { writeNotebook } from './support/notebooks';
import { LayerTable } from './support/table';
import { Timeline } from './support/timeline';
import { listenFor, mostInASecond } from './support/traffic';

const MODEL = `
import time
import torch
from torch import nn

torch.set_num_threads(1)
blocks = [nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)) for _ in range(4)]
model = nn.Sequential(*blocks)
optimizer = torch.optim.AdamW(model.parameters())

def train(seconds=0, steps=0):
    end = time.monotonic() + seconds
    while steps > 0 or time.monotonic() < end:
        optimizer.zero_grad()
        model(torch.randn(32, 64)).square().mean().backward()
        optimizer.step()
        steps -= 1

%load_ext memtrack`;
const FAILING = `
class Broken(nn.Module):
    def forward(self, x):
        return x * (1 / int(x.sum() * 0))

broken = nn.Sequential(model, Broken())
broken(torch.randn(32, 64))`;
const NOTEBOOK = 'kernel.ipynb';
const CELLS = [
  MODEL,
  '%memtrack model --label small',
  'train(seconds=8)',
  '%memtrack off',
  '%memtrack model --label broken',
  `train(steps=1)\n${FAILING}`
];

// Each test goes on where the one before ended.
test.describe.configure({ mode: 'serial' });

const lab = sharedLab();
let report: Locator;

test('while a cell trains the report lives, at no more than four updates a second', async () => {
  const { page } = lab;
  const ticks = listenFor(page, 'tick');
  await openNotebook(page, writeNotebook(NOTEBOOK, CELLS));
  report = reportIn(page).first();
  await runCell(page, 0);
  await runCell(page, 1);
  await expect(report.getByRole('heading')).toHaveText(/^Watching|so far$/);
  const states = await watchWhileBusy(report);
  await runCell(page, 2);

  const { heading, figures } = await states();
  expect(heading).toMatch(/^Peak [\d.]+ MiB so far$/);
  expect(figures.length).toBeGreaterThan(4);
  expect(figures[0]).toMatch(/^step \d+ · \w+.*allocated [\d.]+ [KM]iB.*elapsed [\d.]+ m?s/);
  expect(ticks.times.length).toBeGreaterThan(4);
  // Four, besides them the one that begins the cell and the one that ends it, and what a busy machine
  // hands over late; the bound below is on all of them.
  expect(mostInASecond(ticks)).toBeLessThanOrEqual(8);
  expect(ticks.times.length).toBeLessThanOrEqual(4 * 8 + 2);
  await expect(report.getByText('recording', { exact: true })).toBeVisible();
});

test('the report is final when the recording is off', async () => {
  const { page } = lab;
  await runCell(page, 3);
  await expect(report.getByText('recording', { exact: true })).toHaveCount(0);
  await expect(report.getByRole('heading')).toHaveText(/^Peak [\d.]+ MiB in .*, step \d+$/);
});

test('after a reload the report is there, and its kernel answers zooms', async () => {
  const { page } = lab;
  const headline = await report.getByRole('heading').innerText();
  await page.notebook.save();
  const windows = listenFor(page, 'window');
  await page.reload();
  await openNotebook(page, NOTEBOOK);
  await expect(report.getByRole('heading')).toHaveText(headline);
  const timeline = new Timeline(await chooseTab(report, 'Timeline'));
  const coarse = await eventsAPoint(timeline);
  for (let zoom = 0; zoom < 6; zoom++) {
    await timeline.button('Zoom in').click();
  }
  await expect.poll(() => eventsAPoint(timeline)).toBeLessThan(coarse);
  expect(windows.times.length).toBeGreaterThan(0);
  await expect(timeline.strip).toHaveAttribute('aria-valuetext', /^event [\d,]+ to event [\d,]+$/);
});

test('an exception in training is shown as it is, and the report stays', async () => {
  const { page } = lab;
  await runCell(page, 4);
  await runCell(page, 5);
  const output = page.locator('.jp-OutputArea-output', { hasText: 'ZeroDivisionError' });
  await expect(output).toContainText('return x * (1 / int(x.sum() * 0))');
  // Frames of the user and of torch; none of ours.
  await expect(output).not.toContainText('memtrack');
  const second = reportIn(page).nth(1);
  await expect(second.getByRole('heading')).toHaveText(/^Peak /);
  await expect(second.getByText('failed', { exact: true })).toBeVisible();
  await expect(second.getByRole('tab', { name: 'Timeline' })).toBeVisible();
});

test('when the kernel is gone the saved reports still work', async () => {
  const { page } = lab;
  await page.notebook.save();
  await page.kernel.shutdownAll();
  const windows = listenFor(page, 'window');
  await page.reload();
  await openNotebook(page, NOTEBOOK);
  await expect(reportIn(page)).toHaveCount(2);
  const timeline = new Timeline(await chooseTab(report, 'Timeline'));
  for (let zoom = 0; zoom < 6; zoom++) {
    await timeline.button('Zoom in').click();
  }
  await expect(timeline.strip).toHaveAttribute('aria-valuetext', /^event [\d,]+ to event [\d,]+$/);
  expect(await eventsAPoint(timeline)).toBeGreaterThan(1);
  await timeline.blocks.filter({ hasText: 'small.' }).first().click();
  const table = new LayerTable(await chooseTab(report, 'Layers'));
  await expect(table.grid.locator('[aria-selected="true"]')).toHaveCount(1);
  expect(windows.times).toEqual([]);
});

test('nothing went wrong in the page meanwhile', () => {
  expect(lab.errors).toEqual([]);
});

/** Nothing is said where each point is one event, as on a busy machine, which trains fewer steps. */
async function eventsAPoint({ detail }: Timeline): Promise<number> {
  return Number(/^Each point covers (\d+) events/.exec(await detail.innerText())?.[1] ?? 1);
}

interface IBusyStates {
  /** The last heading while the kernel was busy. */
  readonly heading: string;
  /** The different rows of figures while it was. */
  readonly figures: readonly string[];
}

/** Watches what `report` says while the status bar says that the kernel is busy. */
async function watchWhileBusy(report: Locator): Promise<() => Promise<IBusyStates>> {
  const handle = await report.evaluateHandle(node => {
    const states = { heading: '', figures: [] as string[] };
    const note = (): void => {
      const bar = document.getElementById('jp-main-statusbar');
      const row = node.querySelector<HTMLElement>('.memtrack-Live-figures');
      if (bar?.textContent.includes('| Busy') && row?.offsetParent) {
        states.heading = node.querySelector('[role="heading"]')?.textContent ?? '';
        states.figures = [...new Set([...states.figures, row.textContent])];
      }
    };
    new MutationObserver(note).observe(node, {
      characterData: true,
      childList: true,
      subtree: true
    });
    return states;
  });
  return () => handle.jsonValue();
}
