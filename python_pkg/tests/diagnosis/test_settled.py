"""What the evidence has answered is not asked again, and what it shows to be useless not advised."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oom_fixtures import CAUSES, case, facts, snapshot

from memtrack.diagnosis.advice.checks import CHECKS
from memtrack.diagnosis.combined import combine
from memtrack.diagnosis.evidence import ProcessFact, explain_recording
from memtrack.diagnosis.explain import explain_text


def ids(parts):
    return [one.id for one in parts]


@pytest.fixture(scope="module")
def both():
    """Each failure told by its text, and shown by its snapshot."""
    found = {}

    def explain(name):
        if name not in found:
            known = case(name)
            told = explain_text(f"{known['error_type']}: {known['message']}")
            found[name] = told, explain_recording(told, snapshot(name), 0, facts(name))
        return found[name]

    return explain


def test_who_has_seen_the_blocks_is_not_asked_for_a_snapshot(both):
    told, shown = both("fragmentation")
    assert "largest_block" in ids(told.checks)
    assert "largest_block" not in ids(shown.checks)
    assert "largest_block" not in ids(combine(told, shown).checks)


def test_growth_that_was_seen_or_excluded_is_no_question(both):
    assert "grows_each_step" not in ids(combine(*both("leak_loss_graph")).checks)
    assert "grows_each_step" in ids(combine(*both("backward_peak")).checks)


def test_other_processes_are_a_question_until_their_commands_are_known(both):
    told, shown = both("other_process")
    assert "who_is_there" in ids(combine(told, shown).checks)
    known = replace(facts("other_process"), processes=[ProcessFact(766, 1 << 37, "python t.py")])
    shown = explain_recording(told, snapshot("other_process"), 0, known)
    assert "who_is_there" not in ids(combine(told, shown).checks)


def test_segments_that_grow_are_advised_only_where_they_would_have_served(both):
    _, shown = both("fragmentation")
    assert ids(shown.advice)[0] == "expandable_segments"
    # Less room: what is free in pages of 20 MiB no longer serves it either.
    tight = replace(facts("fragmentation"), limit=(3 << 30) + (440 << 20))
    shown = explain_recording(None, snapshot("fragmentation"), 0, tight)
    told = [line.render() for line in shown.causes[0].evidence]
    assert "Simulated with expandable_segments, the request fails as well" in told
    assert "expandable_segments" not in ids(shown.advice)
    text = both("fragmentation")[0]
    assert "expandable_segments" in ids(text.advice)
    assert "expandable_segments" not in ids(combine(text, shown).advice)


CHECK_IDS = sorted({check.id for checks in CHECKS.values() for check in checks})


@settings(deadline=None)  # the first of each reads a snapshot
@given(name=st.sampled_from(sorted(CAUSES)), known=st.sets(st.sampled_from(CHECK_IDS)))
def test_what_is_settled_never_comes_back(both, name, known):
    told, shown = both(name)
    found = combine(told, replace(shown, settled=frozenset(known)))
    assert not set(ids(found.checks)) & known
