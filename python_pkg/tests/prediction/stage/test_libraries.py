"""Libraries beside torch: models made from their configurations, devices that are remembered."""

import subprocess
import sys
import textwrap

import pytest
import torch
from prediction.tested_gpu import GPU, KERNELS

from memtrack.errors import PredictionError
from memtrack.prediction.stage.stage import Stage

transformers = pytest.importorskip("transformers")

BERT = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 50}
T5 = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 1, "num_heads": 2, "vocab_size": 50}


@pytest.fixture(scope="module", autouse=True)
def made_once():
    """Make a model: transformers adds to `nn.Module` what it uses from then on."""
    transformers.BertModel(transformers.BertConfig(**BERT, intermediate_size=64))


@pytest.fixture
def saved(tmp_path):
    """Return the folder of a saved model without its weights, which nobody may want to read."""
    config = transformers.BertConfig(**BERT, intermediate_size=64)
    config.architectures = ["BertForSequenceClassification"]
    config.save_pretrained(tmp_path)
    return tmp_path


def bytes_of(model):
    """Return the bytes of a model's distinct parameters."""
    return sum(one.numel() * one.element_size() for one in model.parameters())


@pytest.mark.parametrize("name", ["BertForSequenceClassification", "AutoModel"])
def test_a_pretrained_model_is_made_from_its_configuration(saved, name):
    with Stage(GPU, KERNELS) as stage:
        model = getattr(transformers, name).from_pretrained(saved, num_labels=5).cuda()
        assert not model.training
        assert {stage.claimed_device(one).type for one in model.parameters()} == {"cuda"}
        staged = bytes_of(model)
    assert [one.operation for one in stage.assumptions] == ["from_pretrained"]
    config = transformers.BertConfig(**BERT, intermediate_size=64, num_labels=5)
    with torch.random.fork_rng():
        assert staged == bytes_of(getattr(transformers, type(model).__name__)(config))


def test_pretrained_weights_have_the_dtype_and_the_device_asked_for(saved):
    with Stage(GPU, KERNELS) as stage:
        model = transformers.BertModel.from_pretrained(
            saved, dtype=torch.bfloat16, device_map="auto", attn_implementation="eager"
        )
        assert {one.dtype for one in model.parameters()} == {torch.bfloat16}
        assert {stage.claimed_device(one) for one in model.parameters()} == {
            torch.device("cuda", 0)
        }
        assert model.config._attn_implementation == "eager"
        assert torch.get_default_dtype() == torch.float32


@pytest.mark.parametrize(("dtype", "kept"), [(torch.float16, 2), (torch.bfloat16, 0)])
def test_parts_that_a_model_keeps_whole_stay_in_fp32(tmp_path, dtype, kept):
    transformers.T5Config(**T5, num_decoder_layers=1).save_pretrained(tmp_path)
    with Stage(GPU, KERNELS):
        model = transformers.T5ForConditionalGeneration.from_pretrained(tmp_path, dtype=dtype)
        whole = [name for name, one in model.named_parameters() if one.dtype is torch.float32]
    assert len(whole) == kept
    assert all(name.endswith("wo.weight") for name in whole)


@pytest.mark.parametrize(
    "how", [{"load_in_8bit": True}, {"device_map": {"embeddings": 0, "encoder": "cpu"}}]
)
def test_what_cannot_be_made_from_a_configuration_is_refused(saved, how):
    with (
        pytest.raises(PredictionError, match=r"from_pretrained at test_libraries\.py:\d+"),
        Stage(GPU, KERNELS),
    ):
        transformers.BertModel.from_pretrained(saved, **how)


def test_models_load_as_before_once_a_prediction_has_ended(tmp_path):
    with torch.random.fork_rng():
        model = transformers.BertModel(transformers.BertConfig(**BERT, intermediate_size=64))
    model.save_pretrained(tmp_path)
    with Stage(GPU, KERNELS):
        transformers.BertModel.from_pretrained(tmp_path)
    with torch.random.fork_rng():
        again = transformers.BertModel.from_pretrained(tmp_path)
    assert torch.equal(next(again.parameters()), next(model.parameters()))


def test_libraries_imported_inside_the_program_are_met_in_time(saved):
    """In a process that has imported nothing of them before."""
    program = f"""
        import sys, torch, memtrack

        def build():
            from accelerate import Accelerator
            from transformers import BertForSequenceClassification
            accelerator = Accelerator()
            assert accelerator.device.type == "cuda"
            model = BertForSequenceClassification.from_pretrained({str(saved)!r})
            model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), 0.1))
            words = torch.ones(2, 8, dtype=torch.long, device=accelerator.device)
            labels = torch.zeros(2, dtype=torch.long, device=accelerator.device)
            def step():
                accelerator.backward(model(input_ids=words, labels=labels).loss)
                optimizer.step()
            return step

        assert memtrack.predict(build).peak_allocated > 0
        assert memtrack.predict(build).ledger.allocated > 0
        assert not [one for one in sys.meta_path if type(one).__name__ == "Loading"]
        from accelerate import Accelerator
        from accelerate.state import PartialState
        assert not PartialState._shared_state
        assert Accelerator(cpu=True).device.type == "cpu"
        assert memtrack.predict(build).peak_allocated > 0
        assert PartialState().device.type == "cpu"
    """
    pytest.importorskip("accelerate")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
