"""One piece of advice as the catalogue holds it: what it serves, what it costs, its traps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtrack.diagnosis.diagnosis import Advice
from memtrack.i18n import Text


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that helps, and the causes (ids) it helps against.

    `saves` names the figure (see `Savings`) that tells what it would save in a recording, "" where
    no honest figure exists. `phases` are those it helps in, none where it does in all. `wordings`
    are the errors that it is for: without a lack of memory by name (`not_oom.<name>`), others in full
    (`vllm.sglang`) among those of their kind; none where it is for all.
    `kinds` are the kinds of failure that it is for alone (`third_party`), none where it is for all.
    """

    id: str
    title: Text
    cost: Text
    causes: frozenset[str]
    code: str = ""
    caveats: Sequence[Text] = ()
    saves: str = ""
    phases: frozenset[str] = frozenset()
    wordings: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()

    def advice(self, saving_bytes: int | None = None) -> Advice:
        """Return it as a diagnosis shows it."""
        return Advice(self.id, self.title, self.cost, self.code, self.caveats, saving_bytes)
