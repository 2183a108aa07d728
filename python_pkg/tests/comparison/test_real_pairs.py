"""Real models changed in one way: the sentence names the right layers, and every byte is that of the runs.

The models are those of transformers, from configurations, trained on the CPU; the snapshots are of an
H200.
"""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from compared_runs import check  # noqa: E402

import memtrack  # noqa: E402
from memtrack.analysis import peak  # noqa: E402
from memtrack.comparison import compare  # noqa: E402
from memtrack.reports.comparison import Diff  # noqa: E402
from memtrack.units import format_bytes  # noqa: E402

SNAPSHOTS = Path(__file__).parents[1] / "fixtures" / "snapshots"
LAYERS, WIDTH, WORDS = 4, 64, 500
FLOAT = 4


def gpt2(words=WORDS, **options):
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        n_layer=LAYERS, n_embd=WIDTH, n_head=2, vocab_size=words, n_positions=64, **options
    )
    config.use_cache = False
    return transformers.GPT2LMHeadModel(config).train()


def trained(model, rows=4, tokens=32, words=WORDS, steps=2):
    """Return the recording of a training of a language model."""
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
    batch = torch.randint(0, words, (rows, tokens))
    with memtrack.track(model, optimizer, label="gpt2") as recording:
        for _ in range(steps):
            inputs = {"input_ids": batch, "labels": batch}
            if model.config.is_encoder_decoder:
                inputs["decoder_input_ids"] = inputs["input_ids"]
            model(**inputs).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    return recording.data


@pytest.fixture(scope="module")
def base():
    return trained(gpt2())


def compared(a, b):
    """Return the comparison as readers see it; its figures agree with both recordings exactly."""
    diff = Diff(compare(a, b))
    check(diff.found, a, b)
    sentence = str(diff.sentence)
    assert sentence.startswith(
        f"Peak {format_bytes(peak(a, 0).bytes)} → {format_bytes(peak(b, 0).bytes)} ("
    )
    return diff, sentence


def column(found, name, path):
    before, after = found.columns[name]
    row = found.path.index(path)
    return int(before[row]), int(after[row])


def test_gpt2_with_checkpointing(base):
    model = gpt2()
    model.gradient_checkpointing_enable({"use_reentrant": False})
    diff, sentence = compared(base, trained(model))
    first = diff.movers[0]
    assert first.category == "activation" and first.change < 0
    assert first.where.startswith("gpt2.transformer.h.*")
    assert f"activations of {first.where}" in sentence
    before, after = diff.found.categories["parameter"]
    assert before == after
    saved = column(diff.found, "total_saved", "gpt2.transformer.h.1")
    assert saved[1] < saved[0] / 2


def test_a_widened_head():
    """A classifier's head of 2 becomes one of 20,000: only it has more of everything."""

    def classifier(labels):
        torch.manual_seed(0)
        config = transformers.BertConfig(
            hidden_size=WIDTH,
            num_hidden_layers=LAYERS,
            num_attention_heads=2,
            intermediate_size=2 * WIDTH,
            vocab_size=WORDS,
            num_labels=labels,
        )
        return transformers.BertForSequenceClassification(config).train()

    def run(labels):
        model = classifier(labels)
        optimizer = torch.optim.AdamW(model.parameters())
        batch = torch.randint(0, WORDS, (4, 32))
        with memtrack.track(model, optimizer, label="bert") as recording:
            for _ in range(2):
                model(input_ids=batch, labels=torch.zeros(4, dtype=torch.long)).loss.backward()
                optimizer.step()
                optimizer.zero_grad()
        return recording.data

    diff, sentence = compared(run(2), run(20_000))
    elements = (WIDTH + 1) * (20_000 - 2)
    before, after = column(diff.found, "total_parameters", "bert.classifier")
    assert after - before == FLOAT * elements
    assert (
        column(diff.found, "total_parameters", "bert.bert")
        == (column(diff.found, "total_parameters", "bert.bert")[0],) * 2
    )
    moved = {one.category: one for one in diff.movers if not one.rest}
    for category, copies in (("parameter", 1), ("optimizer_state", 2)):
        assert moved[category].change == copies * FLOAT * elements
        assert moved[category].where == "bert.classifier"
    assert "of bert.classifier +" in sentence


