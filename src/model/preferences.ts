// What the reader chose in the settings, and what was done to each report in this page.
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { Axis } from './scale';
import { AXES } from './scale';

/** The tabs that every report of a model has, for the settings to choose the first from. */
export const FIRST_TAB_IDS = ['layers', 'timeline', 'ledger'] as const;

/** A tab of a report. */
export type TabId = (typeof FIRST_TAB_IDS)[number] | 'lines' | 'summary' | 'advice';

/** The settings of the report view. */
export interface IPreferences {
  readonly defaultTab: TabId;
  readonly timelineAxis: Axis;
  /** Columns of the layer table in order; empty for the table's own choice. */
  readonly layerColumns: readonly string[];
  readonly isFolded: boolean;
}

/** What holds where nobody chose. */
export const DEFAULT_PREFERENCES: IPreferences = {
  defaultTab: 'layers',
  timelineAxis: 'events',
  layerColumns: [],
  isFolded: false
};

/** Returns the preferences in `settings`, as schema/plugin.json describes them. */
export function preferencesFrom(settings: Readonly<Record<string, unknown>>): IPreferences {
  const { defaultTab, timelineAxis, layerColumns, foldedByDefault } = settings;
  return {
    defaultTab: FIRST_TAB_IDS.find(id => id === defaultTab) ?? DEFAULT_PREFERENCES.defaultTab,
    timelineAxis: AXES.find(axis => axis === timelineAxis) ?? DEFAULT_PREFERENCES.timelineAxis,
    layerColumns: Array.isArray(layerColumns)
      ? layerColumns.filter(id => typeof id === 'string')
      : DEFAULT_PREFERENCES.layerColumns,
    isFolded: foldedByDefault === true
  };
}

/** How one report was left: undefined is as the settings say. */
export interface IReportTraces {
  tab?: TabId;
  isFolded?: boolean;
}

// Reports of a long day; each is a few bytes.
const MOST_REMEMBERED = 200;

/** Keeps a setting that the reader chose in a report, under its name in the schema. */
export type KeepSetting = (name: 'layerColumns', value: readonly string[]) => void;

/** The settings in force, and how each report of this page was left. */
export class Preferences {
  /** Where choices are kept beyond this page; undefined for nowhere. */
  keep: KeepSetting | undefined;

  private _values = DEFAULT_PREFERENCES;
  private readonly _changed = new Signal<this, IPreferences>(this);
  private readonly _traces = new Map<string, IReportTraces>();

  get values(): IPreferences {
    return this._values;
  }

  set values(values: IPreferences) {
    this._values = values;
    this._changed.emit(values);
  }

  get changed(): ISignal<this, IPreferences> {
    return this._changed;
  }

  /** The reader chose columns in a report: from now on they are those of every report. */
  chooseLayerColumns(layerColumns: readonly string[]): void {
    this.values = { ...this._values, layerColumns };
    this.keep?.('layerColumns', layerColumns);
  }

  /** How the report `identifier` was left: an object to keep and to write to. */
  tracesOf(identifier: string): IReportTraces {
    const traces = this._traces.get(identifier) ?? {};
    this._traces.delete(identifier);
    this._traces.set(identifier, traces);
    const [oldest] = this._traces.keys();
    if (this._traces.size > MOST_REMEMBERED && oldest !== undefined) {
      this._traces.delete(oldest);
    }
    return traces;
  }
}
