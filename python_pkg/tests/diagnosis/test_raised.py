"""Exceptions as text: in the order they came about, without what only the source says."""

import gc
import itertools
import sys
import weakref

import pytest

from memtrack.diagnosis.explain import explain_text
from memtrack.diagnosis.raised import LONGEST, MOST, chain, may_be_about_memory, text_of


def caught(function):
    try:
        function()
    except Exception as error:  # noqa: BLE001 - any error is what is wanted
        return error
    raise AssertionError("nothing was raised")


def fails():
    raise MemoryError("out of memory")


def test_the_first_cause_comes_first():
    def outer():
        try:
            fails()
        except MemoryError as error:
            raise ValueError("step failed") from error

    error = caught(outer)
    assert [type(one) for one in chain(error)] == [MemoryError, ValueError]
    text = text_of(error)
    assert text.index("MemoryError: out of memory") < text.index("ValueError: step failed")
    assert text.count("Traceback (most recent call last):") == 2


def test_what_python_hides_stays_hidden():
    def outer():
        try:
            fails()
        except MemoryError:
            raise ValueError("mine") from None

    assert [type(one) for one in chain(caught(outer))] == [ValueError]


def test_an_error_while_another_was_handled():
    def outer():
        try:
            fails()
        except MemoryError:
            {}["missing"]

    assert [type(one) for one in chain(caught(outer))] == [MemoryError, KeyError]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="groups of exceptions came with 3.11")
def test_members_of_a_group_stand_before_it_in_their_order():
    def outer():
        try:
            1 / 0  # noqa: B018
        except ZeroDivisionError:
            raise ExceptionGroup("workers", [caught(fails), ValueError("b")])  # noqa: F821, B904

    kinds = [type(one).__name__ for one in chain(caught(outer))]
    assert kinds == ["ZeroDivisionError", "MemoryError", "ValueError", "ExceptionGroup"]
    assert text_of(caught(outer)).count("MemoryError: out of memory") == 1


def test_circles_and_long_chains_end():
    first = ValueError("first")
    first.__cause__ = first
    assert chain(first) == [first]
    errors = [ValueError(str(number)) for number in range(3 * MOST)]
    for error, cause in itertools.pairwise(errors):
        error.__cause__ = cause
    assert len(chain(errors[0])) == MOST


def test_files_are_named_as_people_know_them():
    text = text_of(caught(fails), lambda file: "In [3]" if file == __file__ else file)
    assert 'File "In [3]", line ' in text and __file__ not in text


def test_the_message_in_the_source_of_a_raise_is_no_error():
    def outer():
        if True:
            raise ValueError("CUDA out of memory. Tried to allocate 2.00 GiB"[-4:])

    assert "Tried to allocate" not in text_of(caught(outer))


def test_a_message_of_megabytes_is_cut_in_its_middle():
    text = text_of(ValueError("a" * 10**7 + "the end"))
    assert len(text) < LONGEST + 10 and text.endswith("the end\n")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("wrong shape"), False),
        (KeyError("x"), False),
        (RuntimeError(), False),
        (ValueError(object()), False),
        (MemoryError(), True),
        (RuntimeError("CUDA error: device-side assert triggered"), True),
        (RuntimeError("cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"), True),
        (OSError(12, "Cannot allocate memory"), True),
        (type("OutOfResources", (Exception,), {})(), True),
    ],
)
def test_most_errors_are_not_worth_reading(error, expected):
    assert may_be_about_memory(error) is expected


def test_no_code_of_the_users_runs_to_find_out():
    class Loud(RuntimeError):
        def __str__(self):
            raise AssertionError("asked")

        __repr__ = __str__

    assert may_be_about_memory(Loud(Loud())) is False
    told = text_of(Loud("CUDA out of memory", Loud()))  # what needs no code of theirs is told
    assert told.endswith("Loud: CUDA out of memory\n") and "asked" not in told


def test_nothing_is_kept():
    class Big:
        pass

    alive = []

    def outer():
        big = Big()
        alive.append(weakref.ref(big))
        fails()

    error = caught(outer)
    assert "MemoryError" in text_of(error)
    del error
    gc.collect()
    assert alive[0]() is None


class Closed(RuntimeError):
    def __getattribute__(self, name):
        raise RuntimeError(name)


def test_an_error_that_answers_nothing_is_looked_at_all_the_same():
    def fail():
        try:
            fails()
        except MemoryError:
            raise Closed("step failed") from None

    error = Closed("step failed")
    assert not may_be_about_memory(error)
    outer = ValueError("outer")
    outer.__cause__ = caught(fail)
    assert [type(one) for one in chain(outer)] == [Closed, ValueError]
    assert "in fail" in text_of(outer)
    assert text_of(outer).endswith("ValueError: outer\n")


def test_a_memory_error_far_down_a_long_chain_is_found_in_time():
    import time

    errors = [ValueError(str(number)) for number in range(15_000)]
    errors.append(MemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"))
    for error, cause in itertools.pairwise(errors):
        error.__cause__ = cause
    begun = time.perf_counter()
    assert may_be_about_memory(errors[0])
    assert "Tried to allocate 2.00 GiB" in text_of(errors[0])
    assert time.perf_counter() - begun < 2.0
    for error in errors:  # a chain this long would be freed by recursion
        error.__cause__ = None


class OutOfMemoryError(RuntimeError):
    """Named as torch's."""


OutOfMemoryError.__module__ = "torch"
FIGURES = "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.70 GiB total capacity)"


def mute(base):
    def says(self):
        raise KeyError("no text")

    return type("Mute", (base,), {"__str__": says, "__repr__": says})


@pytest.mark.parametrize(
    ("error", "requested"),
    [
        (mute(OutOfMemoryError)(FIGURES), 2 << 30),
        (mute(RuntimeError)(FIGURES), 2 << 30),
        (OutOfMemoryError(mute(ValueError)()), None),
        (type("Mine", (OutOfMemoryError,), {})("the trainer gave up"), None),
        (type("Mine", (OutOfMemoryError,), {})(), None),
        (type("Mine", (OutOfMemoryError,), {})(FIGURES), 2 << 30),
        (type("Worse", (type("Mine", (OutOfMemoryError,), {}),), {})(FIGURES), 2 << 30),
        (ValueError("step failed", FIGURES, 3), 2 << 30),
    ],
)
def test_an_error_of_memory_is_known_by_any_name_and_without_a_text(error, requested):
    def fails():
        raise error

    found = caught(fails)
    assert may_be_about_memory(found)
    explained = explain_text(text_of(found))
    assert (explained.kind, explained.device_memory) == ("cuda_oom", True)
    assert explained.numbers.get("requested") == requested
    assert not explained.later


def test_an_error_that_says_nothing_of_memory_in_any_words_is_left_alone():
    assert not may_be_about_memory(mute(RuntimeError)("x"))
    assert not may_be_about_memory(mute(KeyError)(3))


def test_a_full_disk_is_explained_when_asked_and_not_unasked():
    assert not may_be_about_memory(OSError(28, "No space left on device"))
    assert not may_be_about_memory(OSError(24, "Too many open files"))
    assert explain_text("OSError: [Errno 28] No space left on device").kind == "not_oom"
    shared = "unable to write to file </torch_738_139_4>: No space left on device (28)"
    assert may_be_about_memory(RuntimeError(shared))
    assert explain_text(f"RuntimeError: {shared}").kind == "shm_bus_error"
