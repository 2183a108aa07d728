"""A small transformer trained for three steps on the CPU, as it is or with a remedy really applied."""

from __future__ import annotations

import gc
from functools import cache

import pytest

STEPS, BATCH, LENGTH, WORDS = 3, 4, 32, 600


def program(
    *, attention="sdpa", weights=None, checkpoint=False, batch=BATCH, length=LENGTH, **training
):
    """Return a `build` of the program: it makes model, optimizer and batch and returns a step."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")

    def build():
        torch.manual_seed(0)
        config = transformers.GPT2Config(
            n_layer=4,
            n_embd=64,
            n_head=4,
            n_positions=length,
            vocab_size=WORDS,
            attn_pdrop=0.0,
            bos_token_id=0,
            eos_token_id=0,
            attn_implementation=attention,
        )
        model = transformers.GPT2LMHeadModel(config).train()
        if weights is not None:
            model = model.to(getattr(torch, weights))
        if checkpoint:
            model.gradient_checkpointing_enable(
                gradient_checkpointing_kwargs={"use_reentrant": False}
            )
            model.config.use_cache = False
        x, y = (torch.randint(0, WORDS, (batch, length)) for _ in range(2))
        return _step(torch, model, x, y, **training)

    return build


def _step(torch, model, x, y, *, optimizer="adam", parts=1, set_to_none=True):
    made = {
        "adam": lambda: torch.optim.AdamW(model.parameters()),
        "sgd": lambda: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
        "adafactor": lambda: torch.optim.Adafactor(model.parameters()),
    }[optimizer]()

    def step():
        made.zero_grad(set_to_none=set_to_none)
        for _ in range(parts):
            loss = model(input_ids=x, labels=y).loss / parts
            loss.backward()
        made.step()

    return step


def record(build):
    """Return what three steps of a program did; what other tests have left alive is not part of it."""
    import memtrack
    from memtrack.capture import recorder

    gc.collect()
    living = recorder.living_objects
    others = living()  # held until the end, so that no new object has the id of one of them
    theirs = {id(one) for kind in others for one in kind}
    step = build()

    def mine():
        return tuple([one for one in kind if id(one) not in theirs] for kind in living())

    recorder.living_objects = mine
    try:
        with memtrack.track() as recording:
            for _ in range(STEPS):
                step()
    finally:
        recorder.living_objects = living
    del others
    return recording.data


@cache
def recorded(**how):
    """Return the recording of `program(**how)`, made once."""
    return record(program(**how))
