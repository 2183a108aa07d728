// The GPU panel, found as its readers find it, and the driver of the test server, which can be made to fail.
import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type { Locator, Page } from '@playwright/test';
import { expect } from '@playwright/test';
import fs from 'node:fs';

/** The plugin whose settings the panel follows. */
export const GPU_SETTINGS = 'memtrack:gpus';

/** What the driver refuses: see python_pkg/tests/replayed_devices.py. */
export interface IFaults {
  readonly refuse?: Readonly<Record<string, string>>;
  readonly missing?: boolean;
  readonly environment?: Readonly<Record<string, boolean>>;
}

/** Has the driver fail from its next look on; `{}` mends it. */
export function setFaults(faults: IFaults): void {
  const file = process.env.MEMTRACK_TEST_FAULTS ?? '';
  // Renamed into its place, as the server may read at any moment.
  fs.writeFileSync(`${file}.new`, JSON.stringify(faults));
  fs.renameSync(`${file}.new`, file);
}

/** The panel and its parts. */
export class GpuPanel {
  readonly region: Locator;

  constructor(readonly page: Page) {
    this.region = page.locator('#memtrack-gpu-panel');
  }

  /** The card of a GPU, by its number. */
  device(index: number): Locator {
    return this.region.getByRole('region', { name: new RegExp(`^GPU ${index} `) });
  }

  /** The figures of each process of a device, in their order. */
  rows(device: Locator): Locator {
    return device.locator('tbody');
  }

  heading(device: Locator, name: string): Locator {
    return device.getByRole('columnheader', { name });
  }

  /** What stands where the devices would be. */
  get explanation(): Locator {
    return this.region.locator('.memtrack-Gpus-empty');
  }

  async open(): Promise<void> {
    await this.page.waitForFunction(
      () => 'jupyterapp' in window && window.jupyterapp.commands.hasCommand('memtrack:show-gpus')
    );
    await this.page.evaluate(
      async () => void (await window.jupyterapp.commands.execute('memtrack:show-gpus'))
    );
    await expect(this.region).toBeVisible();
  }

  /** Hides the panel as a click on its tab does. */
  async close(): Promise<void> {
    await this.page.evaluate(() => {
      const shell = window.jupyterapp.shell as unknown as { collapseRight(): void };
      shell.collapseRight();
    });
    await expect(this.region).toBeHidden();
  }
}

/** Changes a setting of the panel as the editor of settings does. */
export function setGpuSetting(
  page: IJupyterLabPageFixture,
  name: string,
  value: unknown
): Promise<void> {
  return page.evaluate(
    async ([plugin, key, chosen]) => {
      const registry = await window.galata.getPlugin('@jupyterlab/apputils-extension:settings');
      await registry?.set(plugin, key, chosen as string);
    },
    [GPU_SETTINGS, name, value] as const
  );
}
