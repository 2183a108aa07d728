"""What the reader sees: one report as data, and its forms as text, HTML and payload."""

from memtrack.reports.bounded import notebook_payload
from memtrack.reports.build import build_report, window_report
from memtrack.reports.forms import bundle
from memtrack.reports.html import render_html
from memtrack.reports.report import Report, View
from memtrack.reports.text import render_text

__all__ = [
    "Report",
    "View",
    "build_report",
    "bundle",
    "notebook_payload",
    "render_html",
    "render_text",
    "window_report",
]
