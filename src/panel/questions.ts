// What is asked before a kernel is stopped, with what will be lost.
import { Dialog, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { bytesIn } from '../model/gpus/figures';
import type { IProcessRow } from '../model/gpus/rows';
import { rowName } from '../model/gpus/rows';
import type { Units } from '../model/gpus/settings';
import type { IGpuDevice } from '../wire/gpus';
import { element } from '../views/dom';
import { spanText } from '../views/gpus/words';

/** Asks whether to shut a kernel down; resolves to whether it shall be. */
export async function askShutDown(
  row: IProcessRow,
  device: IGpuDevice,
  units: Units,
  trans: TranslationBundle
): Promise<boolean> {
  const { process, ageS } = row;
  const name = rowName(row);
  const lines = [
    trans.__('All its variables are lost: the model, the optimizer and whatever was not saved.'),
    ...(process.kernel?.state === 'busy'
      ? [trans.__('A cell is running in it now; it is cut off.')]
      : []),
    ...(ageS === undefined ? [] : [trans.__('It has run for %1.', spanText(ageS, trans))]),
    process.bytes === undefined
      ? trans.__('Its memory on GPU %1 becomes free.', device.index)
      : trans.__('%1 on GPU %2 become free.', bytesIn(units, process.bytes), device.index),
    trans.__('The notebook file stays as it is.')
  ];
  return ask(trans.__('Shut down the kernel of %1?', name), lines, trans.__('Shut down'), trans);
}

/** Asks whether to interrupt what a kernel runs; resolves to whether it shall be. */
export async function askInterrupt(row: IProcessRow, trans: TranslationBundle): Promise<boolean> {
  const lines = [
    trans.__('The running cell stops where it is; what it had not stored in a variable is lost.'),
    trans.__('Variables and the memory they hold stay.')
  ];
  const title = trans.__('Interrupt the kernel of %1?', rowName(row));
  return ask(title, lines, trans.__('Interrupt'), trans);
}

async function ask(
  title: string,
  lines: readonly string[],
  label: string,
  trans: TranslationBundle
): Promise<boolean> {
  const node = element(
    'div',
    { class: 'memtrack-Question' },
    ...lines.map(line => element('p', {}, line))
  );
  const result = await showDialog({
    title,
    body: new Widget({ node }),
    buttons: [Dialog.cancelButton({ label: trans.__('Cancel') }), Dialog.warnButton({ label })],
    defaultButton: 0
  });
  return result.button.accept;
}
