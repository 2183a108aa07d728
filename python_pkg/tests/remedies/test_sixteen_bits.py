"""Autocast and 16-bit weights simulated on events are what the program predicted again with them needs."""

from functools import cache

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from memtrack.prediction.predict import predict  # noqa: E402
from memtrack.prediction.variants import again, peaks_of  # noqa: E402
from memtrack.remedies import advise  # noqa: E402
from memtrack.remedies.weigh import Exact  # noqa: E402

IDS = ("bf16_autocast", "bf16_weights")
WIDTH, HEADS, LAYERS, WORDS = 512, 8, 4, 8192


def llama():
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            hidden_size=WIDTH,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            num_key_value_heads=2,
            intermediate_size=3 * WIDTH,
            vocab_size=WORDS,
        )
    )


def bert():
    return transformers.BertForMaskedLM(
        transformers.BertConfig(
            hidden_size=WIDTH,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            intermediate_size=4 * WIDTH,
            vocab_size=WORDS,
        )
    )


def gpt2():
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, vocab_size=WORDS)
    )


def t5():
    config = transformers.T5Config(
        d_model=WIDTH, num_layers=LAYERS, vocab_size=WORDS, decoder_start_token_id=0, pad_token_id=0
    )
    return transformers.T5ForConditionalGeneration(config)


MODELS = {"llama": llama, "bert": bert, "gpt2": gpt2, "t5": t5}
"""Grouped heads and written norms; a loss without an upcast; tied weights; a mask that is learned."""


def build_of(name):
    def build():
        model = MODELS[name]().cuda().train()
        words = torch.randint(0, WORDS, (8, 256)).cuda()
        optimizer = torch.optim.AdamW(model.parameters())

        def step():
            optimizer.zero_grad()
            loss = model(input_ids=words, labels=words).loss
            loss.backward()
            optimizer.step()

        return step

    return build


def run(build):
    return predict(build, steps=2, gpu="H200")


@cache
def base_of(name):
    return run(build_of(name))


def predicted(name, identifier):
    """Return the base and the peak of the program that was predicted again with a remedy."""
    base = base_of(name)
    return base, again(build_of(name), run, base, [identifier]).peak


def simulated(base, identifier):
    """Return the peak with a remedy by changing the base's events, and its bounds."""
    found = next(one for one in advise(base).remedies if one.id == identifier)
    return found.peak, found.low, found.high


@pytest.mark.parametrize("identifier", IDS)
@pytest.mark.parametrize("name", MODELS)
def test_what_is_simulated_is_what_is_predicted_again(name, identifier):
    base, truth = predicted(name, identifier)
    peak, low, high = simulated(base, identifier)
    whole = peaks_of(base).peak
    assert whole > truth
    assert abs(peak - truth) <= 0.02 * whole
    assert low - 0.01 * whole <= truth <= high + 0.01 * whole


class Beside(torch.nn.Module):
    """A product with an adapter beside it, as LoRA has."""

    def __init__(self, product):
        super().__init__()
        self.whole = product.requires_grad_(False)
        self.down = torch.nn.Linear(product.in_features, 8, bias=False)
        self.up = torch.nn.Linear(8, product.out_features, bias=False)

    def forward(self, x):
        return self.whole(x) + self.up(self.down(x))


def test_adapters_hide_no_grouped_heads():
    def build():
        model = llama().requires_grad_(False)
        for layer in model.model.layers:
            attention = layer.self_attn
            attention.q_proj, attention.v_proj = Beside(attention.q_proj), Beside(attention.v_proj)
        model.cuda().train()
        words = torch.randint(0, WORDS, (8, 256)).cuda()
        optimizer = torch.optim.AdamW(p for p in model.parameters() if p.requires_grad)

        def step():
            optimizer.zero_grad()
            model(input_ids=words, labels=words).loss.backward()
            optimizer.step()

        return step

    base = run(build)
    truth = again(build, run, base, ["bf16_autocast"]).peak
    peak, low, high = simulated(base, "bf16_autocast")
    assert abs(peak - truth) <= 0.02 * peaks_of(base).peak
    assert low <= truth <= high


def test_sets_with_growing_segments_are_run_again_without_them():
    """The allocator's settings are none of the program's: what they hold besides is simulated."""
    asked = []

    def rerun(ids):
        asked.append(tuple(ids))
        return Exact(10**9 - len(ids), 2 * 10**9) if len(ids) > 1 else None

    sets = advise(base_of("gpt2"), rerun=rerun).combinations
    growing = [one for one in sets if "expandable_segments" in one.ids and len(one.ids) > 2]
    assert growing and all("expandable_segments" not in ids[1:] for ids in asked)
    for one in growing:
        others = tuple(name for name in one.ids if name != "expandable_segments")
        assert others in asked
        assert one.peak == 10**9 - len(others)
        assert one.peak <= one.reserved < 2 * 10**9
