"""Recordings out, in formats of other tools."""

from memtrack.exports.torch_snapshot import snapshot_of, write_snapshot
from memtrack.exports.write import export, spare_source

__all__ = ["export", "snapshot_of", "spare_source", "write_snapshot"]
