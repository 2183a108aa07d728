"""The code of every remedy runs when it is pasted, and does what the remedy says."""

import ast
import copy
from pathlib import Path

import pytest

from memtrack.remedies.catalogue import recipes

torch = pytest.importorskip("torch")
functional = torch.nn.functional

CODE = {one.id: one.entry.code for one in recipes()}
ELSEWHERE = ("eight_bit_optimizer", "train_adapters")
"""Need packages that are not installed here."""
SEVERAL_GPUS = ("ddp", "zero_1", "zero_2", "shard_the_model", "offload_to_cpu")
"""Need a group of processes: what they import is checked."""


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.blocks = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(4))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x.float().square().mean()


def python(identifier):
    """Return the lines of a remedy's code that are Python's, for the device that is here."""
    lines = CODE[identifier].splitlines()
    code = "\n".join(line for line in lines if not line.startswith("export "))
    return code.replace('"cuda"', '"cpu"').replace("pin_memory=True", "pin_memory=False")


def pasted(identifier, **names):
    """Run a remedy's code in a notebook where `names` are known; return all names afterwards."""
    known = {"torch": torch, **names}
    exec(compile(python(identifier), identifier, "exec"), known)
    return known


def trained():
    """Return a model, its optimizer and a batch."""
    model = Model()
    return model, torch.optim.SGD(model.parameters(), lr=0.5), torch.randn(8, 8)


@pytest.mark.parametrize("identifier", CODE)
def test_every_snippet_is_python(identifier):
    assert CODE[identifier].strip()
    ast.parse(python(identifier))


@pytest.mark.parametrize("identifier", SEVERAL_GPUS)
def test_what_snippets_for_several_gpus_import_is_there(identifier):
    distributed = pytest.importorskip("torch.distributed")
    if not distributed.is_available():
        pytest.skip("torch was built without torch.distributed")
    pytest.importorskip("torch.distributed.fsdp", exc_type=ImportError)
    imports = [one for one in ast.parse(python(identifier)).body if isinstance(one, ast.ImportFrom)]
    for one in imports:
        module = pytest.importorskip(one.module)
        assert all(hasattr(module, name.name) for name in one.names)
    assert imports


def test_the_parts_of_a_batch_give_the_gradient_of_the_whole():
    for identifier in ("accumulate_gradients", "accumulate_gradients_4"):
        model, optimizer, batch = trained()
        whole = copy.deepcopy(model)
        parts = 2 if identifier == "accumulate_gradients" else 4
        pasted(
            identifier, model=model, optimizer=optimizer, batch=batch, batches=batch.chunk(parts)
        )
        whole(batch).backward()
        for mine, theirs in zip(model.parameters(), whole.parameters(), strict=True):
            assert torch.allclose(mine, theirs - 0.5 * theirs.grad, atol=1e-6)
            assert mine.grad is None


@pytest.mark.parametrize("identifier", ["checkpoint_layers", "checkpoint_few"])
def test_what_is_computed_again_is_what_was_computed(identifier):
    model, _, batch = trained()
    x = batch.clone().requires_grad_()
    found = pasted(identifier, self=model, x=x, few=2)["x"]
    assert torch.equal(found.square().mean(), model(batch))
    found.square().mean().backward()
    assert all(one.grad is not None for one in model.parameters())


@pytest.mark.parametrize("identifier", ["bf16_autocast", "activations_on_cpu"])
def test_losses_under_autocast_and_from_the_computers_memory(identifier):
    model, _, batch = trained()
    loss = pasted(identifier, model=model, batch=batch)["loss"]
    assert torch.allclose(loss.float(), model(batch), rtol=0.02)
    assert all(one.grad is not None for one in model.parameters())


def test_a_step_with_a_scaler_is_a_step():
    model, optimizer, batch = trained()
    before = copy.deepcopy(model.state_dict())
    pasted("fp16_autocast", model=model, optimizer=optimizer, batch=batch)
    changed = [not torch.equal(one, before[name]) for name, one in model.state_dict().items()]
    assert all(changed)


@pytest.mark.parametrize(
    ("identifier", "kind"),
    [
        ("fused_optimizer", "AdamW"),
        ("loop_optimizer", "AdamW"),
        ("adafactor", "Adafactor"),
        ("sgd_momentum", "SGD"),
        ("freeze_parameters", "AdamW"),
    ],
)
def test_optimizers_are_made_and_step(identifier, kind):
    if not hasattr(torch.optim, kind):
        pytest.skip(f"this torch has no {kind}")
    model, _, batch = trained()
    optimizer = pasted(identifier, model=model, lr=1e-3)["optimizer"]
    assert type(optimizer).__name__ == kind
    model(batch).backward()
    optimizer.step()
    count = sum(len(group["params"]) for group in optimizer.param_groups)
    assert count == (4 if identifier == "freeze_parameters" else 8)


def test_gradients_go_and_no_graph_is_made():
    model, optimizer, batch = trained()
    model(batch).backward()
    pasted("set_to_none", optimizer=optimizer)
    assert all(one.grad is None for one in model.parameters())
    output = pasted("inference_mode", model=model, batch=batch)["output"]
    assert not output.requires_grad and not model.training
    known = pasted("delete_before_next", output=1, loss=2, batch=3)
    assert not {"output", "loss", "batch"} & set(known)


def test_weights_are_of_16_bits():
    model = pasted("bf16_weights", model=Model())["model"]
    assert {one.dtype for one in model.parameters()} == {torch.bfloat16}
    batch = torch.randn(8, 8, dtype=torch.bfloat16)
    known = pasted("load_in_bf16", model=Model(), batch=batch)
    assert {one.dtype for one in known["model"].parameters()} == {torch.bfloat16}
    assert torch.allclose(known["output"], Model()(batch.float()), rtol=0.02)


def test_parts_of_a_batch_give_the_outputs_of_the_whole():
    model, batch = Model().blocks[0].eval(), torch.randn(9, 8)
    output = pasted("batch_in_parts", model=model, batch=batch)["output"]
    assert torch.allclose(output, model(batch))


def test_fused_attention_is_attention():
    q, k, v = (torch.randn(2, 4, 16, 8) for _ in range(3))
    out = pasted("fused_attention", q=q, k=k, v=v)["out"]
    scores = (q @ k.transpose(-1, -2) / 8**0.5).masked_fill(
        torch.ones(16, 16, dtype=torch.bool).triu(1), float("-inf")
    )
    assert torch.allclose(out, scores.softmax(-1) @ v, atol=1e-5)


def test_a_loss_in_chunks_is_the_loss():
    head = torch.nn.Linear(8, 50)
    hidden, labels = torch.randn(3000, 8), torch.randint(0, 50, (3000,))
    loss = pasted("logits_in_chunks", lm_head=head, hidden=hidden, labels=labels, F=functional)
    assert torch.allclose(loss["loss"], functional.cross_entropy(head(hidden), labels), rtol=1e-5)


def test_settings_and_buckets(monkeypatch):
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "")
    known = pasted("expandable_segments")
    assert known["os"].environ["PYTORCH_CUDA_ALLOC_CONF"] == "expandable_segments:True"
    found = pasted("buckets", longest=130, texts=["a"], tokenizer=lambda _, **how: how)
    assert found["batch"]["max_length"] == 256


def test_none_is_left_out():
    tried = set(CODE) - set(ELSEWHERE) - set(SEVERAL_GPUS)
    text = Path(__file__).read_text(encoding="utf-8")
    assert all(f'"{one}"' in text for one in tried)
