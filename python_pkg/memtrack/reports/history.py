"""Runs of a history that show themselves: rows for programs, a table for people, a view for browsers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtrack.errors import UnavailableError
from memtrack.i18n import preferred_language, text
from memtrack.reports.bounded import LIMIT_BYTES
from memtrack.reports.historyforms import history_html, render_history
from memtrack.reports.historypayload import MIME_TYPE, encode_history, encode_run, notebook_history
from memtrack.runs import History, Run

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RunList:
    """Runs, the newest first: those with every word of `search`, from `offset` on, of `total`.

    `folder` is where the history is, `writable` whether it can be changed; with `deleted` they are
    the ones that were deleted. A sequence: `len(runs)`, `runs[0].peak`, `for run in runs`.
    """

    runs: Sequence[Run]
    folder: str = ""
    writable: bool = True
    search: str = ""
    deleted: bool = False
    offset: int = 0
    total: int = 0
    language: str = ""
    payload_limit: int = LIMIT_BYTES

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __getitem__(self, index: int) -> Run:
        return self.runs[index]

    def to_json(self) -> dict[str, Any]:
        """Return all runs as plain JSON, without their curves."""
        payload = encode_history(self, len(self.runs))
        del payload["model_id"]
        for run in payload["runs"]:
            del run["spark"]
        return payload

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each run; bytes and nanoseconds, `created` as a time in UTC.

        Raises UnavailableError where pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise UnavailableError(
                text("to_pandas needs pandas, which is not installed in this environment.")
            ) from None
        table: pd.DataFrame = pd.DataFrame(
            [{**encode_run(run), "note": run.note} for run in self.runs]
        )
        if len(table):
            table = table.drop(columns=["spark"]).set_index("id")
            table["created"] = pd.to_datetime(table["created"], unit="s", utc=True)
        return table

    def __str__(self) -> str:
        return render_history(self, self._spoken())

    def __repr__(self) -> str:
        return f"<memtrack.RunList: {len(self.runs)} of {self.total} runs in {self.folder}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        spoken = self._spoken()
        return {
            "text/plain": render_history(self, spoken),
            "text/html": history_html(self, spoken),
            MIME_TYPE: notebook_history(self, self.payload_limit),
        }

    def _spoken(self) -> str:
        return self.language or preferred_language()


def list_runs(
    history: History,
    *,
    search: str = "",
    deleted: bool = False,
    offset: int = 0,
    most: int | None = None,
) -> RunList:
    """Return the runs of a history that match, at most `most` from `offset` on."""
    found = history.runs(search=search, deleted=deleted)
    end = None if most is None else offset + most
    return RunList(
        runs=found[offset:end],
        folder=str(history.folder),
        writable=history.writable,
        search=search,
        deleted=deleted,
        offset=offset,
        total=len(found),
    )
