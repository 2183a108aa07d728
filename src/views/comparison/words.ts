// What became of a layer and how a run is called, in the reader's language.
import type { TranslationBundle } from '@jupyterlab/translation';

import { at } from '../../base/assert';
import { formatPercent } from '../../base/bytes';
import type { IMergedLayers, ISide } from '../../wire/comparison';
import { layerStatus } from '../../wire/comparison';

/** Returns what became of the layer in `row`, and how sure that is; "" where it is the same. */
export function statusText(layers: IMergedLayers, row: number, trans: TranslationBundle): string {
  const status = layerStatus(at(layers.status, row));
  const sure = at(layers.sure, row);
  const word = statusWord(status, trans);
  return sure < 1 && word !== '' ? `${word} (${formatPercent(sure, 1)})` : word;
}

function statusWord(status: ReturnType<typeof layerStatus>, trans: TranslationBundle): string {
  switch (status) {
    case 'same':
      return '';
    case 'retyped':
      return trans.__('other class');
    case 'renamed':
      return trans.__('renamed');
    case 'moved':
      return trans.__('moved');
    case 'alike':
      return trans.__('similar');
    case 'added':
      return trans.__('added');
    case 'removed':
      return trans.__('removed');
  }
}

/** Returns how a run is called: by its name, or its number and label. */
export function sideName(side: ISide, trans: TranslationBundle): string {
  const number = side.run === undefined ? '' : trans.__('run %1', String(side.run));
  return [side.name || side.label, number].filter(Boolean).join(' · ') || trans.__('unnamed');
}
