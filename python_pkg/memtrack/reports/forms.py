"""The forms of one report side by side, for a front end to choose from."""

from __future__ import annotations

from typing import Any

from memtrack.i18n import ENGLISH, text
from memtrack.reports.bounded import LIMIT_BYTES, notebook_payload
from memtrack.reports.html import render_html
from memtrack.reports.payload import MIME_TYPE
from memtrack.reports.report import Report
from memtrack.reports.text import render_text


def bundle(
    report: Report,
    language: str = ENGLISH,
    limit_bytes: int = LIMIT_BYTES,
    *,
    is_latest: bool = True,
) -> dict[str, Any]:
    """Return the MIME bundle of a report: plain text, static HTML and our own type.

    `limit_bytes` bounds the last, which a notebook file keeps. `is_latest` tells that `%memtrack`
    shows this report again, which the text then says.
    """
    plain = render_text(report, language)
    if is_latest:
        more = text("%memtrack shows this again, %memtrack help what else there is")
        plain = f"{plain}\n\n{more.render(language)}"
    return {
        "text/plain": plain,
        "text/html": render_html(report, language),
        MIME_TYPE: notebook_payload(report, limit_bytes),
    }
