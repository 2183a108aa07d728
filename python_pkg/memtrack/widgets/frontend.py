"""Whether what runs the cells can show a widget, from the message that asked for the cell.

nbclient, and so nbconvert and papermill, keep the state of every widget in the notebook file. A page
exported from it then shows the widget, whose code it looks for on the network, in place of the
report. So where such a program runs the cells there is to be no widget at all.
"""

from __future__ import annotations

import os
from typing import Any


def shows_widgets(shell: Any) -> bool:
    """Tell whether a browser asked for the cell that runs, rather than a program in Python.

    Those number their messages after their session; browsers give each an id of its own. Voila
    runs cells as nbclient does, and shows their widgets.
    """
    if os.environ.get("SERVER_SOFTWARE", "").startswith("voila/"):
        return True
    header = _asking(shell).get("header", {})
    session = header.get("session")
    return not session or not str(header.get("msg_id", "")).startswith(f"{session}_")


def _asking(shell: Any) -> dict[str, Any]:
    get_parent = getattr(shell, "get_parent", None)
    parent = get_parent() if get_parent is not None else None
    return parent if isinstance(parent, dict) else {}
