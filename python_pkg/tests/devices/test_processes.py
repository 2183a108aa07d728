"""Of the processes on a device, which is ours, and whether its figure can be."""

import os

import pytest
from devices.fake_nvml import ALLOCATOR, PROCESS, USED

from memtrack.devices import UNKNOWN, GpuProcess, other_processes, own_bytes, own_pids


def test_own_pids_are_ours_and_those_of_outer_namespaces(tmp_path):
    status = tmp_path / "status"
    status.write_text("Name:\tpython\nNSpid:\t40123\t77\t7\nNSpgid:\t1\n")
    assert own_pids(status) == {os.getpid(), 40123, 77, 7}
    assert os.getpid() in own_pids()


@pytest.mark.parametrize("content", [None, "", "NSpid:\tx\n", "Name:\tpython\n"])
def test_own_pids_where_the_system_tells_nothing_more(tmp_path, content):
    status = tmp_path / "status"
    if content is not None:
        status.write_text(content)
    assert own_pids(status) == {os.getpid()}


def test_own_bytes_are_those_of_any_of_our_numbers():
    processes = [GpuProcess(5, 9_240_576), GpuProcess(7, PROCESS)]
    assert own_bytes(processes, {7, 1}, ALLOCATOR, USED) == PROCESS
    assert own_bytes(processes, {8}, ALLOCATOR, USED) == UNKNOWN
    assert own_bytes([], {7}) == UNKNOWN


@pytest.mark.parametrize("size", [UNKNOWN, 0, ALLOCATOR - 1, USED + 1])
def test_a_figure_that_cannot_be_is_unknown(size):
    assert own_bytes([GpuProcess(7, size)], {7}, ALLOCATOR, USED) == UNKNOWN


def test_figures_at_the_bounds_can_be():
    assert own_bytes([GpuProcess(7, ALLOCATOR)], {7}, ALLOCATOR, USED) == ALLOCATOR
    assert own_bytes([GpuProcess(7, USED)], {7}, ALLOCATOR, USED) == USED


def test_the_one_of_two_numbers_that_can_be_is_ours():
    processes = [GpuProcess(7, 1000), GpuProcess(40123, PROCESS)]
    assert own_bytes(processes, {7, 40123}, ALLOCATOR, USED) == PROCESS
    assert own_bytes(processes, {7, 40123}) == UNKNOWN


def test_others_are_all_but_ours_the_largest_first():
    processes = [GpuProcess(9, UNKNOWN), GpuProcess(7, 100), GpuProcess(5, 10), GpuProcess(4, 30)]
    assert other_processes(processes, {7}) == [
        GpuProcess(4, 30),
        GpuProcess(5, 10),
        GpuProcess(9, UNKNOWN),
    ]
