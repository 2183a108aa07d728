"""Readings of statistics as moments with names, and what they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings_script import figures, read, training
from synthetic import PhaseKind, Script

from memtrack.analysis.moments import find_moment, grouped
from memtrack.analysis.summary import devices_read, offered, statistics, summaries, summary
from memtrack.errors import UsageError
from memtrack.recording.categories import ReadingKind


def names(data, device=0):
    return [moment.name for moment in summaries(data, device)]


def nonzero(values):
    return {name: value for name, value in values.items() if value}


def test_moments_have_names_people_would_use():
    data = training(steps=2).build()
    data.self_check()
    assert names(data) == [
        "start",
        "step 1 forward",
        "step 1 backward",
        "step 1 optimizer",
        "step 1",
        "step 2 forward",
        "step 2 backward",
        "step 2 optimizer",
        "before eval",
        "end",
    ]


def test_names_do_not_depend_on_whether_a_phase_is_closed_before_or_after_its_reading():
    script = Script()
    script.device()
    script.phase(PhaseKind.OTHER, step=0)
    for kind in (PhaseKind.FORWARD, PhaseKind.BACKWARD):
        script.phase(kind, step=0)
        script.now += 100_000
        read(script, ReadingKind.PHASE, figures(1))  # before the end is written down
        script.now += 3_000
    script.phase(PhaseKind.OTHER, step=0)
    assert names(script.build()) == ["step 1 forward", "step 1 backward"]


def test_summary_is_what_was_read():
    data = training(steps=2).build()
    moment = find_moment(data, 0, "step 2 backward")
    assert summary(data, 0, moment.row) == nonzero(figures(6))
    with pytest.raises(ValueError, match="not of device 1"):
        summary(data, 1, moment.row)


def test_statistics_hold_every_reading():
    data = training(steps=3, devices=2).build()
    assert devices_read(data) == [0, 1]
    for device in (0, 1):
        table = statistics(data, device)
        assert list(table.names) == sorted(table.names)
        assert table.values.shape == (len(table.moments), len(table.names))
        for moment, values in zip(table.moments, table.values.tolist(), strict=True):
            said = nonzero(dict(zip(table.names, values, strict=True)))
            assert said == summary(data, device, moment.row)
        assert (np.diff(table.columns["time_ns"]) > 0).all()
        assert table.columns["kind"][0] == ReadingKind.START
        assert table.columns["step"].max() == 2
        assert table.columns["phase"][1] == PhaseKind.FORWARD
    assert statistics(Script().build(), 0) is None


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("start", "start"),
        ("END", "end"),
        ("last", "end"),
        ("step 2", "step 2"),
        ("Step  2", "step 2"),
        ("step 2 forward", "step 2 forward"),
        ("step 3 optimizer", "step 3 optimizer"),
        ("step 3", "end"),  # the last step lasts until the end
        ("before eval", "before eval"),
        ("peak", "step 3 backward"),
    ],
)
def test_moments_are_found(words, name):
    assert find_moment(training().build(), 0, words).name == name


def test_peak_is_the_first_reading_that_lies_after_it():
    data = training().build()
    from memtrack.analysis import peak

    found = find_moment(data, 0, "peak")
    before = [moment for moment in summaries(data, 0) if moment.cut < peak(data, 0).cut]
    assert before[-1].row + 1 == found.row


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("strat", "There is no moment 'strat'. Did you mean 'start'? There are: start, step 1 f"),
        ("before evl", "There is no moment 'before evl'. Did you mean 'before eval'? There are: "),
        ("step 9 forward", "There is no moment 'step 9 forward'. Did you mean 'step 3 forward'?"),
        ("step 9", "There is no moment 'step 9'. Did you mean 'step 3'? There are: "),
        ("zzz", "There is no moment 'zzz'. There are: start, step 1 forward, step 1 backward, s"),
    ],
)
def test_an_unknown_moment_is_told_with_the_closest_and_what_there_is(words, sentence):
    with pytest.raises(UsageError) as raised:
        find_moment(training().build(), 0, words)
    assert str(raised.value).startswith(sentence)
    assert str(raised.value).endswith("step 3 optimizer, before eval, end.")
    assert len(str(raised.value)) < 400


def test_moments_of_the_same_name_are_numbered_and_the_bare_name_is_ambiguous():
    data = training(steps=1, marks=("eval", "eval", "start")).build()
    assert names(data)[-4:-1] == ["eval 1", "eval 2", "start 2"]
    assert find_moment(data, 0, "eval 2").row == find_moment(data, 0, "eval 1").row + 1
    with pytest.raises(UsageError) as raised:
        find_moment(data, 0, "eval")
    assert str(raised.value) == "'eval' names 2 moments. Which one? eval 1, eval 2."
    assert find_moment(data, 0, "start 1").kind is ReadingKind.START


def test_several_forwards_of_a_step_are_numbered():
    script = Script()
    script.device()
    for kind in (PhaseKind.FORWARD, PhaseKind.BACKWARD) * 2:
        script.phase(kind, step=0)
        script.now += 100_000
        read(script, ReadingKind.PHASE, figures(1))
    assert names(script.build()) == [
        "step 1 forward 1",
        "step 1 backward 1",
        "step 1 forward 2",
        "step 1 backward 2",
    ]


def test_a_step_without_a_reading_of_its_own_is_its_last_phase():
    script = training(steps=2)
    script.builder["readings"].set(4, kind=int(ReadingKind.MARK), label=0)
    assert find_moment(script.build(), 0, "step 1").name == "step 1 optimizer"


def test_end_of_a_running_recording_is_its_latest_reading():
    script = training(steps=1)
    last = len(script.builder["readings"]) - 1
    script.builder["readings"].set(last, kind=int(ReadingKind.PHASE))
    for words in ("end", "last"):
        assert find_moment(script.build(), 0, words).row == last


def test_an_allocator_of_its_own_kind_offers_what_was_seen():
    script = Script()
    script.device(kind="mps")
    script.phase(PhaseKind.OTHER, step=0)
    read(script, ReadingKind.START, {"allocated_bytes.all.current": 3})
    assert offered(script.build(), 0) == {"allocated_bytes.all.current"}
    assert offered(training().build(), 0) is None


KNOWN = ("start", "end", "before eval", "before", "step 3", "eval 2")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("start end", ["start", "end"]),
        ("step 3", ["step 3"]),
        ("step 3 forward end", ["step 3 forward", "end"]),
        ("step 3 step 4 backward", ["step 3", "step 4 backward"]),
        ("step 3 forward 2 start", ["step 3 forward 2", "start"]),
        ("before eval start", ["before eval", "start"]),
        ("before end", ["before", "end"]),
        ("eval 2", ["eval 2"]),
        ("Step 7 Forward", ["Step 7 Forward"]),
        ("nothing of this", ["nothing", "of", "this"]),
        ("", []),
    ],
)
def test_words_are_put_together_to_names(words, found):
    assert grouped(words.split(), KNOWN) == found


@given(st.lists(st.sampled_from([*KNOWN, "step 12 forward", "step 5", "x"]), max_size=6))
def test_names_are_found_again_in_their_words(moments):
    words = " ".join(moments).split()
    assert " ".join(grouped(words, KNOWN)).split() == words
    assert grouped(moments, KNOWN) == moments or "before" in moments
