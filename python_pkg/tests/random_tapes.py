"""Random runs of a simulated allocator for hypothesis: actions that are played on a `Tape`."""

from hypothesis import strategies as st
from tape import Tape

from memtrack.allocator.settings import MIB, Settings

sizes = st.one_of(
    st.integers(1, 4096), st.sampled_from([MIB, MIB + 1, 10 * MIB]), st.integers(1, 48 * MIB)
)
actions = st.one_of(
    st.tuples(
        st.just("malloc"), sizes, st.sampled_from([0, 0, 7]), st.sampled_from([None, None, "0.1"])
    ),
    st.tuples(st.just("malloc"), sizes, st.just(0), st.none()),
    st.tuples(st.sampled_from(["free", "free", "free_later", "complete"]), st.integers(0, 1000)),
    st.tuples(st.just("empty_cache")),
)
told = st.sampled_from(
    [
        {},
        {"expandable_segments": True},
        {"max_split_size": 20 * MIB},
        {"roundup_power2_divisions": {str(1 << i): 4 for i in range(16)}},
        {"PYTORCH_CUDA_ALLOC_CONF": "large_segment_size_mb:40", "max_split_size": -1},
        {
            "PYTORCH_CUDA_ALLOC_CONF": "per_process_memory_fraction:0.9",
            "garbage_collection_threshold": 0.6,
        },
    ]
)


def play(tape, script):
    """Play actions on a tape until they are through."""
    live = []
    for name, *arguments in script:
        if name == "begin":
            tape.begin()
        elif name == "malloc":
            block = tape.malloc(*arguments)
            live += [block] if block is not None else []
        elif name == "free" and live:
            tape.free(live.pop(arguments[0] % len(live)))
        elif name == "free_later" and live and tape.begun:
            tape.free_later(live.pop(arguments[0] % len(live)))
        elif name == "complete" and tape.waiting:
            tape.free([*tape.waiting][arguments[0] % len(tape.waiting)])
        elif name == "empty_cache":
            tape.allocator.empty_cache()
    tape.allocator.synchronize()


@st.composite
def tapes(draw):
    """A tape of a run that was going on before its recording began."""
    said = draw(told)
    tape = Tape(
        Settings.from_snapshot(said), draw(st.sampled_from([None, 150 * MIB, 400 * MIB])), said
    )
    before, during = st.lists(actions, max_size=60), st.lists(actions, min_size=10, max_size=60)
    play(tape, [*draw(before), ("begin",), *draw(during)])
    return tape
