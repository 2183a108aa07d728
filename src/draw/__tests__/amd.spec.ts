describe('in a page with RequireJS', () => {
  afterEach(() => Reflect.deleteProperty(globalThis, 'define'));

  it('its `define` is hidden while plotly’s modules run, then back', async () => {
    const define = jest.fn();
    Reflect.set(globalThis, 'define', define);
    jest.isolateModules(() => {
      jest.requireActual('../amd');
      expect(Reflect.get(globalThis, 'define')).toBeUndefined();
    });
    await Promise.resolve();
    expect(Reflect.get(globalThis, 'define')).toBe(define);
  });
});
