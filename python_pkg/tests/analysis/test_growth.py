"""What stays behind step after step is found; what was made once, or replaced, is not."""

import numpy as np
import pytest
import slow_growth
from hypothesis import HealthCheck, given, settings
from random_recordings import recordings, steps
from slow_twin import SlowTwin
from synthetic import Category, PhaseKind, Script

from memtrack.analysis import allocated, growth
from memtrack.analysis.reserved import reserved
from memtrack.analysis.sites import sites

MIB = 1 << 20
GRAPH = 8 * MIB
twins = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Loop:
    """A training loop: an activation a layer, gradients, a loss that is replaced, Adam in step 0."""

    def __init__(self):
        self.script = Script()
        self.script.device()
        self.layers = [self.script.layer(name) for name in ("a", "b")]
        self.script.older(4 * MIB, Category.PARAMETER)
        self.loss = None
        self.lines = {}

    def stack(self, line):
        return self.script.stack(("train.py", "step", line))

    def alloc(self, size, category, line, **values):
        return self.script.alloc(size, category, stack=self.stack(line), **values)

    def run(self, steps, after=lambda step: None, keep_graph=lambda step: False):
        for step in range(steps):
            self.script.phase(PhaseKind.FORWARD, step)
            self.batch = self.alloc(MIB, Category.INPUT, 10)
            graph = []
            for layer in self.layers:
                with self.script.call(layer):
                    graph.append(self.alloc(GRAPH, Category.ACTIVATION, 20, layer=layer))
                    self.script.save(graph[-1])
            loss = self.alloc(512, Category.OUTPUT, 30)
            if self.loss is not None:
                self.script.free(self.loss)
            self.loss = loss
            self.script.phase(PhaseKind.BACKWARD)
            gradients = [self.alloc(MIB, Category.GRADIENT, 40, layer=at) for at in self.layers]
            if not keep_graph(step):
                for row in graph:
                    self.script.free(row)
            self.script.phase(PhaseKind.OPTIMIZER)
            if step == 0:
                self.alloc(8 * MIB, Category.OPTIMIZER_STATE, 50)
            for row in gradients:
                self.script.free(row)
            self.script.free(self.batch)
            after(step)
        return self.script.build()


def test_an_ordinary_loop_does_not_grow():
    found = growth(Loop().run(10), 0)
    assert (found.steps, found.groups, found.bytes, found.keeps_graphs) == (10, [], 0, False)
    assert found.kept.tolist() == [8 * MIB, *[0] * 9], "the optimizer's state, made once"


def test_a_scalar_kept_by_every_step():
    loop = Loop()
    data = loop.run(10, lambda step: loop.alloc(512, Category.OUTPUT, 60, name="loss"))
    (group,) = growth(data, 0).groups
    assert (group.site, group.layer, group.category) == ("train.py:60 step", -1, Category.OUTPUT)
    assert (group.steps, group.first_step, group.step_bytes) == (9, 0, 512)
    assert group.kept.tolist() == [512] * 9 + [0], "what the last step leaves is not known yet"
    assert group.bytes == 9 * 512
    assert (group.saved_bytes, growth(data, 0).keeps_graphs) == (0, False)
    assert data.string(int(data.allocations["name"][group.allocation])) == "loss"


def test_losses_that_keep_their_graphs():
    data = Loop().run(8, keep_graph=lambda step: True)
    found = growth(data, 0)
    assert [(group.layer, group.category) for group in found.groups] == [
        (0, Category.ACTIVATION),
        (1, Category.ACTIVATION),
    ]
    assert found.keeps_graphs
    assert (found.step_bytes, found.bytes) == (2 * GRAPH, 14 * GRAPH)
    assert found.growing.tolist() == [2 * GRAPH] * 7 + [0]
    assert {group.saved_bytes for group in found.groups} == {7 * GRAPH}


