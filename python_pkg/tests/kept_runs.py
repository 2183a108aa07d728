"""Small recordings for histories: one layer, whose weights are the peak."""

from synthetic import Script

from memtrack.recording import Category, Facts, PhaseKind

KIB = 1 << 10


def recording(identifier="a" * 32, size=4 * KIB, label="net", **extra):
    """Return a recording of one layer whose peak is `size`."""
    script = Script()
    script.device()
    layer = script.layer("model", parameters=size // 4, parameter_bytes=size)
    script.phase(PhaseKind.FORWARD)
    block = script.alloc(size, category=Category.PARAMETER, layer=layer)
    script.free(block)
    data = script.build()
    facts = Facts(label=label, identifier=identifier, versions={"torch": "2.13"}, extra=extra)
    return type(data)(facts, data.strings, data.tables)


def many(history, count, **options):
    return [history.add(recording(f"{n:032x}", (n + 1) * KIB), **options) for n in range(count)]
