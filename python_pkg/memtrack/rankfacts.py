"""Which of several processes of one run this one is, as torchrun and mpirun tell it. No import but Python's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

_RANKS = ("RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
_SIZES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
_LOCAL = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID")
MOST_RANKS = 1 << 20


@dataclass(frozen=True, slots=True)
class RankFacts:
    """One process of `world_size`; `local_rank` and `pid` are -1, `host` is "" where unknown."""

    rank: int
    world_size: int
    local_rank: int = -1
    host: str = ""
    pid: int = -1

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return asdict(self)


def rank_of_environment(environment: Mapping[str, str]) -> RankFacts | None:
    """Return this process's place among those that torchrun or mpirun have started, None if none have."""
    import socket

    rank = _number(environment, _RANKS)
    if rank < 0:
        return None
    return RankFacts(
        rank=rank,
        world_size=max(_number(environment, _SIZES), rank + 1),
        local_rank=_number(environment, _LOCAL),
        host=socket.gethostname(),
        pid=os.getpid(),
    )


def rank_from_json(found: Any) -> RankFacts | None:
    """Return what `to_json` has told, None for anything else."""
    if not isinstance(found, Mapping):
        return None
    numbers = {name: found.get(name, -1) for name in ("rank", "world_size", "local_rank", "pid")}
    host = found.get("host", "")
    whole = all(isinstance(one, int) and not isinstance(one, bool) for one in numbers.values())
    if not whole or not isinstance(host, str):
        return None
    if not 0 <= numbers["rank"] < numbers["world_size"] <= MOST_RANKS:
        return None
    return RankFacts(host=host, **numbers)


def _number(environment: Mapping[str, str], names: tuple[str, ...]) -> int:
    found = (environment.get(name, "") for name in names)
    return next((int(word) for word in found if word.isascii() and word.isdigit()), -1)