@pytest.mark.parametrize("parity", [0, 1])
def test_a_leak_in_every_other_step(parity):
    loop = Loop()

    def leak(step):
        if step % 2 == parity:
            loop.alloc(MIB, Category.OTHER, 60)

    found = growth(loop.run(10, leak), 0)
    (group,) = found.groups
    assert (group.first_step, group.step_bytes) == (parity, MIB)
    assert found.step_bytes == round(MIB * (4 - parity) / 7), "on average"
    assert np.flatnonzero(group.kept).tolist() == list(range(parity, 9, 2))


def test_logits_that_are_collected_until_the_end_of_an_epoch():
    loop, kept = Loop(), []

    def collect(step):
        kept.append(loop.alloc((step + 1) * MIB, Category.OUTPUT, 60))
        if step % 6 == 5:
            while kept:
                loop.script.free(kept.pop())

    (group,) = growth(loop.run(20, collect), 0).groups
    assert group.site == "train.py:60 step"
    assert group.bytes == 19 * MIB, "what the epoch under way has collected up to the last step"


@pytest.mark.parametrize(("left", "found"), [(4, 1), (5, 0)])
def test_what_falls_to_less_than_half_starts_again(left, found):
    loop, kept = Loop(), []

    def collect(step):
        kept.append(loop.alloc(MIB, Category.OUTPUT, 60))
        if len(kept) == 11:  # of which the last is not a step old yet
            while len(kept) > left + 1:
                loop.script.free(kept.pop(0))

    assert len(growth(loop.run(40, collect), 0).groups) == found


def test_a_cache_that_is_full_does_not_grow():
    loop, kept = Loop(), []

    def cache(step):
        kept.append(loop.alloc(MIB, Category.OTHER, 60))
        if len(kept) > 4:
            loop.script.free(kept.pop(0))

    assert growth(loop.run(20, cache), 0).groups == []


def test_a_cache_that_is_filled_once_does_not_grow():
    loop = Loop()
    data = loop.run(20, lambda step: step < 4 and loop.alloc(MIB, Category.OTHER, 60))
    assert growth(data, 0).groups == []


def test_a_buffer_whose_entries_change_their_sizes_does_not_grow():
    loop, kept = Loop(), []

    def replace(step):
        kept.append(loop.alloc((step * 7 % 5 + 1) * MIB, Category.OTHER, 60))
        if len(kept) > 4:
            loop.script.free(kept.pop(0))

    assert growth(loop.run(30, replace), 0).groups == []


def test_a_step_under_way_is_not_counted():
    loop = Loop()
    loop.run(6, lambda step: loop.alloc(512, Category.OUTPUT, 60))
    assert growth(loop.script.build(), 0).steps == 6
    loop.script.phase(PhaseKind.FORWARD, 6)
    loop.alloc(5 * MIB, Category.ACTIVATION, 20)
    found = growth(loop.script.build(state="recording"), 0)
    assert (found.steps, len(found.groups)) == (6, 1)


def test_three_steps_are_too_few_to_tell():
    loop = Loop()
    data = loop.run(3, lambda step: loop.alloc(512, Category.OUTPUT, 60))
    assert growth(data, 0).groups == []


def test_of_too_many_groups_the_largest_are_given():
    loop = Loop()

    def leak(step):
        for line in range(150):
            loop.alloc(512 * (line + 1), Category.OTHER, 100 + line)

    found = growth(loop.run(6, leak), 0)
    assert (len(found.groups), found.omitted) == (100, 50)
    assert found.groups[0].site == "train.py:249 step"
    assert found.omitted_bytes == 5 * 512 * sum(range(1, 51))
    assert found.bytes == 5 * 512 * sum(range(1, 151))
    assert found.step_bytes == 512 * sum(range(1, 151))


def dynamic_shapes(sizes, keep_segments=True):
    """A step for each of `sizes`: a request of so many MiB in a segment of its own."""
    script = Script()
    script.device()
    for step, size in enumerate(sizes):
        script.phase(PhaseKind.FORWARD, step)
        (segment,) = script.hold(1 << 40, size * MIB)
        script.free(script.alloc(size * MIB, address=1 << 40))
        if not keep_segments:
            script.give_back(segment)
    return script.build(source="allocator")


