"""`%memtrack plan`: a planner in the output, configurations by name, completion, errors in a line."""

import types

import pytest

from memtrack.notebook.completion import complete
from memtrack.reports.planpayload import PLAN_MIME_TYPE
from memtrack.widgets import VIEW_MIME_TYPE
from memtrack.widgets.plan import with_plan_view

LLAMA = {
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14_336,
    "vocab_size": 128_256,
}


def test_a_plan_is_a_value_that_shows_itself(notebook):
    plan = notebook.run('%memtrack plan 1B --optimizer Adam --gpu "RTX 4090"').result
    assert [plan["parameter"], plan["gradient"], plan["optimizer_state"]] == [
        4 * 10**9,
        4 * 10**9,
        8 * 10**9,
    ]
    assert plan.fits
    shown = plan._repr_mimebundle_()
    assert shown["text/plain"].startswith("1.00 B parameters, fp32, Adam: 14.9 GiB a GPU")
    assert "<script" not in shown["text/html"]
    payload = shown[PLAN_MIME_TYPE]
    assert (payload["kind"], payload["gpu"]) == ("ledger", "NVIDIA GeForce RTX 4090")
    assert payload["inputs"]["parameters"] == 10**9


def test_plan_alone_opens_a_planner(notebook):
    assert notebook.run("%memtrack plan").result.inputs.parameters == 7 * 10**9


def test_a_configuration_is_found_by_its_name(notebook):
    notebook.shell.user_ns["llama"] = LLAMA
    notebook.shell.user_ns["model"] = types.SimpleNamespace(config=types.SimpleNamespace(**LLAMA))
    by_mapping = notebook.run("%memtrack plan kv llama --length 8192").result
    by_model = notebook.run("%memtrack plan kv model.config --length 8192").result
    assert by_mapping["cache_kv"] == by_model["cache_kv"] == 1 << 30
    notebook.shell.user_ns["Config"] = lambda: LLAMA
    by_call = notebook.run("%memtrack plan kv Config() --length 8192").result
    assert by_call["cache_kv"] == 1 << 30


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("plan kv llamma", "'llamma' is neither a name of this notebook nor a file."),
        ("plan 7B --optimiser adam", "Did you mean '--optimizer'?"),
        ("plan 7B --zero 5", "The ZeRO stage is 0, 1, 2 or 3, not 5."),
        ("plan 7B --dtype bf16 --mixed autocast", "Autocast is for fp32 weights, not for bf16."),
    ],
)
def test_wrong_words_are_one_line(notebook, line, said):
    notebook.run(f"%memtrack {line}")
    assert said in notebook.err
    assert "Traceback" not in notebook.err


def test_sentences_are_chinese_where_that_is_asked_for(notebook):
    notebook.run("%config MemtrackMagics.language = 'zh_CN'")
    plan = notebook.run("%memtrack plan 7B --gpus 8 --fsdp --gpu 24GiB").result
    assert "8 张 GPU 上的 ZeRO 3" in str(plan)
    assert "放得进 24.0 GiB" in str(plan)


def test_completion_offers_kinds_and_their_options(notebook):
    def offered(line):
        return complete(notebook.shell, line)[1]

    assert offered("%memtrack plan k") == ["kv"]
    assert "--zero" in offered("%memtrack plan 7B --")
    options = offered("%memtrack plan kv llama --")
    assert "--cache" in options
    assert "--zero" not in options


def test_without_a_browser_there_is_no_widget():
    bundle = {PLAN_MIME_TYPE: {}}
    assert VIEW_MIME_TYPE not in with_plan_view(bundle)


def test_the_widget_holds_the_payload():
    pytest.importorskip("ipywidgets")
    from memtrack.widgets.planmodel import PlanModel

    payload = {"schema": "memtrack.plan/1"}
    model = PlanModel(plan=payload)
    state = model.get_state()
    assert state["plan"] == payload
    assert (state["_model_name"], state["_view_name"]) == ("PlanModel", "PlanView")
    model.close()
