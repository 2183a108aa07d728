// A path in two parts, so that where there is little room the middle gives way: both ends tell more.
import { element } from './dom';

/** Returns the first half of the names of a layer's path, with their dots, and what follows. */
export function splitLayerPath(path: string): readonly [string, string] {
  const names = path.split('.');
  const head = names.slice(0, Math.floor(names.length / 2));
  return [head.map(name => `${name}.`).join(''), names.slice(head.length).join('.')];
}

/** Returns the folder of a site as in `folder/train.py:10 step`, and its file, line and function. */
export function splitSite(site: string): readonly [string, string] {
  const [place = ''] = site.split(/:\d+/);
  const end = Math.max(place.lastIndexOf('/'), place.lastIndexOf('\\')) + 1;
  return [site.slice(0, end), site.slice(end)];
}

/** Returns an element in which the first of two parts is cut before the second is. */
export function cutInside(name: string, [head, tail]: readonly [string, string]): HTMLElement {
  return element(
    'span',
    { class: `${name} memtrack-Cut` },
    // An empty one would have no line of text to stand on.
    ...(head ? [element('span', { class: 'memtrack-Cut-head' }, head)] : []),
    element('span', { class: 'memtrack-Cut-tail' }, tail)
  );
}
