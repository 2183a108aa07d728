"""Notebooks run in a real kernel, as nbconvert and papermill do: what is in the saved file."""

import json
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook
from notebook_sources import TRAINING

from memtrack.reports.payload import MIME_TYPE

pytest.importorskip("torch")


def executed(*cells, allow_errors=False):
    """Run cells after one that makes `model`, `optimizer`, `train`; return those cells, run."""
    sources = [f"{TRAINING}\n%load_ext memtrack", *cells]
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=allow_errors)
    try:
        client.execute()
    finally:
        nbformat.validate(notebook)
    assert notebook.cells[0].outputs == [], "loading prints nothing"
    return notebook.cells[1:]


def test_saved_notebook_has_the_final_report_in_the_first_cell():
    first, training, last = executed("%memtrack model", "train(2)", "train(1)\n%memtrack off")
    (output,) = first.outputs
    assert training.outputs == last.outputs == []
    assert set(output.data) == {"text/plain", "text/html", MIME_TYPE}
    assert output.data["text/plain"].startswith("Peak ")
    assert "Peak " in output.data["text/html"]
    packed = output.data[MIME_TYPE]
    assert packed["report"]["state"] == "complete"
    assert packed["report"]["steps"] == 3
    assert packed["model_id"] == ""
    assert len(json.dumps(packed)) <= 250_000
    sites = packed["report"]["views"][0]["timeline"]["sites"]
    assert any(site.startswith("In [1]:") for site in sites)


@pytest.mark.parametrize("kept_state", [True, False])
def test_exported_page_shows_the_report_without_a_widget(kept_state):
    nbconvert = pytest.importorskip("nbconvert")
    cells = [
        f"{TRAINING}\n%load_ext memtrack",
        "%memtrack model --steps 1",
        "train(1)",
        "%memtrack",
    ]
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    NotebookClient(notebook, kernel_name="python3", store_widget_state=kept_state).execute()
    assert "widgets" not in notebook.metadata
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    shown = [output.data["text/html"] for cell in notebook.cells for output in cell.outputs]
    assert len(shown) == 2 and all("<table" in html and "Peak " in html for html in shown)
    assert page.count("Peak ") >= sum(html.count("Peak ") for html in shown)
    assert page.count("<table") == sum(html.count("<table") for html in shown)
    assert "widget-view+json" not in page and "widget-state+json" not in page


def test_page_that_nbconvert_executes_shows_the_report(tmp_path):
    pytest.importorskip("nbconvert")
    cells = [f"{TRAINING}\n%load_ext memtrack", "%%memtrack model\ntrain(1)"]
    notebook = tmp_path / "nb.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in cells]), notebook)
    command = ["nbconvert", "--execute", "--to", "html", str(notebook)]
    subprocess.run([sys.executable, "-m", *command], check=True, capture_output=True)
    page = (tmp_path / "nb.html").read_text(encoding="utf-8")
    assert "Peak " in page and "<table" in page
    assert "widget-view+json" not in page and "widget-state+json" not in page


def test_recorded_cell_that_fails_shows_the_users_error_and_the_report():
    cell = "%%memtrack model\ntrain(1)\n\nraise ValueError('mine')"
    (failed,) = executed(cell, allow_errors=True)
    report, error = failed.outputs
    assert report.data[MIME_TYPE]["report"]["state"] == "failed"
    assert (error.output_type, error.ename, error.evalue) == ("error", "ValueError", "mine")
    text = "\n".join(error.traceback)
    assert "line 4" in text and "magics.py" not in text


def test_failing_cell_stops_the_notebook_as_without_us():
    with pytest.raises(CellExecutionError, match="mine"):
        executed("%%memtrack model\nraise ValueError('mine')")


def test_without_ipywidgets_the_rest_of_the_bundle_is_there():
    block = "import sys; sys.modules['ipywidgets'] = None"
    _, first, _ = executed(block, "%memtrack model --steps 1", "train(2)")
    (output,) = first.outputs
    assert set(output.data) == {"text/plain", "text/html", MIME_TYPE}
    assert output.data[MIME_TYPE]["model_id"] == ""


def test_live_off_makes_no_widget():
    _, first, _ = executed("%config MemtrackMagics.live = False", "%memtrack model", "train(1)")
    assert set(first.outputs[0].data) == {"text/plain", "text/html", MIME_TYPE}


def test_top_level_await_and_last_value():
    (cell,) = executed("%%memtrack model\nimport asyncio\nawait asyncio.sleep(0)\ntrain(1)\n6 * 7")
    report, value = cell.outputs
    assert report.data["text/plain"].startswith("Peak ")
    assert value.output_type == "execute_result" and value.data["text/plain"] == "42"


def test_latest_report_is_the_cells_value():
    _, shown = executed("%%memtrack model\ntrain(1)", "%memtrack")
    (output,) = shown.outputs
    assert output.output_type == "execute_result"
    assert set(output.data) == {"text/plain", "text/html", MIME_TYPE}


def test_frames_of_a_tracked_block_are_known_by_their_cell():
    (cell,) = executed(
        "import memtrack\nwith memtrack.track(model) as recording:\n    train(1)\n"
        "print(*recording.timeline.sites)"
    )
    assert "In [1]:" in cell.outputs[0].text


def test_wrong_use_is_one_line_on_stderr():
    (cell,) = executed("%memtrack modle", allow_errors=True)
    (output,) = cell.outputs
    assert output.name == "stderr"
    assert output.text == (
        "UsageError: There is no name 'modle' in this notebook. Did you mean 'model'?\n"
    )
