// The timeline of a report, found as its readers find it.
import type { Locator } from '@playwright/test';

/** A timeline and its parts. */
export class Timeline {
  /** What has the focus: its keys move and zoom. */
  readonly chart: Locator;
  /** What is drawn; hidden from screen readers, which get lists and tables instead. */
  readonly picture: Locator;
  /** What is alive at the moment, largest first. */
  readonly blocks: Locator;
  /** Of those, the ones of the chosen layer and of the layers under it. */
  readonly chosenBlocks: Locator;
  /** The moment in words. */
  readonly moment: Locator;
  /** How fine the picture is. */
  readonly detail: Locator;
  readonly legend: Locator;
  /** The part of the run that is shown. */
  readonly strip: Locator;
  readonly toolbar: Locator;

  constructor(panel: Locator) {
    this.chart = panel.getByRole('application');
    this.picture = this.chart.locator('.memtrack-Timeline-canvas');
    this.blocks = panel.getByRole('listbox').getByRole('option');
    this.chosenBlocks = panel.locator('.memtrack-mod-chosen');
    this.moment = panel.getByRole('status').filter({ hasText: 'alive' });
    this.detail = panel.getByRole('toolbar', { name: 'Timeline' }).getByRole('status');
    this.legend = panel.locator('.memtrack-Legend');
    this.strip = panel.getByRole('slider', { name: 'Part of the run that is shown' });
    this.toolbar = panel.getByRole('toolbar', { name: 'Timeline' });
  }

  button(name: string): Locator {
    return this.toolbar.getByRole('button', { name, exact: true });
  }
}
