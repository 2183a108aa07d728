"""Whatever its figures, wording and surroundings: a message keeps its kind and its numbers."""

import pytest
from error_messages import FIXED, KINDS, MANGLINGS, mangled
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memtrack.diagnosis.explain import explain_text
from memtrack.diagnosis.reading import read_text

SIZES = st.one_of(
    st.tuples(st.integers(0, 1023), st.just("bytes")),
    st.tuples(st.integers(100, 102400), st.sampled_from(["KiB", "MiB", "GiB"])),
)
NAMES = st.lists(st.sampled_from(sorted(MANGLINGS)), max_size=3, unique=True)
SEEDS = st.integers(0, 2**32)


@st.composite
def messages(draw, makers=KINDS):
    maker = draw(st.sampled_from(makers))
    return maker(lambda: draw(SIZES), lambda options: draw(st.sampled_from(options)))


def assert_read(message, text):
    failure = read_text(text).first
    assert failure is not None, text
    assert (failure.kind, failure.device_memory) == (message.kind, message.device_memory), text
    assert dict(failure.numbers) == message.numbers, text
    assert [(one.pid, one.bytes) for one in failure.processes] == message.processes, text


@settings(max_examples=300, deadline=None)
@given(messages())
def test_every_wording_keeps_its_numbers(message):
    assert_read(message, message.text)


@settings(max_examples=500, deadline=None)
@given(messages(), NAMES, SEEDS)
def test_mangling_changes_nothing(message, names, seed):
    assert_read(message, mangled(message.text, names, seed))


@pytest.mark.parametrize("name", sorted(MANGLINGS))
@pytest.mark.parametrize(("text", "kind", "device_memory"), FIXED)
def test_each_mangling_of_each_sentence(name, text, kind, device_memory):
    failure = read_text(mangled(text, [name], 1)).first
    assert failure is not None
    assert (failure.kind, failure.device_memory) == (kind, device_memory)


@settings(max_examples=300, deadline=None)
@given(messages(KINDS[:3]), st.floats(0.0, 1.0))
def test_a_cut_end_loses_figures_and_changes_none(message, share):
    head = message.text.index("memory") + len("memory.")
    cut = message.text[: head + int(share * (len(message.text) - head))]
    failure = read_text(cut).first
    assert failure is not None
    assert failure.kind == message.kind
    assert failure.numbers.items() <= message.numbers.items()


@settings(max_examples=200, deadline=None)
@given(messages(KINDS[:2]), st.floats(0.0, 0.6))
def test_a_cut_beginning_loses_figures_and_changes_none(message, share):
    cut = message.text[int(share * len(message.text)) :]
    for failure in read_text(cut).failures:
        assert failure.device_memory
        for name, number in failure.numbers.items():
            # The first figure may have lost its first digits.
            assert number == message.numbers[name] or cut.lstrip()[:1] in "0123456789."


@settings(max_examples=200, deadline=None)
@given(messages(), NAMES, SEEDS)
@example(KINDS[6](None, lambda options: options[0]), [], 0)
def test_every_explanation_can_be_shown_and_is_honest(message, names, seed):
    diagnosis = explain_text(mangled(message.text, names, seed))
    shown = diagnosis.to_json("zh_CN")
    assert shown["kind"] == message.kind
    confidences = [cause["confidence"] for cause in shown["causes"]]
    assert confidences == sorted(confidences, reverse=True)
    assert all(0 < one <= 0.95 for one in confidences)
    assert all(type(number) is int for number in diagnosis.numbers.values())


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_read(text):
    assert read_text(text).lines >= 0
    assert explain_text(text).headline.render()