def test_reserved_creeps_when_requests_of_new_sizes_find_no_block():
    found = growth(dynamic_shapes([80, 70, 60, 50, 40, 30]), 0).creep
    assert found.peak.tolist() == [size * MIB for size in (80, 70, 60, 50, 40, 30)]
    assert found.grown.tolist() == [0, 0, *(size * MIB for size in (60, 50, 40, 30))]
    assert (found.is_found, found.steps, found.first_step) == (True, 4, 2)
    assert found.bytes == 180 * MIB
    assert found.sizes.tolist() == found.new_sizes.tolist() == [1] * 6


def test_reserved_that_grows_with_the_need_does_not_creep():
    script = Script()
    script.device()
    for step in range(8):
        script.phase(PhaseKind.FORWARD, step)
        script.hold((1 << 40) + step * 20 * MIB, 20 * MIB)
        script.alloc(20 * MIB, address=(1 << 40) + step * 20 * MIB)
    found = growth(script.build(source="allocator"), 0).creep
    assert (found.is_found, found.bytes, found.first_step) == (False, 0, -1)
    assert (found.sizes.tolist(), found.new_sizes.tolist()) == ([1] * 8, [1, *[0] * 7])


def test_reserved_that_is_given_back_does_not_creep():
    assert not growth(dynamic_shapes([80, 70, 60, 50, 40], keep_segments=False), 0).creep.is_found


def opened(sizes, least=0):
    """A recording without steps: 300 times for each of `sizes` a request of so many MiB."""
    script = Script()
    script.device()
    script.phase(PhaseKind.OTHER, 0)
    for number, size in enumerate(sizes):
        if size > least:
            script.hold((1 << 40) + number * 1000 * MIB, size * MIB)
        address = (1 << 40) + (number if size > least else 0) * 1000 * MIB
        for _ in range(300):
            script.free(script.alloc(size * MIB, address=address))
    return script.build(source="allocator")


def test_without_steps_reserved_creeps_from_part_to_part():
    found = growth(opened(range(40, 20, -1)), 0)
    assert found.creep is None
    over_time = found.creep_over_time
    assert over_time.peak.tolist() == [size * MIB for size in range(40, 20, -1)]
    assert (over_time.is_found, over_time.first_step, over_time.steps) == (True, 1, 19)
    assert over_time.bytes == sum(range(21, 40)) * MIB


def test_blocks_that_are_used_again_do_not_creep():
    found = growth(opened(range(40, 20, -1), least=39), 0).creep_over_time
    assert (found.is_found, found.bytes) == (False, 0)


def test_a_short_recording_without_steps_tells_nothing_over_time():
    assert growth(opened([3, 2]), 0).creep_over_time is None


def test_without_an_allocators_history_nothing_creeps():
    assert growth(Loop().run(5), 0).creep is None


@twins
@given(steps())
def test_growth_of_random_steps(data):
    check_against_twin(data)


@twins
@given(recordings())
def test_growth_of_random_recordings(data):
    check_against_twin(data)


def check_against_twin(data):
    codes, names = sites(data, data.allocations["stack"])
    for device in range(len(data.devices)):
        twin = SlowTwin(data, device)
        found = growth(data, device)
        expected = slow_growth.growing(
            twin, lambda row: names[codes[row]] if codes[row] >= 0 else ""
        )
        groups = {(one.site, one.layer, one.category): one for one in found.groups}
        assert set(groups) == set(expected)
        for key, one in groups.items():
            assert (one.steps, one.first_step, one.step_bytes, one.bytes) == expected[key]
        assert found.bytes == sum(one[3] for one in expected.values())
        assert found.steps == len(slow_growth.ends_of_steps(twin))
        if found.creep:
            held = reserved(data, device, np.arange(data.cuts + 1), allocated(data, device))
            columns = ("peak", "reserved", "grown", "sizes", "new_sizes")
            table = [getattr(found.creep, column).tolist() for column in columns]
            assert list(zip(*table, strict=True)) == slow_growth.creeping(twin, held.tolist())
