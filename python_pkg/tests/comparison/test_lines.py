"""Two snapshots that know no layers are compared by the lines that allocated."""

from synthetic import Script

from memtrack.comparison import compare, view_of
from memtrack.recording import Category

KIB = 1 << 10


def snapshot(*lines):
    """Return a recording without layers: (file, function, line, bytes) each alive at the peak."""
    script = Script()
    script.device()
    for file, function, line, size in lines:
        stack = script.stack(("main.py", "<module>", 1), (file, function, line))
        script.older(size, Category.UNKNOWN, stack=stack if file else -1)
    return script.build(evidence="opened", source="allocator")


def changes(found):
    before, after = found.columns["total_at_peak"]
    pairs = zip(found.former_path, found.path, before.tolist(), after.tolist(), strict=True)
    return {(old, new): (one, other) for old, new, one, other in pairs}


def test_lines_are_matched_by_name():
    a = snapshot(("a.py", "load", 3, 4 * KIB), ("a.py", "step", 9, KIB), ("a.py", "step", 9, KIB))
    b = snapshot(("a.py", "load", 3, 4 * KIB), ("a.py", "step", 9, 8 * KIB))
    found = compare(a, b)
    assert found.peak_change == 2 * KIB + 4 * KIB == sum(one.change for one in found.parts)
    assert changes(found) == {
        ("a.py:3 load", "a.py:3 load"): (4 * KIB, 4 * KIB),
        ("a.py:9 step", "a.py:9 step"): (2 * KIB, 8 * KIB),
    }


def test_a_line_that_moved_is_found_by_its_size():
    a = snapshot(("a.py", "f", 3, KIB), ("a.py", "f", 4, 2 * KIB), ("b.py", "g", 1, KIB))
    b = snapshot(("a.py", "f", 13, KIB), ("a.py", "f", 14, 2 * KIB), ("c.py", "h", 1, KIB))
    found = compare(a, b)
    assert found.peak_change == 0
    assert set(changes(found)) == {
        ("a.py:3 f", "a.py:13 f"),
        ("a.py:4 f", "a.py:14 f"),
        ("b.py:1 g", "b.py:1 g"),
        ("", "c.py:1 h"),
    }
    assert [found.matches.how[row] for row in found.matches.changed_names()] == ["renamed"] * 2


def test_what_has_no_line_still_counts():
    a, b = snapshot(("a.py", "f", 3, KIB), ("", "", 0, 5)), snapshot(("", "", 0, 7))
    found = compare(a, b)
    assert found.peak_change == 7 - KIB - 5 == sum(one.change for one in found.parts)
    assert view_of(a).by_lines and view_of(a).peak_layer == ""
