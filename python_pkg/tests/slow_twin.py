"""The analyses again, slowly: one row, one cut and one event at a time, in plain Python."""

from statistics import median

from memtrack.recording import CallKind, Category, EventKind


class SlowTwin:
    """Answers about one device of a recording by looking at everything each time."""

    def __init__(self, data, device):
        self.data = data
        self.device = device
        self.events = rows_of(data.events)
        self.allocations = rows_of(data.allocations)
        self.layers = rows_of(data.layers)
        self.calls = rows_of(data.calls)
        self.phases = rows_of(data.phases)
        self.segments = rows_of(data.segments)
        self.levels = [self.bytes_at(cut) for cut in range(data.cuts + 1)]

    def alive(self, cut, category=None):
        return [
            row
            for row in self.allocations
            if row["device"] == self.device
            and row["start"] < cut <= row["end"]
            and category in (None, row["category"])
        ]

    def bytes_at(self, cut, category=None):
        return sum(row["bytes"] for row in self.alive(cut, category))

    def allocated_by_events(self):
        level = sum(
            row["bytes"]
            for row in self.allocations
            if row["device"] == self.device and row["start"] == -1
        )
        levels = [level]
        for event in self.events:
            sign = {EventKind.ALLOC: 1, EventKind.FREE: -1}.get(event["kind"], 0)
            level += sign * event["bytes"] * (event["device"] == self.device)
            levels.append(level)
        return levels

    def earliest_most(self, levels):
        return max(range(len(levels)), key=lambda cut: (levels[cut], -cut))

    def phase_at(self, cut):
        event = max(cut - 1, 0)
        found = [row for row in self.phases if row["start"] <= event]
        return found[-1]

    def running(self, cut):
        """The row of the innermost layer that ran at a cut, -1 for none."""
        best = None
        for kind in ("", "backward_"):
            for number, call in enumerate(self.calls):
                start, end = call[f"{kind}start"], call[f"{kind}end"]
                if start <= cut - 1 < end:
                    key = (start - end, kind != "", number)
                    best = max(best or key, key)
        return self.calls[best[2]]["layer"] if best else -1

    def layer_behind(self, cut):
        layer = self.running(cut)
        if layer >= 0 or cut == 0:
            return layer
        allocation = self.events[cut - 1]["allocation"]
        return self.allocations[allocation]["layer"] if allocation >= 0 else -1

    def own(self, rows):
        sums = [0] * (len(self.layers) + 1)
        for row in rows:
            sums[row["layer"]] += row["bytes"]
        return sums

    def held(self, category):
        levels = [self.bytes_at(cut, category) for cut in range(self.data.cuts + 1)]
        return self.own(self.alive(self.earliest_most(levels), category))

    def saved(self):
        first = {}
        for row in rows_of(self.data.saved):
            first.setdefault(row["allocation"], row)
        lasting = (Category.PARAMETER, Category.BUFFER)
        lives = []
        for number, row in first.items():
            allocation = self.allocations[number]
            if allocation["device"] == self.device and allocation["category"] not in lasting:
                layer = self.calls[row["call"]]["layer"] if row["call"] >= 0 else -1
                lives.append((row["cut"], allocation["end"], allocation["bytes"], layer))
        levels = [
            sum(size for start, end, size, _ in lives if start <= cut <= end)
            for cut in range(self.data.cuts + 1)
        ]
        cut = self.earliest_most(levels)
        held = [{"bytes": b, "layer": layer} for s, e, b, layer in lives if s <= cut <= e]
        return max(levels), self.own(held)

    def peak_of_layer(self, layer):
        most = -1
        for call in self.calls:
            if call["layer"] == layer:
                most = max(most, *self.levels[call["start"] : call["end"] + 1])
                if call["backward_start"] >= 0:
                    window = self.levels[call["backward_start"] : call["backward_end"] + 1]
                    most = max(most, *window)
        if most < 0:  # a list of layers: never called itself
            inside = [r for r, p in enumerate(self.data.layers["parent"]) if p == layer]
            most = max((self.peak_of_layer(row) for row in inside), default=-1)
        return most

    def step_of(self, call):
        return self.phases[call["phase"]]["step"] if call["phase"] >= 0 else 0

    def forward_calls(self, layer):
        kind = CallKind.FORWARD
        return [call for call in self.calls if call["layer"] == layer and call["kind"] == kind]

    def change(self, layer, step):
        calls = [call for call in self.forward_calls(layer) if self.step_of(call) == step]
        changes = [self.levels[call["end"]] - self.levels[call["start"]] for call in calls]
        return max(changes, default=0)

    def live_after(self, layer, step):
        calls = [call for call in self.forward_calls(layer) if self.step_of(call) == step]
        return self.levels[max(call["end"] for call in calls)] if calls else -1

    def forward_ns(self, layer):
        steps = {}
        for call in self.forward_calls(layer):
            step = self.step_of(call)
            steps[step] = steps.get(step, 0) + call["end_ns"] - call["start_ns"]
        return int(median(steps.values())) if steps else -1


def rows_of(table):
    return [table.row(number) for number in range(len(table))]
