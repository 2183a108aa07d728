"""The KV cache against transformers' own, parameters against real models, and what fits."""

import dataclasses
import json

import make_plan_fixture
import pytest

from memtrack.errors import MemtrackError, UnreadableFile, UsageError
from memtrack.planners.config import kv_inputs_of
from memtrack.planners.generation import cache_bytes, kv_parts, largest_batch, longest_sequence
from memtrack.planners.inputs import KvInputs
from memtrack.planners.parts import total_of, verdict

GIB = 1 << 30
LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "intermediate_size": 11_008,
    "vocab_size": 32_000,
    "tie_word_embeddings": False,
}


def test_the_guides_example_takes_eight_gibibytes():
    # Section 5.4: 7 B, a batch of 8, 2048 tokens: 8 to 12 GB.
    assert cache_bytes(kv_inputs_of(LLAMA, length=2048, batch=8)) == 8 * GIB


def test_grouped_queries_count_their_keys_once():
    grouped = {**LLAMA, "num_key_value_heads": 8}
    assert cache_bytes(kv_inputs_of(LLAMA)) == 4 * cache_bytes(kv_inputs_of(grouped))


def test_a_window_bounds_its_layers_alone():
    kinds = ["sliding_attention"] * 30 + ["full_attention"] * 2
    inputs = kv_inputs_of({**LLAMA, "sliding_window": 1024, "layer_types": kinds}, length=8192)
    assert (inputs.window, inputs.windowed) == (1024, 30)
    token = 2 * 32 * 128 * 2
    assert cache_bytes(inputs) == token * (30 * 1024 + 2 * 8192)
    off = {**LLAMA, "sliding_window": 1024, "use_sliding_window": False}
    assert kv_inputs_of(off).windowed == 0


def test_a_quantised_cache_has_scales_and_a_recent_rest_as_it_is():
    inputs = KvInputs(1, 1, 64, 64, length=1128, cache_dtype="int4")
    assert cache_bytes(inputs) == 1000 * 128 // 2 + 4 * (1000 * 128 // 64) + 128 * 128 * 2
    short = dataclasses.replace(inputs, length=100)
    assert cache_bytes(short) == 100 * 128 * 2


def test_parts_sum_and_grow_with_length_and_batch():
    for inputs in make_plan_fixture.GENERATIONS:
        total = total_of(kv_parts(inputs))
        assert total == sum(part.bytes for part in kv_parts(inputs))
        longer = dataclasses.replace(inputs, length=inputs.length + 500)
        wider = dataclasses.replace(inputs, batch=inputs.batch + 1)
        assert min(total_of(kv_parts(longer)), total_of(kv_parts(wider))) >= total


@pytest.mark.parametrize("inputs", make_plan_fixture.GENERATIONS)
@pytest.mark.parametrize("capacity", make_plan_fixture.CAPACITIES)
def test_what_fits_does_and_one_more_does_not(inputs, capacity):
    def fits(**changes):
        parts = kv_parts(dataclasses.replace(inputs, **changes))
        return verdict(total_of(parts), capacity) == "fits"

    longest, batch = longest_sequence(inputs, capacity), largest_batch(inputs, capacity)
    assert longest == 0 or fits(length=longest, prompt=0)
    assert not fits(length=longest + 1, prompt=0)
    assert batch == 0 or fits(batch=batch)
    assert not fits(batch=batch + 1)


def test_a_configuration_comes_from_a_mapping_an_object_a_model_or_a_file(tmp_path):
    class Config:
        def __init__(self):
            self.__dict__.update(LLAMA)

    class Model:
        config = Config()

    file = tmp_path / "config.json"
    file.write_text(json.dumps(LLAMA))
    wanted = kv_inputs_of(LLAMA)
    forms = (Config(), Model(), file, str(file), tmp_path, {"text_config": LLAMA})
    assert [kv_inputs_of(form) for form in forms] == [wanted] * len(forms)
    assert wanted.parameters == 6_738_415_616


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, "lacks num_hidden_layers, hidden_size, num_attention_heads"),
        ({**LLAMA, "is_encoder_decoder": True}, "of its encoder's output is not planned"),
        (7, "int is no configuration of a model."),
        ({**LLAMA, "torch_dtype": "bf61"}, "Did you mean 'bf16'?"),
    ],
)
def test_what_is_no_configuration_is_said(config, said):
    with pytest.raises(UsageError) as caught:
        kv_inputs_of(config)
    assert said in str(caught.value)


@pytest.mark.parametrize("content", ["{", "[]", "\x00"])
def test_a_file_that_holds_none(tmp_path, content):
    file = tmp_path / "config.json"
    file.write_text(content)
    with pytest.raises(UnreadableFile):
        kv_inputs_of(file)
    with pytest.raises(MemtrackError, match=r"There is no file .* config\.json"):
        kv_inputs_of(tmp_path / "nothing.json")


