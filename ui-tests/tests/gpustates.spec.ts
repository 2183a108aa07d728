// What the panel makes of states that a tape of healthy devices does not have.
import type { Locator } from '@playwright/test';
import { expect, test } from '@playwright/test';

import { THEMES, violationsIn } from './support/accessibility';
import { GpuPanel, setGpuSetting } from './support/gpus';
import { madeDevice, madeKernel, MadeServer, madeProcess } from './support/gpustates';
import { sharedLab } from './support/lab';

const LONG = `${'a-very-long-name-of-an-experiment-'.repeat(6)}final.ipynb`;
const HOURS_AGO = new Date(Date.now() - 3 * 3_600_000).toISOString();

const lab = sharedLab();
let panel: GpuPanel;
let server: MadeServer;

test.beforeAll(async () => {
  await lab.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  server = new MadeServer(lab.page);
  await server.listen();
  // Sockets are routed in pages that are loaded from now on.
  await lab.page.reload();
  await lab.page.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
  panel = new GpuPanel(lab.page);
  server.show([madeDevice(0, [])]);
  await panel.open();
});
test.afterAll(() => expect(lab.errors).toEqual([]));

const warnings = (device: Locator): Locator => device.locator('.memtrack-Gpu-warnings li');

test('a device without processes says so', async () => {
  await expect(panel.device(0)).toContainText('No process holds memory here.');
  await expect(panel.device(0)).toContainText('80.0 GiB free of 80.0 GiB');
});

test('a slow network: what is old says so, and of when it is', async () => {
  server.show([madeDevice(0, [])]);
  const notice = panel.region.getByText(/^Waiting for the server; figures are of \d/);
  await expect(notice).toBeHidden();
  await expect(notice).toBeVisible();
  await expect(panel.device(0)).toBeVisible();
  expect(await violationsIn(lab.page, '#memtrack-gpu-panel')).toEqual([]);
  // Closed for longer than figures are fresh, it does not show them as those of now.
  await panel.close();
  await panel.open();
  await expect(notice).toBeVisible();
  server.show([madeDevice(0, [])]);
  await expect(notice).toBeHidden();
});

test('no devices: what works all the same', async () => {
  server.show([]);
  await expect(panel.explanation).toHaveAttribute('data-state', 'no_devices');
  await expect(panel.explanation).toContainText('No GPU was found where Jupyter Server runs.');
  await panel.explanation.getByRole('button', { name: /^Copy/ }).click();
  await expect
    .poll(() => lab.page.evaluate(() => navigator.clipboard.readText()))
    .toBe('%memtrack predict BUILD --gpu NAME');
});

for (const [id, text, words] of [
  ['version', JSON.stringify({ schema: 'memtrack.gpus/2', devices: [] }), /of another version/],
  ['understood', '<html>a proxy says hello</html>', /cannot be read/]
] as const) {
  test(`a server that says something else: ${id}`, async () => {
    server.say(text);
    await expect(panel.explanation).toHaveAttribute('data-state', id);
    await expect(panel.explanation).toContainText(words);
    server.show([madeDevice(0, [])]);
    await expect(panel.device(0)).toBeVisible();
  });
}

test('what is unknown is not nothing, and whose it is is told', async () => {
  server.show([
    madeDevice(
      0,
      [
        madeProcess(11, null),
        madeProcess(12, 2, { user: 'grace', mine: false, command: null, end_command: null }),
        madeProcess(13, 3, { state: 'zombie', end_command: null })
      ],
      { used: 6 * 2 ** 30, free: 74 * 2 ** 30 }
    )
  ]);
  const row = (words: string | RegExp): Locator =>
    panel.rows(panel.device(0)).filter({ hasText: words });
  await expect(row('train-11.py')).toHaveCount(0);
  await expect(panel.rows(panel.device(0))).toHaveCount(3);
  await expect(row('unknown')).toContainText('no session');
  await expect(row('pid 12')).toContainText('grace');
  await expect(row('pid 12').getByRole('button')).toHaveCount(0);
  await expect(row('has ended, yet the driver lists it')).toContainText('3.00 GiB');
});

test('warnings say what is the matter, and only then', async () => {
  server.show([
    madeDevice(0, [
      madeProcess(21, 40, {
        kernel: madeKernel('work/eval.ipynb', { last_activity: HOURS_AGO }),
        end_command: null
      }),
      madeProcess(22, 35)
    ]),
    madeDevice(1, [madeProcess(23, 1, { kernel: madeKernel('busy.ipynb', { state: 'busy' }) })], {
      used: 9 * 2 ** 30,
      free: 71 * 2 ** 30,
      flags: ['ecc_uncorrected', 'throttle_thermal']
    }),
    madeDevice(2, [madeProcess(24, 1, { kernel: madeKernel('a.ipynb') })])
  ]);
  await expect(warnings(panel.device(0))).toHaveText([
    /^94\s% of the memory is in use/,
    /^eval\.ipynb \(21\) has been idle for 3\sh and holds 40\.0\sGiB\.$/,
    /^python \(22\) belongs to no open session/
  ]);
  await expect(warnings(panel.device(1))).toHaveText([
    /^Memory errors that could not be corrected/,
    /^Slowed down: it is too hot\.$/,
    /^8\.00\sGiB is in use, but by no process the driver lists/
  ]);
  await expect(warnings(panel.device(2))).toHaveCount(0);
});

