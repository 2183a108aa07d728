import { Widget } from '@lumino/widgets';

import { Preferences } from '../../../model/preferences';
import { Selection } from '../../../model/selection';
import { decodeReport } from '../../../wire';
import { reportFixture } from '../../../wire/__tests__/fixture';
import { nextFrame, trans } from '../../__tests__/sample';
import { LayerTable } from '../../layers';
import { ReportTabs } from '../reporttabs';

jest.mock('../../../draw/plotly', () => ({ drawFigure: jest.fn(), purgeFigure: jest.fn() }));

describe('the chosen layer', () => {
  const { json, buffers } = reportFixture();
  const report = decodeReport(json, buffers);
  let selection: Selection;
  let preferences: Preferences;
  let tabs: ReportTabs;

  beforeEach(() => {
    selection = new Selection();
    preferences = new Preferences();
    const chooser = document.createElement('select');
    tabs = new ReportTabs({ trans, language: 'en', preferences, selection, chooser });
    Widget.attach(tabs, document.body);
  });

  afterEach(() => tabs.dispose());

  function table(): LayerTable {
    const found = tabs.widgets.find(widget => widget instanceof LayerTable);
    if (!(found instanceof LayerTable)) {
      throw new Error('no layer table');
    }
    return found;
  }

  it('is the same in table and timeline, whoever chose it', () => {
    tabs.setView(report, 0);
    tabs.current = 'layers';
    table().select(2);
    expect(selection.row).toBe(2);
    tabs.current = 'timeline';
    selection.row = 1;
    expect(table().selected).toBe(1);
    selection.row = -1;
    expect(table().selected).toBe(-1);
  });

  it('is chosen in a table that is made later', () => {
    tabs.current = 'ledger';
    tabs.setView(report, 0);
    selection.row = 2;
    tabs.current = 'layers';
    expect(table().selected).toBe(2);
  });

  it('stays when the same run comes again', async () => {
    tabs.setView(report, 0);
    tabs.current = 'layers';
    table().select(2);
    tabs.setView(decodeReport(json, buffers), 0);
    await nextFrame();
    expect(selection.row).toBe(2);
  });
});

it('columns chosen in one report are those of every report, and kept', () => {
  const preferences = new Preferences();
  preferences.keep = jest.fn();
  const make = (): ReportTabs => {
    const chooser = document.createElement('select');
    const selection = new Selection();
    const tabs = new ReportTabs({ trans, language: 'en', preferences, selection, chooser });
    tabs.current = 'layers';
    preferences.changed.connect((_, values) => tabs.applyPreferences(values, before));
    return tabs;
  };
  const before = preferences.values;
  const columns = (tabs: ReportTabs): readonly string[] =>
    tabs.widgets.flatMap(widget => (widget instanceof LayerTable ? widget.columns : []));
  const [one, other] = [make(), make()];
  preferences.chooseLayerColumns(['calls', 'saved']);
  expect(columns(one)).toEqual(['calls', 'saved']);
  expect(columns(other)).toEqual(['calls', 'saved']);
  expect(preferences.keep).toHaveBeenCalledWith('layerColumns', ['calls', 'saved']);
  one.dispose();
  other.dispose();
});
