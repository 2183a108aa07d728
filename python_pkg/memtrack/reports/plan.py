"""A plan that shows itself: numbers for programs, a table for people, a planner for browsers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memtrack.errors import UsageError
from memtrack.i18n import preferred_language, text
from memtrack.planners.capacity import Capacity
from memtrack.planners.generation import kv_parts, largest_batch, longest_sequence
from memtrack.planners.inputs import Inputs, KvInputs, LedgerInputs, LoadingInputs
from memtrack.planners.ledger import ledger_parts
from memtrack.planners.loading import LoadingWay, loading_ways
from memtrack.planners.parts import PlanPart, total_of, verdict
from memtrack.reports.planhtml import plan_html
from memtrack.reports.planpayload import PLAN_MIME_TYPE, encode_plan, plan_json
from memtrack.reports.plantext import render_plan
from memtrack.units import format_bytes


@dataclass(frozen=True)
class Plan:
    """What `memtrack.plan` and its siblings return. `gpu` is None where none was named.

    `language` is that it is shown in, "" for the process's own. All sizes are bytes.
    """

    inputs: Inputs
    gpu: Capacity | None = None
    language: str = ""

    @property
    def kind(self) -> str:
        """`ledger`, `kv` or `loading`."""
        kinds = {LedgerInputs: "ledger", KvInputs: "kv", LoadingInputs: "loading"}
        return kinds[type(self.inputs)]

    @property
    def parts(self) -> Sequence[PlanPart]:
        """The parts of one GPU; none for a plan of loading, which has `ways`."""
        if isinstance(self.inputs, LedgerInputs):
            return ledger_parts(self.inputs)
        return kv_parts(self.inputs) if isinstance(self.inputs, KvInputs) else ()

    @property
    def ways(self) -> Sequence[LoadingWay]:
        """The ways to load, the one with the least memory first; none for other plans."""
        return loading_ways(self.inputs) if isinstance(self.inputs, LoadingInputs) else ()

    @property
    def total(self) -> int:
        """The sum of the parts; of loading, the least that the GPU needs."""
        return min(way.device for way in self.ways) if self.ways else total_of(self.parts)

    @property
    def verdict(self) -> str | None:
        """`fits`, `close` or `over`; None without a GPU."""
        return None if self.gpu is None else verdict(self.total, self.gpu.usable)

    @property
    def fits(self) -> bool | None:
        """Whether it surely fits; None without a GPU."""
        return None if self.gpu is None else self.verdict == "fits"

    @property
    def longest_sequence(self) -> int:
        """The most tokens a sequence that fit the GPU, of a KV plan."""
        inputs, usable = self._generation()
        return longest_sequence(inputs, usable)

    @property
    def largest_batch(self) -> int:
        """The most sequences at a time that fit the GPU, of a KV plan."""
        inputs, usable = self._generation()
        return largest_batch(inputs, usable)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON."""
        return plan_json(self)

    def __getitem__(self, part: str) -> int:
        """Return the bytes of a part by its id, 0 where it is not there: `plan["gradient"]`."""
        return sum(one.bytes for one in self.parts if one.id == part)

    def __str__(self) -> str:
        return render_plan(self, self._spoken())

    def __repr__(self) -> str:
        return f"<memtrack.Plan: {self.kind}, {format_bytes(self.total)}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        spoken = self._spoken()
        return {
            "text/plain": render_plan(self, spoken),
            "text/html": plan_html(self, spoken),
            PLAN_MIME_TYPE: encode_plan(self),
        }

    def _spoken(self) -> str:
        return self.language or preferred_language()

    def _generation(self) -> tuple[KvInputs, int]:
        if not isinstance(self.inputs, KvInputs):
            raise UsageError(text("Only a plan of generation has sequences to fit: plan_kv."))
        if self.gpu is None:
            raise UsageError(text("What fits depends on the GPU: plan_kv(config, gpu='24GiB')."))
        return self.inputs, self.gpu.usable
