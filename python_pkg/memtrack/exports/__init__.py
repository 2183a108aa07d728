"""Recordings out, in formats of other tools."""

from memtrack.exports.torch_snapshot import snapshot_of, write_snapshot
from memtrack.exports.write import export

__all__ = ["export", "snapshot_of", "write_snapshot"]
