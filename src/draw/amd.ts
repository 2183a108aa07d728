// Imported before plotly.js, for its effect. In a page with RequireJS (nbclassic, Voila, an output
// that loaded it) two of plotly's own dependencies would hand themselves to that and not to plotly.
// So its `define` is out of sight while plotly's modules run, which they do in one go.
const define: unknown = Reflect.get(globalThis, 'define');

if (define !== undefined) {
  Reflect.set(globalThis, 'define', undefined);
  queueMicrotask(() => Reflect.set(globalThis, 'define', define));
}

export {};