test('no figure of a process is cut, in either unit', async () => {
  const started = Date.now() / 1000 - 47 * 60;
  server.show([madeDevice(0, [madeProcess(28, 79.9, { started })])]);
  for (const [units, figure] of [
    ['MiB', '81,818 MiB'],
    ['auto', '79.9 GiB']
  ] as const) {
    await setGpuSetting(lab.page, 'units', units);
    await expect(panel.rows(panel.device(0))).toContainText(figure);
    const cut = await panel
      .device(0)
      .evaluate(node =>
        [...node.querySelectorAll('.memtrack-Processes :is(th, td):not([colspan])')]
          .filter(cell => cell.scrollWidth > cell.clientWidth)
          .map(cell => cell.textContent)
      );
    expect(cut).toEqual([]);
  }
});

test('instances of MIG stand under their device', async () => {
  server.show([
    madeDevice(0, []),
    madeDevice(0, [madeProcess(31, 5)], {
      uuid: 'MIG-1',
      name: 'NVIDIA H100 80GB HBM3 MIG 3g.40gb',
      kind: 'mig',
      parent: 'GPU-0',
      total: 40 * 2 ** 30,
      free: 35 * 2 ** 30,
      utilisation: null,
      bandwidth: null
    })
  ]);
  const instance = panel.region.getByRole('region', { name: /^MIG 3g\.40gb/ });
  await expect(instance.getByRole('heading')).toHaveText('MIG 3g.40gb');
  await expect(instance).toContainText('MIG-1');
  await expect(panel.device(0)).toContainText('each instance has its own processes');
  await expect(instance).toContainText('35.0 GiB free of 40.0 GiB');
  await expect(panel.rows(instance)).toHaveCount(1);
  await expect(panel.region.locator('.memtrack-Gpus-list > .memtrack-Gpu')).toHaveCount(2);
});

test('kernels on another computer', async () => {
  server.show([madeDevice(0, [])], { kernels: 'remote' });
  await expect(panel.region).toContainText(
    'Kernels run on another computer: the GPUs of this server are not theirs.'
  );
});

test('a device is lost and comes back', async () => {
  const lost = { en: 'The GPU does not answer any more.', zh_CN: '' };
  const status = { id: 'lost', message: lost, advice: { en: '' }, detail: 'GPU is lost' };
  server.show([madeDevice(0, [madeProcess(41, 5)]), madeDevice(1, [])]);
  await expect(panel.rows(panel.device(0))).toHaveCount(1);
  server.show([
    madeDevice(0, [], { status, lists_processes: false, used: 5 * 2 ** 30, free: 75 * 2 ** 30 }),
    madeDevice(1, [])
  ]);
  await expect(panel.device(0).getByRole('status')).toContainText('does not answer any more');
  await expect(panel.device(1).getByRole('status')).toBeHidden();
  server.show([madeDevice(1, [])]);
  await expect(panel.device(0)).toHaveCount(0);
  server.show([madeDevice(0, [madeProcess(41, 5)]), madeDevice(1, [])]);
  await expect(panel.rows(panel.device(0))).toHaveCount(1);
  await expect(panel.device(0).getByRole('status')).toBeHidden();
});

test('eight devices of 64 processes in a narrow panel', async () => {
  const { page } = lab;
  const processes = (device: number): ReturnType<typeof madeProcess>[] =>
    Array.from({ length: 64 }, (_, at) =>
      madeProcess(1000 * device + at, 0.5 + at / 100, {
        ...(at === 0 ? { kernel: madeKernel(LONG), end_command: null } : {}),
        ...(at === 1 ? { kernel: madeKernel('תרגיל נתונים.ipynb'), end_command: null } : {}),
        ...(at === 2 ? { command: `/usr/bin/${'x'.repeat(390)}` } : {})
      })
    );
  const devices = Array.from({ length: 8 }, (_, index) => madeDevice(index, processes(index)));
  await page.sidebar.setWidth(240, 'right');
  server.show(devices);
  await expect(panel.rows(panel.device(7))).toHaveCount(64);
  // One line for all of them: the list of processes stays in sight.
  await expect(warnings(panel.device(7))).toHaveText([
    /^62 processes belong to no open session and hold 51\.\d\sGiB/
  ]);
  const overflow = (): Promise<number> =>
    panel.region.evaluate(node =>
      Math.max(
        ...[...node.querySelectorAll('.memtrack-Gpus, .memtrack-Gpus-list, .memtrack-Gpu')].map(
          each => each.scrollWidth - each.clientWidth
        )
      )
    );
  expect(await overflow()).toBeLessThanOrEqual(0);
  // A look a second must leave the page free.
  const longest = await page.evaluate(async () => {
    let most = 0;
    let last = performance.now();
    const until = last + 3000;
    while (last < until) {
      await new Promise(resolve => setTimeout(resolve, 0));
      most = Math.max(most, performance.now() - last);
      last = performance.now();
    }
    return most;
  });
  expect(longest).toBeLessThan(500);
  await page.sidebar.setWidth(430, 'right');
  expect(await overflow()).toBeLessThanOrEqual(0);
});

for (const theme of THEMES) {
  test(`warnings have no accessibility violation in ${theme}`, async () => {
    server.show([
      madeDevice(0, [madeProcess(51, 75), madeProcess(52, null)], {
        flags: ['ecc_uncorrected'],
        used: 79 * 2 ** 30,
        free: 2 ** 30
      })
    ]);
    await expect(warnings(panel.device(0)).first()).toBeVisible();
    await lab.page.theme.setTheme(theme);
    expect(await violationsIn(lab.page, '#memtrack-gpu-panel')).toEqual([]);
  });
}
