"""Laws of changed recordings: sound, summing, and nothing changed where nothing is done."""

import itertools

import numpy as np
import pytest
from large_recording import large_recording
from small_programs import recorded

from memtrack.analysis import alive, allocated, by_category, layer_table, peak
from memtrack.errors import UnavailableError, UsageError
from memtrack.recording import Category, PhaseKind, RecordingBuilder
from memtrack.recording.data import Facts
from memtrack.remedies import advise, savings
from memtrack.remedies.base import LASTING, OLDER, Ground
from memtrack.remedies.catalogue import recipes
from memtrack.remedies.combine import Combiner
from memtrack.remedies.recipe import Bound
from memtrack.remedies.remedy import Base
from memtrack.remedies.rerun import reserved_peak, to_recording
from memtrack.remedies.scene import Scene

ALL = {one.id: one for one in recipes()}


@pytest.fixture(scope="module")
def scene():
    return Scene.of(Ground.of(recorded(), 0))


@pytest.fixture(scope="module")
def cuda_scene():
    return Scene.of(Ground.of(large_recording(3, 6, 10), 0))


def usable(scene):
    return [one for one in ALL.values() if one.refuse(scene) is None]


def test_an_empty_set_changes_nothing(scene, cuda_scene):
    for one in (scene, cuda_scene):
        data = one.ground.data
        assert one.peak == int(allocated(data, 0).max())
        again = to_recording(one)
        again.self_check()
        assert peak(again, 0).bytes == one.peak
        window = allocated(data, 0)[one.ground.first : one.ground.last + 1]
        kinds = data.events["kind"][one.ground.first : one.ground.last]
        moves = np.flatnonzero(
            (kinds <= 1) & (data.events["bytes"][one.ground.first : one.ground.last] > 0)
        )
        assert np.array_equal(one.levels[1:], window[moves + 1])
    empty = Combiner(scene, Base(scene.peak, None), None).of(())
    assert (empty.peak, empty.saving_bytes) == (scene.peak, 0)


@pytest.mark.parametrize("bound", Bound)
@pytest.mark.parametrize("identifier", ALL)
def test_a_changed_recording_is_a_sound_one(scene, cuda_scene, identifier, bound):
    for one in (scene, cuda_scene):
        recipe = ALL[identifier]
        if recipe.refuse(one) is not None:
            continue
        changed = recipe.change(one, bound)
        assert (changed["start"] < changed["end"]).all()
        assert (changed["bytes"] > 0).all()
        data = to_recording(changed)
        data.self_check()
        at = peak(data, 0)
        assert at.bytes == changed.peak
        assert int(by_category(data, 0, np.array([at.cut])).sum()) == at.bytes
        assert int(data.allocations["bytes"][alive(data, 0, at.cut)].sum()) == at.bytes
        if len(data.layers):
            layer_table(data, 0)


def test_remedies_put_on_one_another_stay_sound(scene):
    combined = [one for one in usable(scene) if one.combines]
    for first, second in itertools.combinations(combined, 2):
        changed = second.change(first.change(scene, Bound.LIKELY), Bound.LIKELY)
        to_recording(changed).self_check()


def test_a_saving_is_the_old_peak_less_the_new_one():
    for data in (recorded(), large_recording(3, 6, 10)):
        found = advise(data)
        for one in found.remedies:
            if one.peak is not None:
                assert one.saving_bytes == found.base.peak - one.peak
                assert one.low <= one.peak <= one.high
            assert (
                str(one.why) and one.code and one.evidence in ("simulated", "estimated", "unknown")
            )
        for combination in found.combinations:
            assert combination.saving_bytes == found.base.peak - combination.peak


def test_remedies_are_ranked_by_what_they_save():
    found = [one for one in advise(recorded()).remedies if one.applies and one.peak is not None]
    assert [one.gain for one in found] == sorted((one.gain for one in found), reverse=True)
    assert all(one.gain > 0 for one in found)


def test_both_directions_of_order(scene):
    """Precision then recomputing: the cast copies stay to the end of the forward, so they count there."""
    autocast, checkpoint = ALL["bf16_autocast"], ALL["checkpoint_layers"]
    both = checkpoint.change(autocast.change(scene, Bound.LIKELY), Bound.LIKELY)
    casts = both.of_category(Category.CAST_WEIGHT)
    ends = both.ground.phase_end[both.ground.phase_kind == PhaseKind.FORWARD]
    in_blocks = casts & (both.ground.block_of[both["layer"]] >= 0)
    assert in_blocks.any()
    first = both["end"][in_blocks & (both.born_in == PhaseKind.FORWARD)]
    assert np.isin(first, ends).all()


def test_accumulation_keeps_gradients_through_the_last_forward(scene):
    changed = ALL["accumulate_gradients"].change(scene, Bound.LIKELY)
    forward = scene.ground.phase_start[scene.ground.phase_kind == PhaseKind.FORWARD][-1]
    gradients = changed.of_category(Category.GRADIENT)
    assert int(changed["bytes"][gradients & changed.alive_at(forward)].sum()) == int(
        scene["bytes"][scene.of_category(Category.PARAMETER)].sum()
    )
    half = scene.peak - changed.peak
    assert 0 < half < scene.peak / 2


