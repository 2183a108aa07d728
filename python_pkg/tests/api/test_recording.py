"""`memtrack.track`, `memtrack.open` and what a `Recording` answers."""

import gc
import json
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

import memtrack
import memtrack.errors
from memtrack.recording import load_recording
from memtrack.reports import render_text
from memtrack.reports.payload import MIME_TYPE
from memtrack.units import format_bytes

FIXTURE = Path(__file__).parents[1] / "fixtures" / "report" / "recording.memtrack"

torch = pytest.importorskip("torch")


@pytest.fixture
def trained():
    """A model, its optimizer and a function that trains it."""
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    optimizer = torch.optim.Adam(model.parameters())

    def train(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            model(torch.randn(16, 32)).square().mean().backward()
            optimizer.step()

    return model, optimizer, train


def test_recording_is_usable_inside_the_block_and_after_it(trained):
    model, optimizer, train = trained
    with memtrack.track(model, optimizer, label="tiny") as recording:
        train(1)
        assert recording.running
        early = recording.peak.bytes
        assert recording.report().state == "recording"
        train(2)
    assert not recording.running
    assert recording.peak.bytes >= early > 0
    assert recording.report().state == "complete"
    assert recording.report().steps == 3
    assert recording.data.facts.label == "tiny"
    recording.data.self_check()


def test_answers_agree_with_each_other(trained):
    model, optimizer, train = trained
    with memtrack.track(model, optimizer) as recording:
        train(2)
    peak = recording.peak.bytes
    assert recording.ledger.allocated == peak
    assert int(recording.timeline.points["allocated"].max()) == peak
    at_peak = recording.layers.columns["at_peak"].sum() + recording.layers.outside["at_peak"]
    assert at_peak == peak
    assert recording.layers.columns["parameters"].sum() == sum(
        parameter.untyped_storage().nbytes() for parameter in model.parameters()
    )


def test_layers_become_a_pandas_table(trained):
    pytest.importorskip("pandas")
    model, optimizer, train = trained
    with memtrack.track(model, optimizer) as recording:
        train(1)
    table = recording.layers.to_pandas()
    assert list(table.index) == ["model", "model.0", "model.1", "model.2"]
    assert table.loc["model", "total_parameters"] == table["parameters"].sum()


def test_steps_end_the_recording_within_the_block(trained):
    model, optimizer, train = trained
    with memtrack.track(model, optimizer, steps=2) as recording:
        train(5)
    assert recording.report().steps == 2


@pytest.mark.parametrize(
    ("error", "state"), [(ValueError, "failed"), (KeyboardInterrupt, "interrupted")]
)
def test_exception_passes_through_as_it_is(trained, error, state):
    model, _, train = trained
    raised = error("mine")

    def run():
        with memtrack.track(model) as recording:
            recordings.append(recording)
            train(1)
            raise raised

    recordings = []
    with pytest.raises(error) as caught:
        run()
    assert caught.value is raised
    assert raised.__context__ is None
    assert [entry.name for entry in caught.traceback][1:] == ["run"]
    (recording,) = recordings
    assert recording.report().state == state


def test_our_failure_does_not_hide_the_users(trained, monkeypatch, capsys):
    from memtrack.capture import Recorder

    model, _, _ = trained
    monkeypatch.setattr(Recorder, "finish", lambda self, state: 1 / 0)
    with pytest.raises(ValueError, match="mine"), memtrack.track(model) as recording:
        raise ValueError("mine")
    assert capsys.readouterr().err.startswith(
        "memtrack could not finish the recording (ZeroDivisionError: division by zero);"
    )
    assert repr(recording) == str(recording) == "<memtrack.Recording: failed>"
    with pytest.raises(memtrack.RecordingStateError):
        _ = recording.data


def test_marks_can_be_set_while_it_runs_only(trained):
    model, _, train = trained
    with memtrack.track(model) as recording:
        train(1)
        recording.mark("after the first")
    assert list(recording.report().marks.label) == ["after the first"]
    with pytest.raises(memtrack.RecordingStateError, match="has ended"):
        recording.mark("too late")


def test_recording_can_be_ended_early(trained):
    model, _, train = trained
    with memtrack.track(model) as recording:
        train(1)
        recording.end()
        train(1)
    assert recording.report().steps == 1


def test_nothing_of_the_users_is_kept():
    model = torch.nn.Linear(64, 64)
    with memtrack.track(model) as recording:
        model(torch.ones(8, 64)).sum().backward()
    recording.report()
    alive = [weakref.ref(model), weakref.ref(model.weight), weakref.ref(model.weight.grad)]
    del model
    gc.collect()
    assert [reference() for reference in alive] == [None, None, None]
    assert recording.peak.bytes > 0


def test_save_and_open_give_the_same_report(trained, tmp_path):
    model, optimizer, train = trained
    with memtrack.track(model, optimizer) as recording:
        train(1)
    path = recording.save(tmp_path / "run")
    assert path == tmp_path / "run.memtrack"
    opened = memtrack.open(path)
    assert opened.peak == recording.peak
    assert opened._repr_mimebundle_() == recording._repr_mimebundle_()


def test_export_opens_again_with_the_same_peak(trained, tmp_path):
    model, optimizer, train = trained
    with memtrack.track(model, optimizer) as recording:
        train(1)
    path = recording.export_snapshot(tmp_path / "run")
    assert path == tmp_path / "run.pickle"
    opened = memtrack.open(path)
    requested = recording.data.allocations["requested"]
    assert sorted(opened.data.allocations["requested"]) == sorted(requested)
    with pytest.raises(memtrack.errors.UsageError, match="name of a file"):
        recording.export_snapshot("..")


def test_short_form_and_rich_form(monkeypatch):
    monkeypatch.setenv("MEMTRACK_LANG", "en")
    recording = memtrack.open(FIXTURE)
    data = load_recording(FIXTURE)
    assert repr(recording).startswith(f"<memtrack.Recording of {data.facts.label}: ")
    assert "peak" in repr(recording)
    shown = recording._repr_mimebundle_(include=None, exclude=None)
    assert set(shown) == {"text/plain", "text/html", MIME_TYPE}
    monkeypatch.setenv("MEMTRACK_LANG", "zh_CN")
    assert "峰值" in recording._repr_mimebundle_()["text/plain"]


def test_wrong_arguments_are_usage_errors(trained):
    model, _, _ = trained
    with pytest.raises(memtrack.UsageError, match="not a torch"):
        memtrack.track([1, 2])
    with pytest.raises(memtrack.UsageError):
        memtrack.track(model, steps=0)
    with pytest.raises(memtrack.UsageError):
        memtrack.track(model, optimizer=3)


def test_other_files_are_refused_in_one_sentence(tmp_path):
    snapshot = tmp_path / "snapshot.pickle"
    snapshot.write_bytes(b"\x80\x04.")
    with pytest.raises(memtrack.UnreadableFile, match="cut short or damaged"):
        memtrack.open(snapshot)
    text = tmp_path / "notes.memtrack"
    text.write_text("not a zip")
    with pytest.raises(memtrack.UnreadableFile):
        memtrack.open(text)
    with pytest.raises(memtrack.UnreadableFile, match="There is no file"):
        memtrack.open(tmp_path / "gone.memtrack")


def test_opening_needs_neither_torch_nor_ipython():
    program = (
        "import sys\n"
        "for name in ('torch', 'IPython', 'ipywidgets'): sys.modules[name] = None\n"
        "import memtrack\n"
        f"recording = memtrack.open({str(FIXTURE)!r})\n"
        "print(recording.peak.bytes, len(recording._repr_mimebundle_()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    bytes_, forms = done.stdout.split()
    assert int(bytes_) > 0
    assert forms == "3"


def test_tracking_without_torch_says_how_to_install_it():
    program = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "import memtrack\n"
        "try: memtrack.track()\n"
        "except memtrack.UnavailableError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("Recording needs PyTorch, which is not installed")


def test_public_names_are_listed_and_there():
    assert {"track", "open", "Recording", "load_ipython_extension"} <= set(dir(memtrack))
    for name in memtrack.__all__:
        assert getattr(memtrack, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = memtrack.nonsense


def test_change_of_a_layer_is_of_one_call_when_gradients_accumulate(trained):
    model, optimizer, _ = trained
    with memtrack.track(model, optimizer) as recording:
        optimizer.zero_grad()
        for _ in range(8):
            model(torch.randn(16, 32)).square().mean().backward()
        optimizer.step()
    columns = recording.layers.columns
    assert columns["calls"][0] == 8
    # The hidden activation after ReLU, kept for backward, and the output.
    assert columns["change"][0] == 4 * 16 * (64 + 8) < recording.peak.bytes


def test_where_nothing_ran_there_is_no_step(trained):
    model, optimizer, _ = trained
    with memtrack.track(model, optimizer) as recording:
        pass
    assert recording.report().steps == 0
    assert "0 steps" in repr(recording)


def test_print_shows_the_report_and_the_repr_stays_a_line(trained, monkeypatch):
    monkeypatch.setenv("MEMTRACK_LANG", "zh_CN")
    model, optimizer, train = trained
    with memtrack.track(model, optimizer) as recording:
        train(2)
    printed = str(recording)
    assert printed == render_text(recording.report(), "zh_CN")
    assert printed.startswith(f"峰值 {format_bytes(recording.peak.bytes)}")
    assert repr(recording).startswith("<") and "\n" not in repr(recording)


def test_the_peak_says_layer_and_step_as_a_reader_knows_them(trained):
    model, optimizer, train = trained
    with memtrack.track(model, optimizer) as recording:
        train(2)
    peak = recording.peak
    assert peak.step == peak.step_index + 1
    assert peak.step in (1, 2)
    assert f"step {peak.step}" in str(recording.report().views[0].headline)
    assert f"({peak.bytes} bytes), step {peak.step}, phase {peak.phase}" in repr(peak)
    assert "step_index" not in repr(peak)
    expected = recording.layers.path[peak.layer] if peak.layer >= 0 else ""
    assert peak.layer_path == expected


def test_labels_of_several_models_are_split_at_commas():
    models = [torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)]
    with memtrack.track(models, label="x, y") as recording:
        models[0](torch.ones(1, 2))
    assert list(recording.layers.path) == ["x", "y"]
    with pytest.raises(memtrack.errors.UsageError, match="as many labels"):
        memtrack.track(models, label="x")


def test_a_tracking_is_entered_once(trained):
    model, _, _ = trained
    tracking = memtrack.track(model)
    with tracking:
        with pytest.raises(memtrack.errors.RecordingStateError, match="entered before"):
            tracking.__enter__()
        model(torch.randn(1, 32))
    with pytest.raises(memtrack.errors.RecordingStateError, match="entered before"):
        tracking.__enter__()
    assert tracking.__exit__(ValueError, ValueError("the user's"), None) is None


def test_saving_where_no_file_can_be_names_the_target(trained, tmp_path):
    model, _, _ = trained
    with memtrack.track(model) as recording:
        model(torch.randn(1, 32))
    with pytest.raises(FileNotFoundError) as caught:
        recording.save(tmp_path / "none" / "run")
    assert caught.value.filename == str(tmp_path / "none" / "run.memtrack")
    for name in ("", "."):
        with pytest.raises(memtrack.errors.UsageError, match="needs the name of a file"):
            recording.save(name)


def test_an_interrupt_while_the_block_ends_keeps_the_recording(trained, monkeypatch):
    model, optimizer, train = trained
    tracking = memtrack.track(model, optimizer)
    recorder = tracking._recorder
    finish, calls = recorder.finish, []

    def interrupted(state):
        calls.append(state)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return finish(state)

    monkeypatch.setattr(recorder, "finish", interrupted)
    with pytest.raises(KeyboardInterrupt), tracking as recording:
        train(1)
    assert not recording.running
    assert recording.report().steps == 1


def test_tables_show_themselves_in_a_few_lines(trained):
    model, optimizer, train = trained
    with memtrack.track(model, optimizer) as recording:
        train(1)
    assert repr(recording.layers).startswith("<LayerTable: 4 layers")
    assert "<td>model.0</td><td>Linear</td>" in recording.layers._repr_html_()
    assert "parameter " in repr(recording.ledger)
    assert recording.ledger._repr_html_().count("<tr>") == len(recording.ledger.parts)


def test_every_door_counts_the_step_of_the_peak_from_1(trained, tmp_path, capsys):
    from memtrack.cli import main
    from memtrack.reports.steps import steps_of

    model, optimizer, train = trained
    with memtrack.track(model, optimizer, steps=1, history=False) as recording:
        train(1)
    assert recording.peak.step == 1
    file, out = recording.save(tmp_path / "run.memtrack"), tmp_path / "run.json"
    assert main(["open", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["views"][0]["peak"]["step"] == 1
    recording.export(out)
    assert json.loads(out.read_text())["devices"][0]["peak"]["step"] == 1
    told = memtrack.compare(file, file).to_json()
    assert (told["a"]["step"], told["b"]["step"]) == (1, 1)
    assert [one["step"] for one in steps_of(recording.data).to_json()["steps"]] == [1]
    (tmp_path / "ranks").mkdir()
    recording.save(tmp_path / "ranks" / "run.rank0.memtrack")
    assert main(["open", str(tmp_path / "ranks"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ranks"][0]["peak"]["step"] == 1
