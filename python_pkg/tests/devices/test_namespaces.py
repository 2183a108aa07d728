"""Which process here is meant by a driver's number: only what is certain is said."""

from memtrack.devices.namespaces import local_pids, numbers_of
from memtrack.devices.openfiles import computing


def found(listed, here=(), computing=(), inner=None):
    return local_pids(
        listed,
        lambda pid: pid in here,
        lambda: frozenset(computing),
        lambda pid: frozenset({pid, *(inner or {}).get(pid, ())}),
    )


def test_a_number_that_is_here_and_has_the_device_open_is_meant():
    assert found([10, 20], here={10, 20}) == {10: 10, 20: 20}


def test_nothing_more_is_asked_when_all_are_here():
    def ask():
        raise AssertionError

    assert local_pids([10], lambda _: True, ask, lambda _: frozenset()) == {10: 10}


def test_the_number_inside_a_container_leads_to_the_process():
    """Drivers from 560 on tell the number that a process has in its own container."""
    inner = {5001: {5001, 7}, 5002: {5002, 8}}
    assert found([7, 8], computing={5001, 5002}, inner=inner) == {7: 5001, 8: 5002}


def test_two_containers_with_the_same_inner_number_are_not_told_apart():
    inner = {5001: {5001, 7}, 5002: {5002, 7}}
    assert found([7], computing={5001, 5002}, inner=inner) == {}


def test_the_only_one_listed_is_the_only_context_here():
    """In a container the driver lists numbers of outside, and every context is listed."""
    assert found([90_001], computing={12}) == {90_001: 12}


def test_with_two_candidates_nothing_is_guessed():
    assert found([90_001, 90_002], computing={12}) == {}
    assert found([90_001], computing={12, 13}) == {}


def test_a_context_that_is_accounted_for_is_no_candidate():
    assert found([10, 90_001], here={10}, computing={10, 12}) == {10: 10, 90_001: 12}
    assert found([10, 90_001], here={10}, computing={10}) == {10: 10}


def test_numbers_come_from_nspid(tmp_path):
    (tmp_path / "5001").mkdir()
    (tmp_path / "5001" / "status").write_text("Name:\tpython\nNSpid:\t5001\t42\t7\n")
    assert numbers_of(5001, tmp_path) == {5001, 42, 7}
    assert numbers_of(6, tmp_path) == {6}


def test_a_context_is_told_by_the_file_it_has_open(tmp_path):
    for pid, target in ((5, "/dev/nvidia-uvm"), (6, "/dev/nvidia0"), (7, "/dev/null")):
        folder = tmp_path / str(pid) / "fd"
        folder.mkdir(parents=True)
        (folder / "3").symlink_to(target)
    (tmp_path / "self").mkdir()
    assert computing(tmp_path) == {5}
