// A form over the inputs of one planner: controls that read a field of them and change it.
import { element } from '../dom';
import type { IControl, ICountOptions } from './controls';
import { check, choice, count } from './controls';

interface IBound<T> {
  readonly node: HTMLElement;
  readonly show: (inputs: T) => void;
  /** Whether the inputs hold what the control shows. */
  readonly holds: (inputs: T) => boolean;
}

/** How a control reads its value in the inputs, and what it makes of them when it has another. */
export interface ILens<T, V> {
  readonly read: (inputs: T) => V;
  readonly write: (value: V) => Partial<T>;
}

/** The fields of inputs that hold such a value. */
type FieldOf<T, V> = {
  [K in keyof T]: T[K] extends V ? (V extends T[K] ? K : never) : never;
}[keyof T];

/** A field, or a lens where a control is not one field as it is. */
type Place<T, V> = FieldOf<T, V> | ILens<T, V>;

/** Makes controls that change one set of inputs, and shows in them what the inputs have become. */
export class Form<T extends object> {
  readonly node = element('div', { class: 'memtrack-Planner-form' });
  private readonly _controls: IBound<T>[] = [];

  /** `tidy` makes inputs of any choices that make sense; `changed` hears of them. */
  constructor(
    private _inputs: T,
    private readonly _tidy: (inputs: T) => T,
    private readonly _changed: (inputs: T) => void
  ) {}

  /** Controls under a title. */
  group(title: string, ...controls: readonly IBound<T>[]): void {
    const nodes = controls.map(({ node }) => node);
    const legend = element('legend', {}, title);
    this.node.append(element('fieldset', { class: 'memtrack-Planner-group' }, legend, ...nodes));
    this._controls.push(...controls);
    controls.forEach(control => control.show(this._inputs));
  }

  count(options: ICountOptions, place: Place<T, number>): IBound<T> {
    return this._bind(place, changed => count(options, changed));
  }

  /** `barred` are choices that make no sense with the others. */
  choice<V extends string>(
    label: string,
    options: readonly (readonly [V, string])[],
    place: Place<T, V>,
    barred: (inputs: T) => readonly V[] = () => []
  ): IBound<T> {
    return this._bind(
      place,
      changed => choice(label, options, changed),
      (control, inputs) => control.setDisabled(barred(inputs))
    );
  }

  check(label: string, place: Place<T, boolean>): IBound<T> {
    return this._bind(place, changed => check(label, changed));
  }

  private _bind<V, C extends IControl<V>>(
    place: Place<T, V>,
    make: (changed: (value: V) => void) => C,
    shown: (control: C, inputs: T) => void = () => undefined
  ): IBound<T> {
    const { read, write } = lensOf<T, V>(place);
    const control = make(value => this._change(write(value), bound));
    const bound: IBound<T> = {
      node: control.node,
      show: inputs => {
        control.value = read(inputs);
        shown(control, inputs);
      },
      holds: inputs => control.value === read(inputs)
    };
    return bound;
  }

  /** What is being typed in stays as it is typed, unless something else was made of it. */
  private _change(changes: Partial<T>, from: IBound<T>): void {
    this._inputs = this._tidy({ ...this._inputs, ...changes });
    this._controls
      .filter(control => control !== from || !control.holds(this._inputs))
      .forEach(control => control.show(this._inputs));
    this._changed(this._inputs);
  }
}

function lensOf<T extends object, V>(place: Place<T, V>): ILens<T, V> {
  if (typeof place === 'object') {
    return place;
  }
  // The type of a place says that the field holds a V, which TypeScript cannot follow back.
  return {
    read: inputs => inputs[place as keyof T] as unknown as V,
    write: value => ({ [place]: value }) as unknown as Partial<T>
  };
}