def test_zero_stages_divide_what_they_say_by_the_gpus(scene):
    by_id = {gpus: {one.id: one for one in recipes(gpus)} for gpus in (1, 2, 4)}
    state = int(scene["bytes"][scene.of_category(Category.OPTIMIZER_STATE) & scene.at_peak].sum())
    assert by_id[1]["zero_1"].change(scene, Bound.LIKELY).peak == scene.peak
    for gpus in (2, 4):
        saved = scene.peak - by_id[gpus]["zero_1"].change(scene, Bound.LIKELY).peak
        assert saved == pytest.approx(state * (1 - 1 / gpus), rel=0.01)
    assert ALL["ddp"].change(scene, Bound.MOST).peak > scene.peak


def test_eight_bit_states_take_a_quarter_and_a_scale(scene):
    large = scene.of_category(Category.OPTIMIZER_STATE) & (scene["requested"] >= 4 * 4096)
    before = int(scene["requested"][large].sum())
    changed = ALL["eight_bit_optimizer"].change(scene, Bound.LIKELY)
    kept = np.isin(changed["row"], scene["row"][large])
    assert int(changed["requested"][kept].sum()) == pytest.approx(
        before / 4 * (1 + 4 / 256), rel=1e-3
    )


def test_reserved_is_of_the_whole_and_never_below_what_is_in_use(cuda_scene, scene):
    assert reserved_peak(scene) is None
    assert reserved_peak(cuda_scene) >= cuda_scene.peak
    found = advise(cuda_scene.ground.data)
    assert found.base.reserved == reserved_peak(cuda_scene)
    for one in found.remedies:
        if one.reserved is not None:
            assert one.reserved >= one.peak
            assert one.reserved_saving_bytes == found.base.reserved - one.reserved


def test_long_windows_count_small_blocks_rather_than_simulate_them(cuda_scene, monkeypatch):
    whole = reserved_peak(cuda_scene)
    monkeypatch.setattr("memtrack.remedies.rerun.MOST_EDGES", 10)
    assert reserved_peak(cuda_scene) == pytest.approx(whole, rel=0.02)


@pytest.mark.parametrize("share", [0.95, 0.8, 0.6, 0.4])
def test_a_budget_gets_the_mildest_set_that_fits(share):
    data = recorded()
    budget = int(share * advise(data).base.peak)
    found = advise(data, budget=budget)
    best = found.combinations[0]
    assert not found.fits
    harm = {one.id: one.harm for one in found.remedies}
    assert best.fits == (best.peak <= budget)
    if best.fits:
        assert list(best.ids) == sorted(best.ids, key=harm.get)
        scene = Scene.of(Ground.of(data, 0))
        combiner = Combiner(scene, Base(scene.peak, None), budget)
        for left_out in best.ids:
            assert not combiner.of([ALL[one] for one in best.ids if one != left_out]).fits
    groups = [ALL[one].group for one in best.ids if ALL[one].group]
    assert len(groups) == len(set(groups))


def test_a_budget_that_is_met_needs_nothing():
    found = advise(recorded(), budget=1 << 40)
    assert found.fits and found.combinations[0].ids == ()


def test_nothing_fits_into_a_byte_and_that_is_said():
    found = advise(recorded(), budget=1)
    assert not found.combinations[0].fits
    assert found.combinations[0].peak == min(one.peak for one in found.combinations)


def test_without_phases_only_what_needs_none_is_weighed():
    data = RecordingBuilder().build(Facts())
    with pytest.raises(UnavailableError, match="nothing to save"):
        advise(data)


@pytest.mark.parametrize("wrong", [{"budget": 0}, {"budget": -5}, {"gpus": 0}, {"gpus": 10**9}])
def test_wrong_figures_are_told_in_a_line(wrong):
    with pytest.raises(UsageError):
        advise(recorded(), **wrong)


def test_savings_are_those_of_the_remedies_by_the_ids_of_diagnoses():
    ids = ["checkpoint_layers", "accumulate_gradients", "leaner_optimizer", "raise_limit", "zero_1"]
    found, data = advise(recorded()), recorded()
    known = {one.id: one for one in found.remedies if one.applies and one.peak is not None}
    saved = savings(data, ids)
    assert set(saved) == set(ids[:3])
    for ours, theirs in zip(
        ids[:3], ("checkpoint_layers", "accumulate_gradients_4", "adafactor"), strict=True
    ):
        one = known[theirs]
        sure = found.base.peak - (one.high if one.evidence == "estimated" else one.peak)
        assert saved[ours] == sure > 0
    assert savings(data, []) == {} == savings(data, ["raise_limit"])


def test_a_hundred_thousand_events_are_weighed_in_seconds():
    import time

    data = large_recording(10, 100, 10)
    assert data.cuts == 100_000
    begin = time.process_time()
    told = []
    advise(data, budget=1 << 30, progress=lambda done, count: told.append((done, count)))
    assert time.process_time() - begin < 10  # 2 s on two idle cores
    assert told[-1][0] == told[-1][1] == len(ALL)


def test_windows_hold_what_is_older_and_what_stays(scene):
    assert (scene["start"] >= OLDER).all() and (scene["end"] <= LASTING).all()
    older = scene["start"] <= OLDER
    assert int(scene["bytes"][older].sum()) == int(
        allocated(scene.ground.data, 0)[scene.ground.first]
    )
