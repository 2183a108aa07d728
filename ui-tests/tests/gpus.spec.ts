import AxeBuilder from '@axe-core/playwright';
import type { Request, WebSocket } from '@playwright/test';
import { expect, test } from '@playwright/test';

import { GpuPanel, setFaults, setGpuSetting } from './support/gpus';
import { openNotebook, sharedLab } from './support/lab';
import { writeNotebook } from './support/notebooks';

// Two H200 from a tape: the kernel of the notebook, another program of the user's, one of grace's.
const lab = sharedLab();
const traffic: string[] = [];
const openSockets = new Set<WebSocket>();
let panel: GpuPanel;

test.beforeAll(async () => {
  setFaults({});
  const { page } = lab;
  page.on('request', (request: Request) => note(request.url()));
  page.on('websocket', (socket: WebSocket) => {
    note(socket.url());
    if (isOurs(socket.url())) {
      openSockets.add(socket);
      socket.on('close', () => openSockets.delete(socket));
    }
  });
  panel = new GpuPanel(page);
  await openNotebook(page, writeNotebook('train.ipynb', ['%load_ext memtrack', 'answer = 42']));
  await page.getByText('Python 3 (ipykernel) | Idle').waitFor();
});
test.afterEach(() => setFaults({}));

function isOurs(url: string): boolean {
  return /memtrack\/api\/gpus/.test(url);
}

function note(url: string): void {
  if (isOurs(url)) {
    traffic.push(url);
  }
}

test('asks the server for nothing while it is closed', async () => {
  await lab.page.notebook.runCell(1, { inplace: true });
  expect(traffic).toEqual([]);
});

test('shows the devices and whose their memory is', async () => {
  await panel.open();
  const device = panel.device(0);
  await expect(device).toContainText('H200');
  await expect(panel.rows(device)).toHaveCount(2);
  await expect(panel.rows(device).filter({ hasText: 'train.ipynb' })).toContainText(
    'this notebook'
  );
  await expect(panel.rows(device).filter({ hasText: 'python' })).toContainText('no session');
  await expect(device.getByRole('img', { name: /in all: .*free/ })).toBeVisible();
  await expect(
    device.getByRole('img', { name: /Memory in use over the last 5 min/ })
  ).toBeVisible();
  await expect(panel.rows(panel.device(1))).toContainText('grace');
  expect(traffic.length).toBe(1);
});

test('sorts by any column, by the keyboard too', async () => {
  const device = panel.device(0);
  const heading = panel.heading(device, 'Process');
  await heading.getByRole('button').focus();
  await lab.page.keyboard.press('Enter');
  await expect(heading).toHaveAttribute('aria-sort', 'ascending');
  await expect(panel.rows(device).first()).toContainText('python');
  await lab.page.keyboard.press('Enter');
  await expect(heading).toHaveAttribute('aria-sort', 'descending');
  await expect(panel.rows(device).first()).toContainText('train.ipynb');
});

test('follows the settings at once', async () => {
  const { page } = lab;
  const device = panel.device(0);
  await setGpuSetting(page, 'processColumns', ['memory', 'pid', 'user']);
  await expect(panel.heading(device, 'PID')).toBeVisible();
  await expect(panel.heading(device, 'Age')).toBeHidden();
  await setGpuSetting(page, 'units', 'MiB');
  await expect(device).toContainText(/[\d,]+ MiB free of 143,\d+ MiB/);
  await setGpuSetting(page, 'otherUsers', false);
  await expect(panel.device(1)).toContainText('1 process of another user is left out');
  await setGpuSetting(page, 'devices', ['1']);
  await expect(device).toBeHidden();
  await setGpuSetting(page, 'devices', []);
  await setGpuSetting(page, 'fullThreshold', 1);
  await expect(device).toContainText('of the memory is in use: what is asked next may fail');
  await setGpuSetting(page, 'fullThreshold', 90);
  await setGpuSetting(page, 'otherUsers', true);
  await setGpuSetting(page, 'units', 'auto');
  await setGpuSetting(page, 'processColumns', ['memory', 'age']);
});

for (const theme of ['JupyterLab Light', 'JupyterLab Dark', 'JupyterLab Dark High Contrast']) {
  test(`has no accessibility violation in ${theme}`, async () => {
    await lab.page.theme.setTheme(theme);
    const { violations } = await new AxeBuilder({ page: lab.page })
      .include('#memtrack-gpu-panel')
      .analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  });
}

const STATES = [
  ['no_driver', { refuse: { nvmlInit: 'LIBRARY_NOT_FOUND' } }, /driver/i],
  ['library_missing', { missing: true }, /pip install nvidia-ml-py/],
  [
    'wsl_blocked',
    { refuse: { nvmlInit: 'OPERATING_SYSTEM' }, environment: { is_wsl: true } },
    /wsl --update/
  ],
  ['permission', { refuse: { nvmlInit: 'NO_PERMISSION' } }, /may not ask/],
  [
    'container',
    { refuse: { nvmlInit: 'LIBRARY_NOT_FOUND' }, environment: { is_container: true } },
    /docker run --gpus all/
  ]
] as const;

for (const [id, { ...faults }, text] of STATES) {
  test(`explains: ${id}`, async () => {
    // The driver is looked for anew once the devices it gave are lost.
    const refuse = {
      nvmlDeviceGetMemoryInfo: 'GPU_IS_LOST',
      ...('refuse' in faults ? faults.refuse : {})
    };
    setFaults({ ...faults, refuse });
    await expect(panel.explanation).toHaveAttribute('data-state', id, { timeout: 40_000 });
    await expect(panel.explanation).toContainText(text);
    const { violations } = await new AxeBuilder({ page: lab.page })
      .include('#memtrack-gpu-panel')
      .analyze();
    expect(violations.map(each => each.id)).toEqual([]);
    setFaults({});
    await expect(panel.device(0)).toBeVisible({ timeout: 40_000 });
  });
}

test('comes back as it was after a reload of the page', async () => {
  const { page } = lab;
  // The sockets of a page that is left close without a word to the test.
  openSockets.clear();
  await page.reload();
  await page.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
  const device = panel.device(0);
  await expect(device).toBeVisible();
  await expect(panel.heading(device, 'Process')).toHaveAttribute('aria-sort', 'descending');
});

test('shuts a kernel down after asking, and not before', async () => {
  const { page } = lab;
  const row = panel.rows(panel.device(0)).filter({ hasText: 'train.ipynb' });
  await row.getByRole('button', { name: /^Shut down/ }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Shut down the kernel of train.ipynb?');
  await expect(dialog).toContainText('All its variables are lost');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(row).toBeVisible();
  await row.getByRole('button', { name: /^Shut down/ }).click();
  await dialog.getByRole('button', { name: 'Shut down' }).click();
  await expect(row).toBeHidden();
  await expect
    .poll(async () => (await (await page.request.get('/api/kernels')).json()) as unknown[])
    .toEqual([]);
});

test('has no socket and asks nothing once it is hidden', async () => {
  const { page } = lab;
  await panel.close();
  traffic.length = 0;
  await expect.poll(() => openSockets.size).toBe(0);
  // Longer than two intervals of the panel.
  await page.evaluate(() => new Promise(resolve => setTimeout(resolve, 2500)));
  expect(traffic).toEqual([]);
  expect(lab.errors.filter(error => !/404|kernel/i.test(error))).toEqual([]);
});
