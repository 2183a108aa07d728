"""A report as one HTML file: interactive, without a kernel, and without any request to anywhere.

In it lie the front end that VS Code and Voila load, the payload of a notebook and, for a reader
without JavaScript, the static report. A policy in the page forbids it to load anything.
"""

from __future__ import annotations

import json
import re
import sysconfig
from contextlib import suppress
from html import escape
from importlib import metadata
from pathlib import Path

from memtrack.errors import UnavailableError
from memtrack.i18n import preferred_language, text
from memtrack.recording import RecordingData
from memtrack.reports import build_report, notebook_payload, render_html
from memtrack.words import in_utf8

MOST_BYTES = 3_000_000
MOST_PAYLOAD = 900_000
_INSTALLED = "share/jupyter/nbextensions/memtrack/index.js"

_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:">
<meta name="generator" content="memtrack">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --jp-ui-font-size1: 13px; --jp-layout-color1: #fff; --jp-ui-font-color1: #212121; --jp-border-color2: #e0e0e0; --jp-brand-color1: #1976d2; }}
@media (prefers-color-scheme: dark) {{ :root {{ --jp-layout-color1: #111; --jp-ui-font-color1: #e4e4e4; --jp-border-color2: #424242; --jp-brand-color1: #64b5f6; }} }}
body {{ margin: 1.5em auto; max-width: 1200px; padding: 0 1em; background: var(--jp-layout-color1); color: var(--jp-ui-font-color1); font: 13px system-ui, sans-serif; }}
</style>
</head>
<body>
<main id="report">{static}</main>
<script type="application/json" id="payload">{payload}</script>
<script>
(() => {{
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => document.body.setAttribute('data-jp-theme-light', String(!dark.matches));
  dark.addEventListener('change', follow);
  follow();
  // The front end asks for the widgets of Jupyter, which nothing here is one of.
  const none = new Proxy({{}}, {{ get: () => class {{}} }});
  globalThis.define = (needs, make) => {{
    delete globalThis.define;
    const front = make(...needs.map(() => none));
    front.showReport(document.getElementById('report'), JSON.parse(document.getElementById('payload').textContent));
  }};
  globalThis.define.amd = true;
}})();
</script>
<script>{front}</script>
</body>
</html>
"""


def page_of(data: RecordingData, language: str = "") -> str:
    """Return the page. What is not interactive is in `language`, else in that of this process.

    Raises UnavailableError where memtrack's front end was not built.
    """
    spoken = language or preferred_language()
    report = build_report(data)
    front = _for_a_script(_front_end())
    static = render_html(report, spoken)
    room = MOST_BYTES - len(_PAGE) - len(front.encode()) - len(in_utf8(static).encode())
    payload = json.dumps(notebook_payload(report, min(room, MOST_PAYLOAD)), ensure_ascii=True)
    return _PAGE.format(
        language=escape(spoken.replace("_", "-")),
        title=escape(f"memtrack: {report.label}"),
        static=static,
        payload=payload.replace("<", "\\u003c"),
        front=front,
    )


def _for_a_script(source: str) -> str:
    """Return JavaScript that no browser takes for the end of its element, nor for a comment."""
    return re.sub(r"<(?=/script|!--)", r"\\x3c", source, flags=re.IGNORECASE)


def _front_end() -> str:
    for path in _places():
        with suppress(OSError):
            return path.read_text(encoding="utf-8")
    raise UnavailableError(
        text("The interactive report needs memtrack's front end, which is not built here."),
        text("Install memtrack from its wheel, or run `make build` in its sources."),
    )


def _places() -> list[Path]:
    """Return where the front end may lie: in the sources, where pip has put it, in this environment."""
    found = [Path(__file__).parent.parent / "nbextension" / "index.js"]
    with suppress(metadata.PackageNotFoundError):
        listed = metadata.distribution("memtrack").files or ()
        found += [Path(str(one.locate())) for one in listed if str(one).endswith(_INSTALLED)]
    return [*found, Path(sysconfig.get_path("data")) / _INSTALLED]