def test_a_renamed_block(base):
    """`transformer.h` becomes `transformer.blocks`: the bytes stay, and it is told by which name."""
    model = gpt2()
    inner = model.transformer
    inner.blocks = inner.h
    del inner._modules["h"]
    type(inner).h = property(lambda self: self._modules["blocks"])
    try:
        renamed = trained(model)
    finally:
        del type(inner).h
    diff = Diff(compare(base, renamed))
    check(diff.found, base, renamed)
    assert diff.peak_change == 0 and diff.movers == []
    assert str(diff.sentence) == f"The peak is the same: {format_bytes(peak(base, 0).bytes)}"
    assert any("gpt2.transformer.h → gpt2.transformer.blocks" in str(one) for one in diff.details)
    found = diff.found
    row = found.path.index("gpt2.transformer.blocks.2.mlp")
    assert found.former_path[row] == "gpt2.transformer.h.2.mlp"
    assert (
        column(found, "total_at_peak", "gpt2.transformer.blocks")
        == (column(found, "total_at_peak", "gpt2.transformer.blocks")[0],) * 2
    )


def test_a_frozen_encoder():
    def t5(frozen):
        torch.manual_seed(0)
        config = transformers.T5Config(
            d_model=WIDTH, d_kv=32, d_ff=4 * WIDTH, num_layers=2, num_heads=2, vocab_size=WORDS
        )
        config.decoder_start_token_id = 0
        config.use_cache = False
        model = transformers.T5ForConditionalGeneration(config).train()
        for parameter in model.encoder.block.parameters():
            parameter.requires_grad_(not frozen)
        return model

    diff, sentence = compared(trained(t5(False)), trained(t5(True)))
    model = t5(True)
    frozen = sum(p.numel() for p in model.parameters() if not p.requires_grad)
    counters = sum(not p.requires_grad for p in model.parameters())
    moved = {one.category: one for one in diff.movers if not one.rest}
    assert moved["optimizer_state"].change == -(2 * FLOAT * frozen + FLOAT * counters)
    assert moved["optimizer_state"].where.startswith("gpt2.encoder.block")
    assert "of gpt2.encoder.block" in sentence
    assert (
        column(diff.found, "total_parameters", "gpt2.encoder")
        == (column(diff.found, "total_parameters", "gpt2.encoder")[0],) * 2
    )


@pytest.mark.gpu
def test_gpt2_with_checkpointing_on_cuda():
    def run(checkpointed):
        model = gpt2().cuda()
        if checkpointed:
            model.gradient_checkpointing_enable({"use_reentrant": False})
        optimizer = torch.optim.AdamW(model.parameters())
        batch = torch.randint(0, WORDS, (64, 64), device="cuda")
        with memtrack.track(model, optimizer, label="gpt2") as recording:
            for _ in range(3):
                model(input_ids=batch, labels=batch).loss.backward()
                optimizer.step()
                optimizer.zero_grad()
        return recording.data

    a, b = run(False), run(True)
    found = compare(a, b)
    assert found.peak_change == found.b.peak.bytes - found.a.peak.bytes < 0
    assert sum(part.change for part in found.parts) == found.peak_change
    activations = next(one for one in found.movers if one.category == "activation")
    assert activations.change < 0 and "transformer" in activations.where


def test_a_prediction_against_the_run():
    model = gpt2()
    model.gradient_checkpointing_enable({"use_reentrant": False})
    run = trained(model)

    def build():
        staged = gpt2()
        optimizer = torch.optim.AdamW(staged.parameters())
        batch = torch.randint(0, WORDS, (4, 32))

        def step():
            staged(input_ids=batch, labels=batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()

        return step

    predicted = memtrack.predict(build, steps=2)
    diff = memtrack.compare(predicted, memtrack.Recording(run))
    assert diff.found.a.evidence == "predicted"
    assert diff.peak_change == peak(run, 0).bytes - diff.found.a.peak.bytes
    assert sum(part.change for part in diff.found.parts) == diff.peak_change
    assert sum("is off by" in str(one) for one in diff.details) == 1
    names = {row for row, how in enumerate(diff.found.matches.how) if how == "same"}
    assert len(names) == len(run.layers)


def test_two_snapshots_of_an_h200():
    a, b = (
        memtrack.open(SNAPSHOTS / name).data
        for name in ("fragmentation.pickle.gz", "optimizer_first_step.pickle.gz")
    )
    diff = Diff(compare(a, b))
    found = diff.found
    sizes = [int(side.line.allocated.max()) for side in (found.a, found.b)]
    assert found.a.by_lines and found.b.by_lines
    for side, data, size in zip((found.a, found.b), (a, b), sizes, strict=True):
        devices = range(len(data.devices))
        assert side.peak.bytes == size == max(peak(data, one).bytes for one in devices)
        assert sum(side.shares.values()) == size
    assert sum(part.change for part in found.parts) == found.peak_change
    before, after = found.columns["total_at_peak"]
    assert np.where(before > 0, before, 0).sum() <= sizes[0]
    assert np.where(after > 0, after, 0).sum() <= sizes[1]
    assert any(":" in path for path in found.path)
    assert str(diff).splitlines()[0].startswith("Peak ")
