"""The ledger again, slowly and from its definition: what was read, carried to a cut, part by part."""

import numpy as np
from slow_twin import rows_of

from memtrack.analysis.reserved import reserved
from memtrack.recording import Category, PhaseKind


class SlowLedger:
    """The parts of one device of a recording, one row and one cut at a time."""

    def __init__(self, data, device):
        self.data, self.device = data, device
        self.allocations = [row for row in rows_of(data.allocations) if row["device"] == device]
        self.phases = rows_of(data.phases)
        self.facts = data.devices.row(device)
        self.is_cpu = data.string(self.facts["kind"]) == "cpu"
        self.samples = [row for row in rows_of(data.samples) if row["device"] == device]
        self.levels = [self.bytes_of(self.alive(cut)) for cut in range(data.cuts + 1)]

    def alive(self, cut):
        return [row for row in self.allocations if row["start"] < cut <= row["end"]]

    def bytes_of(self, rows):
        return sum(row["bytes"] for row in rows)

    def rounding(self, cut):
        return sum(
            row["bytes"] - row["requested"] for row in self.alive(cut) if row["requested"] >= 0
        )

    def temporaries(self, cut):
        """Bytes of temporaries by the phase they were made in."""
        sums = {}
        for row in self.alive(cut):
            if row["category"] == Category.TEMPORARY and row["bytes"]:
                phase = row["phase"]
                kind = self.phases[phase]["kind"] if phase >= 0 else PhaseKind.OTHER
                name = f"temporary.{PhaseKind(kind).id}"
                sums[name] = sums.get(name, 0) + row["bytes"]
        return sums

    def told(self, cut):
        """What the allocator held, None without one; its analysis has a twin of its own."""
        found = reserved(self.data, self.device, np.array([cut]), np.array(self.levels))
        return None if found is None else int(found[0])

    def held(self, cut):
        return max(self.told(cut) or 0, self.levels[cut])

    def last(self, column, cut):
        """The last sample at or before a cut that knows a column, else the first that does."""
        knowing = [row for row in self.samples if row[column] >= 0]
        knowing.sort(key=lambda row: row["cut"])
        before = [row for row in knowing if row["cut"] <= cut]
        return (before or knowing[:1] or [None])[-1]

    def parts(self, cut):
        """Bytes by part id, parts of 0 left out."""
        found = {}
        for row in self.alive(cut):
            name = Category(row["category"]).id
            found[name] = found.get(name, 0) + row["bytes"]
        found["cache"] = self.held(cut) - self.levels[cut]
        if self.facts["total"] >= 0:
            found |= self.beside_allocator(cut)
        return {name: size for name, size in found.items() if size}

    def beside_allocator(self, cut):
        beside, others = self.as_told(cut)
        room = self.facts["total"] - self.held(cut)
        ours = max(0, min(beside or 0, room))
        theirs = max(0, min(others, room - ours))
        context = self.context_in(ours)
        unknown = beside is None and not self.is_cpu
        return {
            "context": context,
            "process": ours - context,
            "outside" if unknown else "others": theirs,
            "free": max(0, room - ours - theirs),
        }

    def as_told(self, cut):
        """What this process (None: unknown) and others hold beside the allocator."""
        process, used = self.last("process", cut), self.last("used", cut)
        beside = None if self.facts["context"] < 0 else self.facts["context"]
        if process is not None:
            beside = max(0, process["process"] - self.held(process["cut"]))
        if used is None:
            return beside, 0
        more = used["used"] - self.held(used["cut"])
        if used["process"] >= 0:
            return beside, max(0, min(more, used["used"] - used["process"]))
        if beside is None:
            return None, max(0, more)
        here = process is not None and process["cut"] == cut != used["cut"]
        if process is None or not (here or used["cut"] < process["cut"] <= cut):
            return min(beside, max(0, more)), max(0, more - beside)
        return beside, max(0, more - beside)

    def context_in(self, ours):
        if self.facts["context"] >= 0:
            return min(self.facts["context"], ours)
        return 0 if self.told(0) is None else ours
