"""Growth again, slowly: every allocation is asked at the end of every step."""

from statistics import median

from memtrack.recording import PhaseKind

MIB = 1 << 20


def ends_of_steps(twin):
    """Return the first and the last cut of each finished step."""
    windows, kinds = {}, {}
    for phase in twin.phases:
        start, _ = windows.get(phase["step"], (phase["start"], 0))
        windows[phase["step"]] = (start, phase["end"])
        if phase["kind"] != PhaseKind.OTHER:
            kinds.setdefault(phase["step"], set()).add(phase["kind"])
    if not kinds:
        return []
    last = max(windows)
    whole = twin.data.facts.state == "complete" and last in kinds
    if last and not kinds.get(last, set()) >= kinds.get(last - 1, set()):
        whole = False
    return [windows[step] for step in range(last + whole)]


def levels(twin, site_of):
    """Return, by (site, layer, category), the bytes a step and more old at the end of each step."""
    windows, found = ends_of_steps(twin), {}
    if len(windows) <= 3:
        return {}
    for number, row in enumerate(twin.allocations):
        made = [step for step, (start, end) in enumerate(windows) if start <= row["start"] < end]
        if row["device"] != twin.device or not made:
            continue
        key = (site_of(number), row["layer"], row["category"])
        level = found.setdefault(key, [0] * len(windows))
        for step in range(made[0] + 1, len(windows)):
            if windows[step][1] <= row["end"]:
                level[step] += row["bytes"]
    return found


def growing(twin, site_of):
    """Return {key: (steps, first step, bytes a step, bytes at the end)} of what grows."""
    found = {}
    for key, level in levels(twin, site_of).items():
        steps = [(step, level[step] - level[step - 1]) for step in range(1, len(level))]
        rises, record = [], -1
        for step, change in steps:
            if level[step] < level[step - 1] // 2:
                record = -1
            if change > 0 and level[step] > record:
                rises.append((step, change))
            record = max(record, level[step])
        late = [step for step, _ in rises if step > 2]
        falls = [step for step, change in steps if change < 0 and step > 2]
        half = max(1, (len(level) - 3) // 2)
        if len(rises) >= 3 and len(late) >= half and len(late) >= 3 * len(falls):
            by_step = int(median(change for _, change in rises))
            found[key] = (len(rises), rises[0][0] - 1, by_step, level[-1])
    return found


def creeping(twin, reserved):
    """Return (peak, reserved, grown, sizes, new sizes) of every finished step."""
    found, seen = [], set()
    for number, (start, end) in enumerate(ends_of_steps(twin)):
        peak, held = max(twin.levels[start : end + 1]), reserved[end]
        grown = 0
        if number >= 2:
            more_held = max(0, held - max(row[1] for row in found))
            more_needed = max(0, peak - max(row[0] for row in found))
            grown = max(0, more_held - more_needed)
        sizes = {
            row["bytes"]
            for row in twin.allocations
            if row["device"] == twin.device and start <= row["start"] < end and row["bytes"] > MIB
        }
        found.append((peak, held, grown, len(sizes), len(sizes - seen)))
        seen |= sizes
    return found
