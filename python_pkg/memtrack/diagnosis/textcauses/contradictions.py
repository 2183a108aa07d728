"""What in the figures of a message cannot be, or is not what it seems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memtrack.diagnosis.reading import Failure
from memtrack.diagnosis.textcauses.figures import Figures
from memtrack.i18n import Text, text
from memtrack.units import format_bytes

_PRINTED = 200
"""Figures are printed with two decimals: what differs by less than 1 in 200 may be the same."""

FREE_AND_REFUSED = text(
    "The driver calls {free} free, which is at least the request ({requested}), and yet it"
    " was refused."
)


def contradictions(failure: Failure) -> list[Text]:
    """Return what does not fit together in a failure's figures."""
    return list(_contradictions(failure, Figures(failure)))


def _contradictions(failure: Failure, said: Figures) -> Iterator[Text]:
    yield from _impossible(failure, said)
    yield from _surprising(said)
    yield from _not_figures(failure)


def _impossible(failure: Failure, said: Figures) -> Iterator[Text]:
    reserved = failure.numbers.get("reserved")
    if reserved is not None and said.allocated is not None and _above(said.allocated, reserved):
        yield text(
            "Allocated ({allocated}) is more than reserved ({reserved}): reserved holds what is"
            " allocated, so one of the two figures is wrong or of another moment.",
            allocated=format_bytes(said.allocated),
            reserved=format_bytes(reserved),
        )
    if said.total is not None and said.allocated is not None and _above(said.allocated, said.total):
        yield text(
            "Allocated ({allocated}) is more than the device has ({total}): Windows and WSL lend"
            " it the computer's memory, which is slow.",
            allocated=format_bytes(said.allocated),
            total=format_bytes(said.total),
        )
    if (
        said.process is not None
        and said.reserved is not None
        and _above(said.reserved, said.process)
    ):
        yield text(
            "PyTorch has reserved {reserved}, more than this process is said to use ({process}).",
            reserved=format_bytes(said.reserved),
            process=format_bytes(said.process),
        )


def _surprising(said: Figures) -> Iterator[Text]:
    requested = said.requested
    if requested is None:
        return
    if said.total is not None and requested > said.total and said.failure.kind != "tpu_oom":
        yield text(
            "The request ({requested}) is larger than the whole device ({total}): nothing that is"
            " freed can help.",
            requested=format_bytes(requested),
            total=format_bytes(said.total),
        )
    if said.free is not None and said.is_refused_though_free and not said.is_limited:
        yield replace(
            FREE_AND_REFUSED,
            values={"free": format_bytes(said.free), "requested": format_bytes(requested)},
        )
    if said.idle is not None and said.idle >= requested:
        yield text(
            "PyTorch holds {idle} that is in no tensor, at least the request ({requested}): it is in"
            " pieces, in another pool or of another stream.",
            idle=format_bytes(said.idle),
            requested=format_bytes(requested),
        )
    if said.allowed is not None and said.process is not None and said.process > said.allowed:
        yield text(
            "This process uses {process}, more than its limit ({allowed}): the limit counts only"
            " PyTorch's allocator, not the CUDA context.",
            process=format_bytes(said.process),
            allowed=format_bytes(said.allowed),
        )


def _not_figures(failure: Failure) -> Iterator[Text]:
    if "process" in failure.sentinels:
        yield text(
            "17179869184.00 GiB is 2^64 bytes and no amount of memory: the driver could not tell"
            " what a process uses (Windows, WSL)."
        )
    if "allowed" in failure.sentinels:
        yield text("A limit of 2^64 bytes means that no limit is set.")
    if "requested" in failure.sentinels:
        yield text("A request of about 2^64 bytes is a negative size: a count has overflowed.")


def _above(larger: int, smaller: int) -> bool:
    return larger - smaller > max(larger, smaller) // _PRINTED
