"""Text measured in the columns of a terminal, where East Asian characters take two."""

from __future__ import annotations

import unicodedata

ELLIPSIS = "…"


def display_width(line: str) -> int:
    """Return how many columns a line takes.

    >>> display_width("peak"), display_width("峰值"), display_width("e\u0301")
    (4, 4, 1)
    """
    return sum(map(_width, line))


def plain(name: str) -> str:
    """Return a name on one line, with a mark for each character that a terminal would act on."""
    return "".join(character if character.isprintable() else "\ufffd" for character in name)


def left(cell: str, width: int) -> str:
    """Return a cell padded on the right to `width` columns."""
    return cell + " " * (width - display_width(cell))


def right(cell: str, width: int) -> str:
    """Return a cell padded on the left to `width` columns."""
    return " " * (width - display_width(cell)) + cell


def shortened(cell: str, width: int) -> str:
    """Return a cell cut to `width` columns, with an ellipsis where something is missing."""
    if display_width(cell) <= width:
        return cell
    kept = ""
    for character in cell:
        if display_width(kept) + _width(character) > width - 1:
            break
        kept += character
    return kept + ELLIPSIS if width > 0 else ""


def wrapped(sentence: str, width: int, indent: str = "") -> list[str]:
    """Return a sentence as lines of at most `width` columns, all but the first after `indent`.

    Lines break at spaces and next to wide characters; a word that is too long is cut.
    """
    lines, line = [], ""
    for piece in _pieces(sentence):
        piece = shortened(piece, width - display_width(indent))
        if line.strip() and display_width(line) + display_width(piece.rstrip()) > width:
            lines.append(line.rstrip())
            line, piece = indent, piece.lstrip()
        line += piece
    return [*lines, line.rstrip()]


def _pieces(sentence: str) -> list[str]:
    """Cut a sentence wherever a line may break, spaces at the end of each piece."""
    pieces = [""]
    for before, character in zip(" " + sentence, sentence, strict=False):
        if (before == " " and character != " ") or _breaks(before, character):
            pieces.append("")
        pieces[-1] += character
    return [piece for piece in pieces if piece]


def _breaks(before: str, character: str) -> bool:
    """Tell whether a line may break between two characters: next to a wide one, unless a mark clings.

    Marks stay with what they follow, opening brackets with what follows them.
    """
    wide = _width(before) == 2 or _width(character) == 2
    clings = unicodedata.category(before) == "Ps" or (
        unicodedata.category(character).startswith("P") and unicodedata.category(character) != "Ps"
    )
    return wide and not clings and character != " "


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
