"""An error that is known by its class alone, raised without words or with words of one's own."""

import pytest

from memtrack.diagnosis.explain import explain_text

DEVICE = ["OutOfMemoryError", "torch.OutOfMemoryError", "torch.cuda.OutOfMemoryError"]


@pytest.mark.parametrize("words", ["", ":", ": budget exceeded", ": micro batch 12 too large"])
@pytest.mark.parametrize("name", DEVICE)
def test_torchs_class_is_of_the_device(name, words):
    found = explain_text(
        f"Traceback (most recent call last):\n  File 'a.py', line 3\n{name}{words}\n"
    )
    assert (found.kind, found.device_memory) == ("cuda_oom", True)
    assert found.numbers == {} and found.message == f"{name}{words}"
    assert all(cause.confidence < 0.6 for cause in found.causes)


@pytest.mark.parametrize(
    "line",
    [
        "java.lang.OutOfMemoryError: Java heap space",
        "mylib.OutOfMemoryErrorHandler: budget exceeded",
        "OutOfMemoryErrors: 3",
        "ValueError: OutOfMemoryError",
    ],
)
def test_other_classes_are_not(line):
    assert explain_text(line).kind in ("none", "story")


def test_words_outrank_the_class():
    found = explain_text("torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB")
    assert found.kind == "hip_oom" and found.numbers == {"requested": 2 << 30}


def test_a_later_error_does_not_hide_the_class_of_the_text():
    found = explain_text("OutOfMemoryError: budget exceeded\n")
    assert explain_text("step 4\nOutOfMemoryError: budget exceeded\n").kind == found.kind
