// Tabs after the ARIA pattern: one tab stop, arrows choose, each panel is made when first chosen.
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import { Panel, Widget } from '@lumino/widgets';

import { at } from '../../base/assert';
import { button, element } from '../dom';

/** One tab; `create` makes what it shows. */
export interface ITab<Id extends string> {
  readonly id: Id;
  readonly label: string;
  readonly create: () => Widget;
}

/** A row of tabs over the panel of the current one. */
export class Tabs<Id extends string> extends Panel {
  private readonly _tabs: readonly ITab<Id>[];
  private readonly _panels = new Map<Id, Widget>();
  private readonly _buttons: readonly HTMLButtonElement[];
  private readonly _list: HTMLElement;
  private readonly _currentChanged = new Signal<this, Id>(this);
  private _absent: readonly Id[] = [];
  private _wanted: Id | undefined;
  private _current: Id | undefined;

  /** `aside` stands at the other end of the row. */
  constructor(tabs: readonly ITab<Id>[], label: string, aside: HTMLElement) {
    super();
    this._tabs = tabs;
    this.addClass('memtrack-Tabs');
    this._buttons = tabs.map(tab =>
      button(
        { class: 'memtrack-Tab', role: 'tab', id: this._tabId(tab.id), tabindex: '-1' },
        () => this.choose(tab.id),
        tab.label
      )
    );
    this._list = element(
      'div',
      { class: 'memtrack-Tabs-list', role: 'tablist', 'aria-label': label },
      ...this._buttons
    );
    this._list.addEventListener('keydown', event => this._key(event));
    const bar = new Widget();
    bar.addClass('memtrack-Tabs-bar');
    bar.node.append(this._list, aside);
    this.addWidget(bar);
  }

  /** The id of the current tab; undefined before the first. */
  get current(): Id | undefined {
    return this._current;
  }

  set current(id: Id | undefined) {
    this._wanted = id;
    this._show();
  }

  /** Tabs without anything to show: they are not there, the first of the others takes their place. */
  set absent(ids: readonly Id[]) {
    // Only what changes: a button that comes anew would lose the focus.
    if (ids.join() !== this._absent.join()) {
      this._absent = ids;
      this._list.replaceChildren(
        ...this._buttons.filter((_, index) => !ids.includes(at(this._tabs, index).id))
      );
    }
    this._show();
  }

  /** The reader chose another tab; not said when `current` is set. */
  get currentChanged(): ISignal<this, Id> {
    return this._currentChanged;
  }

  private get _present(): readonly Id[] {
    return this._tabs.map(({ id }) => id).filter(id => !this._absent.includes(id));
  }

  private _show(): void {
    const present = this._present;
    const wanted = this._wanted;
    const id = wanted === undefined || present.includes(wanted) ? wanted : present[0];
    if (id === undefined || id === this._current) {
      return;
    }
    const previous = this._current === undefined ? undefined : this._panels.get(this._current);
    this._current = id;
    previous?.hide();
    this._panelOf(id).show();
    this._tabs.forEach((tab, index) => {
      const isCurrent = tab.id === id;
      const node = at(this._buttons, index);
      node.setAttribute('aria-selected', String(isCurrent));
      node.tabIndex = isCurrent ? 0 : -1;
    });
  }

  /** Choose a tab as its reader would. */
  choose(id: Id): void {
    if (id !== this._current) {
      this.current = id;
      this._currentChanged.emit(id);
    }
  }

  private _panelOf(id: Id): Widget {
    const made = this._panels.get(id);
    const index = this._tabs.findIndex(tab => tab.id === id);
    const panel = made ?? at(this._tabs, index).create();
    if (made === undefined) {
      panel.node.id = `${this.id}-panel-${id}`;
      panel.node.setAttribute('role', 'tabpanel');
      panel.node.setAttribute('aria-labelledby', this._tabId(id));
      at(this._buttons, index).setAttribute('aria-controls', panel.node.id);
      this._panels.set(id, panel);
      this.addWidget(panel);
    }
    return panel;
  }

  private _key(event: KeyboardEvent): void {
    const present = this._present;
    const index = present.findIndex(id => id === this._current);
    const last = present.length - 1;
    const targets: Readonly<Record<string, number>> = {
      ArrowLeft: index === 0 ? last : index - 1,
      ArrowRight: index === last ? 0 : index + 1,
      Home: 0,
      End: last
    };
    const target = targets[event.key];
    if (target !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      const id = at(present, target);
      this.choose(id);
      at(
        this._buttons,
        this._tabs.findIndex(tab => tab.id === id)
      ).focus();
    }
  }

  private _tabId(id: Id): string {
    return `${this.id}-tab-${id}`;
  }
}
