// The package's name and version, written by scripts/sync_version.mjs from package.json.
export const PACKAGE_NAME = 'memtrack';
export const PACKAGE_VERSION = '0.1.0';
