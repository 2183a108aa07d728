"""Recordings out, in formats of other tools."""

from memtrack.exports.torch_snapshot import snapshot_of, write_snapshot

__all__ = ["snapshot_of", "write_snapshot"]
