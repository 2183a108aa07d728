"""Loading adds what it says and prints nothing; unloading leaves the shell as it was."""

import pytest


def callbacks_of(shell):
    """What is told of each event, by name: a reload makes it anew."""
    return {
        event: [callback.__qualname__ for callback in found]
        for event, found in shell.events.callbacks.items()
    }


def state_of(shell):
    """Everything of a shell that loading or recording may touch."""
    return {
        "events": callbacks_of(shell),
        "line": set(shell.magics_manager.magics["line"]),
        "cell": set(shell.magics_manager.magics["cell"]),
        "registry": set(shell.magics_manager.registry),
        "configurables": list(shell.configurables),
        "transforms": list(shell.input_transformer_manager.line_transforms),
        "matchers": [one.matcher_identifier for one in shell.Completer.custom_matchers],
        "names": set(shell.user_ns) - {"_", "__", "___", "_i", "_ii", "_iii", "Out", "In"},
    }


@pytest.fixture(autouse=True)
def extension_magics(bare):
    """IPython makes its own magics at their first use: have that behind us."""
    bare.run("%unload_ext memtrack", store_history=False)


def test_loading_prints_nothing_and_adds_one_magic_of_each_kind(bare):
    before = state_of(bare.shell)
    assert bare.run("%load_ext memtrack", store_history=False).success
    assert (bare.out, bare.err, bare.published) == ("", "", [])
    after = state_of(bare.shell)
    assert after["line"] - before["line"] == {"memtrack"}
    assert after["cell"] - before["cell"] == {"memtrack"}
    assert after["events"] == {
        **before["events"],
        "pre_run_cell": ["Failures._before_cell"],
        "post_run_cell": ["Failures._after_cell"],
    }


def test_unloading_leaves_the_shell_as_it_was(bare):
    before = state_of(bare.shell)
    bare.run("%load_ext memtrack", store_history=False)
    bare.run("%unload_ext memtrack", store_history=False)
    assert state_of(bare.shell) == before


def test_loading_twice_and_reloading_add_nothing_more(bare):
    bare.run("%load_ext memtrack", store_history=False)
    once = {**state_of(bare.shell), "configurables": len(bare.shell.configurables)}
    bare.run("%load_ext memtrack", store_history=False)
    bare.run("%reload_ext memtrack", store_history=False)
    again = {**state_of(bare.shell), "configurables": len(bare.shell.configurables)}
    assert again == once


@pytest.mark.parametrize("how", ["%unload_ext memtrack", "%reload_ext memtrack"])
def test_unloading_ends_what_is_being_recorded(training, how):
    events = callbacks_of(training.shell)
    nothing = {**events, "pre_run_cell": [], "post_run_cell": []}
    training.run("%memtrack model")
    training.run("train(1)")
    training.run(how)
    assert callbacks_of(training.shell) == (nothing if "unload" in how else events)
    assert training.texts()[0].startswith("Peak ")
    assert len(training.shown) == 1
    assert training.run("train(1)").success


def test_settings_are_config(notebook):
    notebook.run("%config MemtrackMagics.language = 'zh_CN'")
    notebook.run("%memtrack status")
    assert notebook.texts()[-1] == "当前没有在记录。用 %memtrack MODEL 记录一个模型。"
    notebook.run("%config MemtrackMagics.payload_limit = 20_000")
    assert notebook.shell.magics_manager.registry["MemtrackMagics"].payload_limit == 20_000


def test_small_payload_limit_holds(training):
    import json

    from memtrack.reports.payload import MIME_TYPE

    training.run("%config MemtrackMagics.payload_limit = 20_000")
    training.run("%memtrack model")
    training.run("train(20)")
    training.run("%memtrack off")
    kept = json.dumps(training.shown[0][MIME_TYPE], ensure_ascii=False)
    assert len(kept.encode()) <= 20_000


def test_a_setting_that_is_none_is_one_line_and_can_be_mended(notebook):
    notebook.run("%config MemtrackMagics.history_size = '20'")
    before = len(notebook.shell.configurables)
    assert not notebook.run("%reload_ext memtrack").success
    problem = notebook.err.strip().splitlines()[-1]
    assert problem.startswith("UsageError: ") and "such as 20GiB, not '20'" in problem
    assert len(notebook.shell.configurables) == before - 1
    notebook.run("%config MemtrackMagics.history_size = ''")
    assert notebook.run("%load_ext memtrack").success
    assert notebook.run("%memtrack status").success
    assert len(notebook.shell.configurables) == before
