// A form over the inputs of one planner: controls that read a field of them and change it.
import { element } from '../dom';
import type { ICountOptions } from './controls';
import { check, choice, count } from './controls';

interface IBound<T> {
  readonly node: HTMLElement;
  readonly show: (inputs: T) => void;
}

/** Makes controls that change one set of inputs, and shows in them what the inputs have become. */
export class Form<T> {
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

  count(
    options: ICountOptions,
    read: (inputs: T) => number,
    write: (value: number) => Partial<T>
  ): IBound<T> {
    const control = count(options, value => this._change(write(value), bound));
    const bound: IBound<T> = {
      node: control.node,
      show: inputs => (control.value = read(inputs))
    };
    return bound;
  }

  /** `barred` are choices that make no sense with the others. */
  choice<V extends string>(
    label: string,
    options: readonly (readonly [V, string])[],
    read: (inputs: T) => V,
    write: (value: V) => Partial<T>,
    barred: (inputs: T) => readonly V[] = () => []
  ): IBound<T> {
    const control = choice(label, options, value => this._change(write(value), bound));
    const bound: IBound<T> = {
      node: control.node,
      show: inputs => {
        control.value = read(inputs);
        control.setDisabled(barred(inputs));
      }
    };
    return bound;
  }

  check(
    label: string,
    read: (inputs: T) => boolean,
    write: (value: boolean) => Partial<T>
  ): IBound<T> {
    const control = check(label, value => this._change(write(value), bound));
    const bound: IBound<T> = {
      node: control.node,
      show: inputs => (control.value = read(inputs))
    };
    return bound;
  }

  /** What is being typed in stays as it is typed. */
  private _change(changes: Partial<T>, from: IBound<T>): void {
    this._inputs = this._tidy({ ...this._inputs, ...changes });
    this._controls
      .filter(control => control !== from)
      .forEach(control => control.show(this._inputs));
    this._changed(this._inputs);
  }
}
