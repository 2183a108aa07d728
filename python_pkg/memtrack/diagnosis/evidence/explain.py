"""One failure explained from a recording, or an opened snapshot, and what the live process told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from memtrack.diagnosis.advice import advise, checks_for
from memtrack.diagnosis.diagnosis import Cause, Diagnosis, Needed, Place, Process
from memtrack.diagnosis.evidence.dtypes import float32_load
from memtrack.diagnosis.evidence.elsewhere import pinned
from memtrack.diagnosis.evidence.facts import NOTHING, LiveFacts, ProcessFact
from memtrack.diagnosis.evidence.gaps import fragmented
from memtrack.diagnosis.evidence.holders import holders, parts
from memtrack.diagnosis.evidence.leaks import held, kept_graph, leak, without_no_grad
from memtrack.diagnosis.evidence.limits import limit, others, outside, private_pools, unaccounted
from memtrack.diagnosis.evidence.peaks import capacity
from memtrack.diagnosis.evidence.place import place_of
from memtrack.diagnosis.evidence.ranking import settle
from memtrack.diagnosis.evidence.savings import savings
from memtrack.diagnosis.evidence.settled import settled
from memtrack.diagnosis.evidence.situation import Situation, situation
from memtrack.diagnosis.evidence.sizes import absurd, quadratic
from memtrack.diagnosis.evidence.whatif import with_whatif
from memtrack.diagnosis.reading.failure import Failure
from memtrack.diagnosis.titles import title
from memtrack.i18n import Text, text
from memtrack.recording import Facts, RecordingBuilder, RecordingData
from memtrack.units import format_bytes
from memtrack.words import STEP_PHASES

Rule = Callable[[Situation], Cause | None]
RULES: Sequence[Rule] = (
    absurd,
    others,
    held,
    leak,
    kept_graph,
    fragmented,
    capacity,
    limit,
    private_pools,
    outside,
    unaccounted,
    quadratic,
    without_no_grad,
    float32_load,
    pinned,
)
"""Of equally sure findings the earlier rule's comes first."""
LEAST_TOLD = 0.3
"""Below it nothing counts as told, and the cause is unknown."""


def explain_recording(
    failure: Failure | Diagnosis | None,
    data: RecordingData,
    device: int,
    facts: LiveFacts = NOTHING,
) -> Diagnosis:
    """Return why the last request that failed on a device (a row of the devices) did.

    `failure` is what the error's text says, as it was read or as it was explained; `facts` outrank it. Without a failed
    request, by the recording, the text or the facts, there is no cause: the kind is `none`.
    """
    known = facts if failure is None else _at_its_moment(with_text(facts, failure), failure, data)
    told = failure is not None and failure.device_memory
    now = with_whatif(situation(data, device, known, told=told))
    kind = "cuda_oom" if failure is None else failure.kind
    if not now.failed:
        return Diagnosis("none", False, text("No request for memory failed in this recording"))
    causes = settle(cause for rule in RULES if (cause := rule(now)) is not None)
    if not causes or causes[0].confidence < LEAST_TOLD:
        causes = [Cause("unknown", LEAST_TOLD, title("unknown")), *causes]
    place = place_of(now)
    answered = settled(now)
    return Diagnosis(
        kind=kind,
        device_memory=True,
        headline=headline(now, place),
        numbers=_numbers(now),
        other_processes=[Process(one.pid, one.bytes) for one in now.facts.processes],
        causes=causes,
        checks=checks_for(causes, kind, without=answered),
        advice=advise(causes, savings(now), place.phase, kind=kind, without=answered),
        needed=_needed(now),
        place=place,
        holders=holders(now),
        parts=parts(now),
        message="" if failure is None else failure.message,
        settled=answered,
    )


def explain_facts(failure: Failure | Diagnosis, facts: LiveFacts) -> Diagnosis:
    """Return the same where nothing was recorded: what the process and the driver tell by themselves."""
    builder = RecordingBuilder()
    add = builder.strings.add
    device = builder["devices"].add(kind=add("cuda"), index=0, name=add(""))
    return explain_recording(failure, builder.build(Facts()), device, facts)


def _at_its_moment(facts: LiveFacts, told: Failure | Diagnosis, data: RecordingData) -> LiveFacts:
    """Place an error that was not the allocator's at the end: refusals before it were survived."""
    if facts.cut is not None or told.kind.endswith("_oom"):
        return facts
    return replace(facts, cut=data.cuts)


def with_text(facts: LiveFacts, told: Failure | Diagnosis) -> LiveFacts:
    """Return the facts with what they lack taken from the text's figures.

    The size in the text is that of the segment, so it is no substitute for the tensor's own.
    """
    numbers = told.numbers
    processes = told.processes if isinstance(told, Failure) else told.other_processes

    def known(value: int | None, name: str) -> int | None:
        return numbers.get(name) if value is None else value

    return replace(
        facts,
        total=known(facts.total, "total"),
        free=known(facts.free, "free"),
        limit=known(facts.limit, "allowed"),
        segment=known(facts.segment, "requested"),
        reserved=known(facts.reserved, "reserved"),
        allocated=known(facts.allocated, "allocated"),
        process=known(facts.process, "process"),
        processes=facts.processes or [ProcessFact(one.pid, one.bytes) for one in processes],
    )


def headline(now: Situation, place: Place) -> Text:
    """Return the first line: where, how much was asked for, what the largest free block was."""
    where, free = _where(place), _free(now)
    if not now.requested and not now.needed:
        return text("Out of memory {where}", where=where) if where else text("Out of memory")
    asked = format_bytes(now.requested or now.needed)
    if where is None and free is None:
        return text("Out of memory: {asked} asked for", asked=asked)
    if where is None:
        return text("Out of memory: {asked} asked for, {free}", asked=asked, free=free)
    if free is None:
        return text("Out of memory {where}: {asked} asked for", where=where, asked=asked)
    return text(
        "Out of memory {where}: {asked} asked for, {free}", where=where, asked=asked, free=free
    )


def _free(now: Situation) -> Text | None:
    if now.served is None:
        return None
    if not now.served.largest_free:
        return text("no free block")
    return text("largest free block {largest}", largest=format_bytes(now.served.largest_free))


def _where(place: Place) -> Text | None:
    phase = STEP_PHASES.get(place.phase)
    if phase is not None and place.layer:
        return text("in {phase} of {layer}", phase=phase, layer=place.layer)
    if phase is not None and place.site:
        return text("in {phase} at {site}", phase=phase, site=place.site)
    if phase is not None:
        return text("in {phase}", phase=phase)
    if place.layer:
        return text("in {layer}", layer=place.layer)
    return text("at {site}", site=place.site) if place.site else None


def _numbers(now: Situation) -> dict[str, int]:
    cached = now.cached
    known = {
        "requested": now.needed or None,
        "total": now.total,
        "free": now.device_free,
        "allocated": now.allocated if len(now.data.allocations) else now.facts.allocated,
        "reserved": now.reserved,
        "reserved_unallocated": cached,
        "process": now.facts.process,
        "allowed": now.limit,
        "private_pools": None if now.pools is None else now.pools.private or None,
    }
    return {name: size for name, size in known.items() if size is not None}


def _needed(now: Situation) -> Needed:
    return Needed(
        requested=now.requested,
        segment=now.segment,
        largest_free=None if now.served is None else now.served.largest_free,
        cached=now.cached,
        device_free=now.device_free,
        others=now.others,
    )
