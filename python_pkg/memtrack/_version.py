"""The version, written by scripts/sync_version.mjs from package.json."""

__version__ = "0.1.0"
