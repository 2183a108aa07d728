"""Bytes, times and counts as people read them. Bytes are integers; units are always binary."""

from __future__ import annotations

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
TIB = 1 << 40

_BINARY = ((TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB"))
_SHORT = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "k"))
_SECONDS = ((10**9, "s"), (10**6, "ms"), (10**3, "µs"))


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
    return sign + _with_unit(magnitude, _BINARY, KIB)


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
    if nanoseconds < 999.5:
        return f"{nanoseconds:.0f} ns"
    if nanoseconds < 59.95e9:
        return _with_unit(nanoseconds, _SECONDS, 1000)
    minutes, rest = divmod(round(nanoseconds / 1e9), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def format_count(count: int) -> str:
    """Return a count with short suffixes as the field writes them: `124 M`, `1.56 B`."""
    if abs(count) < 1000:
        return str(count)
    return ("-" if count < 0 else "") + _with_unit(abs(count), _SHORT, 1000)


def format_percent(part: int, whole: int) -> str:
    """Return `part` of `whole` as a whole percentage; `<1 %` for a part that rounds to nothing."""
    if whole <= 0:
        return "0 %"
    share = 100 * part / whole
    if 0 < share < 1:
        return "<1 %"
    return f"{share:.0f} %"


def _with_unit(magnitude: float, scales: tuple[tuple[int, str], ...], base: int) -> str:
    """Return three digits in the largest fitting unit; what rounds up to `base` is 1 of the next."""
    index = next((i for i, (scale, _) in enumerate(scales) if magnitude >= scale), len(scales) - 1)
    text = _three_digits(magnitude / scales[index][0])
    if text == str(base) and index > 0:
        index -= 1
        text = _three_digits(magnitude / scales[index][0])
    return f"{text} {scales[index][1]}"


def _three_digits(value: float) -> str:
    for limit, digits in ((9.995, 2), (99.95, 1)):
        if value < limit:
            return f"{value:.{digits}f}"
    return f"{value:.0f}"
