// The layers of both runs in one table, at first those alone that are not the same.
import type { TranslationBundle } from '@jupyterlab/translation';

import { DEFAULT_COLUMNS, MAIN_COLUMN, comparedColumns } from '../../model/comparison/columns';
import { changedRows, mergedData } from '../../model/comparison/layers';
import { NO_ROW } from '../../model/layers';
import type { IComparison } from '../../wire/comparison';
import { button } from '../dom';
import { LayerTable } from '../layers';
import { statusText } from './words';

/** Returns the table of the merged layers. */
export function comparedLayers(comparison: IComparison, trans: TranslationBundle): LayerTable {
  const changed = changedRows(comparison.layers);
  const isAny = changed.includes(1);
  const only = button(
    {
      class: 'memtrack-Button',
      'aria-pressed': 'true',
      title: trans.__('Leave out the layers that are the same in both runs; times do not count')
    },
    () => show(only.getAttribute('aria-pressed') !== 'true'),
    trans.__('Only changed')
  );
  const table = new LayerTable({
    trans,
    definitions: comparedColumns(trans),
    defaults: DEFAULT_COLUMNS,
    main: MAIN_COLUMN,
    controls: [only],
    aliasText: path => trans.__('was %1', path),
    emptyText: isAny
      ? trans.__('Neither run has layers.')
      : trans.__('No layer has changed. “Only changed” shows the others.'),
    fileName: 'memtrack-comparison.csv'
  });
  const show = (isOnly: boolean): void => {
    only.setAttribute('aria-pressed', String(isOnly));
    table.showOnly(isOnly ? changed : undefined);
  };
  table.setData(
    mergedData(comparison, row => statusText(comparison.layers, row, trans)),
    NO_ROW
  );
  show(isAny);
  return table;
}
