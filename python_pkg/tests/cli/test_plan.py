"""`memtrack plan`: numbers in, a table or JSON out, wrong words in one line."""

import json

import pytest

from memtrack.cli.main import main
from memtrack.planners.words import OPTIONS_OF

CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14_336,
    "vocab_size": 128_256,
    "tie_word_embeddings": False,
}


def answer(capsys, *words):
    code = main(["plan", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_billion_in_fp32_with_adam(capsys):
    code, out, _ = answer(capsys, "1B", "--optimizer", "adam", "--json")
    plan = json.loads(out)
    assert code == 0
    assert plan["parts"] == {
        "parameter": 4 * 10**9,
        "gradient": 4 * 10**9,
        "optimizer_state": 8 * 10**9,
    }
    assert (plan["total"], plan["verdict"]) == (16 * 10**9, None)


def test_the_table_begins_with_the_answer_and_the_verdict(capsys):
    words = (
        "7B",
        "--dtype",
        "bf16",
        "--mixed=master",
        "--fsdp",
        "--gpus",
        "8",
        "--gpu",
        "a100-80gb",
    )
    code, out, _ = answer(capsys, *words)
    first, second, *_ = out.splitlines()
    assert code == 0
    assert first.startswith(
        "7.00 B parameters, bf16 with fp32 master weights, AdamW, ZeRO 3 on 8 GPUs"
    )
    assert "It fits NVIDIA A100 80GB" in f"{first} {second}" or "It fits NVIDIA A100 80GB" in out
    assert "7.00 B × 2 bytes ÷ 8 GPUs" in out


def test_generation_from_a_configuration_file(capsys, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))
    words = ("kv", str(path), "--length", "8192", "--gpu", "24GiB", "--json")
    code, out, _ = answer(capsys, *words)
    plan = json.loads(out)
    assert code == 0
    assert plan["parts"]["cache_kv"] == 1 << 30
    assert plan["parts"]["parameter"] == 2 * 8_030_261_248
    assert plan["verdict"] == "fits"
    assert plan["largest_batch"] >= 1
    assert plan["longest_sequence"] > 8192


def test_loading_lists_every_way_the_least_first(capsys):
    code, out, _ = answer(capsys, "loading", "70B", "--stored", "fp32", "--dtype", "fp32", "--json")
    ways = json.loads(out)["ways"]
    assert code == 0
    assert len(ways) == 11
    # Section 5.3 of the guide: 280 GB of fp32 weights, and the model made beside them.
    by_id = {way["id"]: way for way in ways}
    assert by_id["load_cpu"]["host"] == 2 * 280 * 10**9
    assert by_id["meta_mmap"]["host"] == 0
    needed = [way["host"] + way["device"] for way in ways]
    assert needed == sorted(needed)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["7B", "--optimzer", "adam"], "Did you mean '--optimizer'?"),
        (["7B", "--optimizer", "adamm"], "Did you mean 'adam"),
        (["7B", "8B"], "'8B' is one word too many."),
        (["7B", "--gpu", "RTX", "4090"], 'In quotes: --gpu "RTX 4090"'),
        (["kb"], "Did you mean 'kv'?"),
        (["kv"], "Something is missing: plan kv CONFIG"),
        (["kv", "nowhere.json"], "There is no file nowhere.json. A configuration is"),
        (["7B", "--gpus", "many"], "--gpus takes a number, not 'many'."),
        (["7B", "--gpus"], "Something is missing: --gpus N"),
        (["7B", "--gpus", "2", "--gpus", "3"], "--gpus is given twice."),
        (["7B", "--gpu", "RTX 4909"], "The nearest: RTX 4090,"),
        (["loading", "7B", "--zero", "3"], "There is no option '--zero'."),
    ],
)
def test_wrong_words_end_as_one_line(capsys, words, said):
    code, out, err = answer(capsys, *words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_help_lists_every_option(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["plan", "--help"])
    out = capsys.readouterr().out
    assert ended.value.code == 0
    for option in ("--optimizer", "--zero", "--cache", "--stored", "--json"):
        assert option in out
    lines = [line.rstrip() for line in out.splitlines()]
    for option in (one for table in OPTIONS_OF.values() for one in table.values()):
        head, said = f"  {option.name} {option.value}".rstrip(), str(option.help)
        beside = any(line.startswith(f"{head}  ") and line.endswith(f"  {said}") for line in lines)
        below = f"{head}\n{'':<28}{said}" in "\n".join(lines)
        assert beside or below, option.name
