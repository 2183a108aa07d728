"""Bytes, times and counts as people read them. Bytes are integers; units are always binary."""

from __future__ import annotations

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
TIB = 1 << 40

_SCALES = ((TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB"))


def format_bytes(size_bytes: int) -> str:
    """Return `size_bytes` with three significant digits and a binary unit.

    >>> format_bytes(0), format_bytes(512), format_bytes(1536), format_bytes(-(3 << 30))
    ('0 B', '512 B', '1.50 KiB', '-3.00 GiB')
    >>> format_bytes(1023 * 1024 + 1023)
    '1.00 MiB'
    """
    sign = "-" if size_bytes < 0 else ""
    magnitude = abs(size_bytes)
    if magnitude < KIB:
        return f"{sign}{magnitude} B"
    for index, (scale, unit) in enumerate(_SCALES):
        if magnitude >= scale:
            break
    text = _three_digits(magnitude / scale)
    if text == "1024" and index > 0:
        scale, unit = _SCALES[index - 1]
        text = _three_digits(magnitude / scale)
    return f"{sign}{text} {unit}"


def format_change(size_bytes: int) -> str:
    """Return a difference in bytes, always signed: `+1.50 KiB`, `-3.00 GiB`, `±0 B`."""
    if size_bytes == 0:
        return "±0 B"
    return ("+" if size_bytes > 0 else "") + format_bytes(size_bytes)


def format_duration(nanoseconds: float) -> str:
    """Return a time span with three significant digits.

    >>> format_duration(950), format_duration(41_200_000), format_duration(75 * 10**9)
    ('950 ns', '41.2 ms', '1 min 15 s')
    """
    if nanoseconds < 1e3:
        return f"{nanoseconds:.0f} ns"
    if nanoseconds < 1e6:
        return f"{_three_digits(nanoseconds / 1e3)} µs"
    if nanoseconds < 1e9:
        return f"{_three_digits(nanoseconds / 1e6)} ms"
    seconds = nanoseconds / 1e9
    if seconds < 60:
        return f"{_three_digits(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def format_count(count: int) -> str:
    """Return a count with short suffixes as the field writes them: `124 M`, `1.56 B`."""
    for scale, unit in ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "k")):
        if abs(count) >= scale:
            return f"{_three_digits(count / scale)} {unit}"
    return str(count)


def format_percent(part: int, whole: int) -> str:
    """Return `part` of `whole` as a whole percentage; `<1 %` for a part that rounds to nothing."""
    if whole <= 0:
        return "0 %"
    share = 100 * part / whole
    if 0 < share < 1:
        return "<1 %"
    return f"{share:.0f} %"


def _three_digits(value: float) -> str:
    for limit, digits in ((9.995, 2), (99.95, 1)):
        if value < limit:
            return f"{value:.{digits}f}"
    return f"{value:.0f}"
