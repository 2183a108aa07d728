"""How a name leads to an object, as the code that would reach it where there is such code.

Only chains that are shown are spelled out.
"""

from __future__ import annotations

import types
from itertools import pairwise
from typing import Any

from memtrack.capture.holders.labels import BY_TENSOR, ELSEWHERE, label, of_attributes
from memtrack.capture.holders.walk import Walk
from memtrack.diagnosis.holdings import FRAME

MOST_PIECES = 12


def path_of(walk: Walk, number: int) -> str:
    """Return the chain from its name to the object of this number, cut in its middle if it is long."""
    steps: list[int] = [number]
    while walk.parents[steps[-1]] >= 0:
        steps.append(walk.parents[steps[-1]])
    steps.reverse()
    root = walk.roots[-walk.parents[steps[0]] - 1]
    pieces: list[str] = []
    owner: Any = root.kind == FRAME or None
    for step, held in pairwise(steps):
        piece = _piece(walk, owner, walk.objects[step], walk.objects[held])
        # A dictionary that goes without saying is one of attributes.
        owner = None if piece else walk.objects[step]
        pieces += [piece] if piece else []
    if len(pieces) > MOST_PIECES:
        half = MOST_PIECES // 2
        pieces = [*pieces[:half], ELSEWHERE, *pieces[-half:]]
    return root.name + "".join(pieces)


def _piece(walk: Walk, owner: Any, holder: Any, held: Any) -> str:
    if type(owner) is types.FunctionType and type(holder) is tuple:
        names = zip(holder, owner.__code__.co_freevars, strict=False)
        return next((f".<closure {name}>" for cell, name in names if cell is held), "")
    if owner is not None and type(holder) is dict:
        piece = of_attributes(holder, held)
        return f": {piece[1:]}" if owner is True else piece
    piece = label(holder, held)
    if piece == BY_TENSOR:
        key = next(key for key, value in dict.items(holder) if value is held)
        number = walk.number_of(key)
        return piece if number < 0 else f"[{path_of(walk, number)}]"
    return piece
