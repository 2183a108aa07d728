import plugins from '../../index';
import * as embed from '../../embed';
import manifest from '../../../package.json';

describe('the extension', () => {
  it('has plugins with unique ids and a description', () => {
    const ids = plugins.map(plugin => plugin.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every(id => id.startsWith('memtrack:'))).toBe(true);
    expect(plugins.every(plugin => plugin.description)).toBe(true);
  });

  it('tells widgets the version of the package', () => {
    expect(embed.PACKAGE_NAME).toBe(manifest.name);
    expect(embed.PACKAGE_VERSION).toBe(manifest.version);
  });
});