SMALL = {
    "num_hidden_layers": 4,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
    "vocab_size": 101,
}


def test_the_cache_of_transformers_is_as_large():
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(**SMALL)
    model = transformers.LlamaForCausalLM(config).eval()
    with torch.no_grad():
        cache = model(torch.ones(3, 17, dtype=torch.long), use_cache=True).past_key_values
    tensors = [one for layer in cache.layers for one in (layer.keys, layer.values)]
    real = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    assert real == cache_bytes(kv_inputs_of(model, length=17, batch=3, dtype="fp32"))


@pytest.mark.parametrize(
    ("name", "options", "tolerance"),
    [
        ("Llama", {}, 0),
        ("Mistral", {"head_dim": 24}, 0),
        ("Mixtral", {"num_local_experts": 4}, 0),
        ("Qwen2", {"tie_word_embeddings": True}, 0),
        ("Gemma3", {}, 0.05),
    ],
)
def test_parameters_are_those_of_the_real_model(name, options, tolerance):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    kind = "Gemma3TextConfig" if name == "Gemma3" else f"{name}Config"
    config = getattr(transformers, kind)(**SMALL, **options)
    with torch.device("meta"):
        model = getattr(transformers, f"{name}ForCausalLM")(config)
    real = sum(parameter.numel() for parameter in model.parameters())
    assert kv_inputs_of(config).parameters == pytest.approx(real, rel=tolerance, abs=0)


LATENT = {"q_lora_rank": 24, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 16}
LATENT |= {"v_head_dim": 16, "n_routed_experts": 4, "n_group": 1, "topk_group": 1}
LATENT |= {"num_experts_per_tok": 2, "moe_intermediate_size": 32, "first_k_dense_replace": 1}


@pytest.mark.parametrize(
    ("name", "options"),
    [("DeepseekV3", LATENT), ("Falcon", {"multi_query": True}), ("Falcon", {"multi_query": False})],
)
def test_latents_and_shared_heads_are_cached_as_transformers_does(name, options):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers", minversion="5.20")
    small = {**SMALL, "num_key_value_heads": 4, "ffn_hidden_size": SMALL["intermediate_size"]}
    config = getattr(transformers, f"{name}Config")(**small, **options)
    model = getattr(transformers, f"{name}ForCausalLM")(config).eval()
    with torch.no_grad():
        cache = model(torch.ones(3, 17, dtype=torch.long), use_cache=True).past_key_values
    tensors = [one for layer in cache.layers for one in (layer.keys, layer.values)]
    real = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    assert real == cache_bytes(kv_inputs_of(model, length=17, batch=3, dtype="fp32"))
    counted = sum(parameter.numel() for parameter in model.parameters())
    assert kv_inputs_of(config).parameters == pytest.approx(counted, rel=0.03)


def test_layers_without_keys_cache_none():
    kinds = ["linear_attention", "linear_attention", "conv", "full_attention"]
    mixed = kv_inputs_of({**SMALL, "num_hidden_layers": 4, "layer_types": kinds}, length=64)
    whole = kv_inputs_of({**SMALL, "num_hidden_layers": 4}, length=64)
    assert cache_bytes(mixed) == cache_bytes(whole) // 4
    assert mixed.parameters == whole.parameters
    period = {"attn_layer_period": 4, "attn_layer_offset": 2}
    assert cache_bytes(
        kv_inputs_of({**SMALL, "num_hidden_layers": 8, **period}, length=64)
    ) == cache_bytes(kv_inputs_of({**SMALL, "num_hidden_layers": 2}, length=64))


def test_chunks_bound_their_layers():
    kinds = ["chunked_attention"] * 3 + ["full_attention"]
    config = {**SMALL, "num_hidden_layers": 4, "layer_types": kinds, "attention_chunk_size": 32}
    one = cache_bytes(kv_inputs_of({**SMALL, "num_hidden_layers": 1}, length=32))
    assert cache_bytes(kv_inputs_of(config, length=128)) == 3 * one + 4 * one


def test_the_parameters_of_deepseek_v3_are_671_billion():
    config = {
        "model_type": "deepseek_v3",
        "num_hidden_layers": 61,
        "hidden_size": 7168,
        "num_attention_heads": 128,
        "num_key_value_heads": 128,
        "intermediate_size": 18432,
        "moe_intermediate_size": 2048,
        "n_routed_experts": 256,
        "n_shared_experts": 1,
        "first_k_dense_replace": 3,
        "q_lora_rank": 1536,
        "kv_lora_rank": 512,
        "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128,
        "v_head_dim": 128,
        "vocab_size": 129280,
        "tie_word_embeddings": False,
    }
    inputs = kv_inputs_of(config, length=1)
    assert inputs.parameters == pytest.approx(671e9, rel=0.001)
    # The paper's 576 numbers a token and layer, whatever the heads.
    assert cache_bytes(inputs) == 61 * 576 * 2
