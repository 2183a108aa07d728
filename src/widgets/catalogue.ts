// Translation where there is no JupyterLab: the same catalogues, read without its packages, which
// would bring half of its services into the one file that VS Code loads.
import type { TranslationBundle } from '@jupyterlab/translation';

type Forms = Readonly<Record<string, unknown>>;

/** Returns a bundle over one catalogue; what it lacks stays English. */
export function catalogueBundle(catalogue: Forms): TranslationBundle {
  const pick = (key: string, english: string, values: readonly unknown[], form: number): string => {
    const forms = catalogue[key];
    const list: readonly unknown[] = Array.isArray(forms) ? forms : [];
    const text = list[Math.min(form, list.length - 1)];
    return filled(typeof text === 'string' && text !== '' ? text : english, values);
  };
  const plural = (one: string, many: string, n: number): [string, number] =>
    n === 1 ? [one, 0] : [many, 1];
  const single = (text: string, ...values: unknown[]): string => pick(text, text, values, 0);
  const counted = (one: string, many: string, n: number, ...values: unknown[]): string => {
    const [english, form] = plural(one, many, n);
    return pick(one, english, [n, ...values], form);
  };
  const inContext = (context: string, text: string, ...values: unknown[]): string =>
    pick(`${context}\u0004${text}`, text, values, 0);
  const countedInContext = (
    context: string,
    one: string,
    many: string,
    n: number,
    ...values: unknown[]
  ): string => {
    const [english, form] = plural(one, many, n);
    return pick(`${context}\u0004${one}`, english, [n, ...values], form);
  };
  return {
    __: single,
    gettext: single,
    _n: counted,
    ngettext: counted,
    _p: inContext,
    pgettext: inContext,
    _np: countedInContext,
    npgettext: countedInContext,
    dcnpgettext: (_domain, ...rest) => countedInContext(...rest)
  };
}

/** Puts `values` in the places of `%1`, `%2`, … */
function filled(text: string, values: readonly unknown[]): string {
  return text.replace(/%(\d+)/g, (place, number: string) =>
    String(values[Number(number) - 1] ?? place)
  );
}
