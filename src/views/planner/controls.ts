// Form controls of the planner: each has a label, keeps its node, and tells what the reader chose.
import { nearestStop, parseCount, writtenCount } from '../../model/planner/count';
import { element } from '../dom';

/** A control whose value can be set from outside without telling anybody. */
export interface IControl<T> {
  readonly node: HTMLElement;
  value: T;
}

let made = 0;

/** A choice among `options`, pairs of value and name. */
export function choice<T extends string>(
  label: string,
  options: readonly (readonly [T, string])[],
  chosen: (value: T) => void
): IControl<T> & { setDisabled(values: readonly T[]): void } {
  const nodes = options.map(([value, name]) => element('option', { value }, name));
  const select = element('select', {}, ...nodes);
  const found = (): T | undefined => options.find(([value]) => value === select.value)?.[0];
  select.addEventListener('change', () => {
    const value = found();
    if (value !== undefined) {
      chosen(value);
    }
  });
  return {
    node: field(label, select),
    get value(): T {
      const value = found();
      if (value === undefined) {
        throw new Error('A choice has a value.');
      }
      return value;
    },
    set value(value: T) {
      select.value = value;
    },
    setDisabled(values) {
      nodes.forEach(node => (node.disabled = values.some(value => value === node.value)));
    }
  };
}

/** A box to tick. */
export function check(label: string, chosen: (value: boolean) => void): IControl<boolean> {
  const box = element('input', { type: 'checkbox' });
  box.addEventListener('change', () => chosen(box.checked));
  return {
    node: element('label', { class: 'memtrack-Planner-check' }, box, ' ', label),
    get value() {
      return box.checked;
    },
    set value(value) {
      box.checked = value;
    }
  };
}

/** What a count can be. */
export interface ICountOptions {
  readonly label: string;
  readonly least: number;
  readonly most: number;
  /** Stops of a slider beside the box, ascending; none for a box alone. */
  readonly stops?: readonly number[];
  /** What 0 is called. */
  readonly zero?: string;
}

/** A count: a box to write it in, and a slider over usual values. */
export function count(options: ICountOptions, chosen: (value: number) => void): IControl<number> {
  const { label, least, most, stops = [], zero = '0' } = options;
  const said = (value: number): string => (value === 0 ? zero : writtenCount(value));
  const box = element('input', { type: 'text', spellcheck: 'false', autocomplete: 'off' });
  const slider = element('input', {
    type: 'range',
    min: '0',
    max: String(Math.max(0, stops.length - 1)),
    step: '1',
    'aria-label': label
  });
  let current = least;
  const show = (value: number): void => {
    current = value;
    slider.value = String(nearestStop(stops, value));
    slider.setAttribute('aria-valuetext', said(value));
    box.removeAttribute('aria-invalid');
  };
  slider.addEventListener('input', () => {
    const value = stops[Number(slider.value)];
    if (value !== undefined) {
      show(value);
      box.value = said(value);
      chosen(value);
    }
  });
  box.addEventListener('input', () => {
    const value = box.value.trim() === zero ? 0 : parseCount(box.value);
    if (value === undefined || value < least || value > most) {
      box.setAttribute('aria-invalid', 'true');
      return;
    }
    show(value);
    chosen(value);
  });
  // What cannot be read goes back to what holds.
  box.addEventListener('change', () => {
    box.value = said(current);
    box.removeAttribute('aria-invalid');
  });
  return {
    node: field(label, box, ...(stops.length > 0 ? [slider] : [])),
    get value() {
      return current;
    },
    set value(value) {
      show(value);
      box.value = said(value);
    }
  };
}

function field(label: string, control: HTMLElement, ...rest: readonly HTMLElement[]): HTMLElement {
  control.id = `memtrack-planner-${++made}`;
  return element(
    'div',
    { class: 'memtrack-Planner-field' },
    element('label', { for: control.id }, label),
    control,
    ...rest
  );
}
