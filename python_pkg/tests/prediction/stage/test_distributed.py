"""One process of a group, which is never joined: what it is answered, and the buckets it keeps."""

import pytest
import torch
import torch.distributed as dist
from prediction.tested_gpu import GPU, KERNELS
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import memtrack
from memtrack.prediction.stage.distributed import NCCL_BYTES
from memtrack.prediction.stage.stage import Stage

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="torch without torch.distributed")

WIDTH = 640
WEIGHTS = 2 * WIDTH * WIDTH * 4
"""Bytes of both layers' weights; each is more than the first bucket may hold."""


def network():
    """Return two layers without biases on the GPU."""
    return nn.Sequential(
        nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
    ).cuda()


def built(joins, **options):
    """Return a program that trains the network, wrapped where it joins a group."""

    def build():
        model = network()
        if joins:
            dist.init_process_group("nccl", rank=0, world_size=joins)
            model = DistributedDataParallel(model, device_ids=[0], **options)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        batch = torch.randn(4, WIDTH, device="cuda")

        def step():
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()

        return step

    return build


@pytest.fixture(scope="module")
def alone():
    return memtrack.predict(built(0), gpu="RTX 4090")


@pytest.mark.parametrize("processes", [1, 8])
def test_buckets_are_as_large_as_the_gradients_and_stay(alone, processes):
    wrapped = memtrack.predict(built(processes), gpu="RTX 4090")
    assert wrapped.peak_allocated - alone.peak_allocated == WEIGHTS


def test_gradients_that_are_views_live_in_the_buckets():
    views = memtrack.predict(built(1, gradient_as_bucket_view=True), gpu="RTX 4090")
    copied = memtrack.predict(built(1), gpu="RTX 4090")
    # One gradient is made beside the bucket that it is moved into; that of the last layer comes first,
    # while the output of the layer before is still there.
    passed_on = 4 * WIDTH * 4
    assert copied.peak_allocated - views.peak_allocated == WEIGHTS // 2 - passed_on


def test_the_interval_is_wider_by_what_nccl_may_take(alone):
    wrapped = memtrack.predict(built(1), gpu="RTX 4090")
    widths = [high - low for low, high in (alone.process_total, wrapped.process_total)]
    assert widths[1] - widths[0] >= NCCL_BYTES
    assert "NCCL" in wrapped.told.unmodelled
    assert [one.operation for one in wrapped.assumptions] == ["init_process_group"]


def test_gradients_of_a_block_without_reduction_stay_where_they_are():
    with Stage(GPU, KERNELS):
        dist.init_process_group("nccl", rank=0, world_size=2)
        model = DistributedDataParallel(network(), gradient_as_bucket_view=True)
        batch = torch.randn(4, WIDTH, device="cuda")
        with model.no_sync():
            model(batch).sum().backward()
        kept = [one.grad.untyped_storage()._cdata for one in model.parameters()]
        buckets = {one.untyped_storage()._cdata for one in model.memtrack_buckets}
        assert not buckets & set(kept)
        model(batch).sum().backward()
        assert {one.grad.untyped_storage()._cdata for one in model.parameters()} == buckets


def test_a_member_is_answered_and_others_are_told_by_torch():
    with Stage(GPU, KERNELS) as stage:
        with pytest.raises(ValueError, match=r"[Dd]efault process group has not been initialized"):
            DistributedDataParallel(network())
        assert not dist.is_initialized()
        dist.init_process_group("nccl", rank=0, world_size=4)
        assert (dist.is_initialized(), dist.get_rank(), dist.get_world_size()) == (True, 0, 4)
        total = torch.ones(1, device="cuda")
        assert dist.all_reduce(total, async_op=True).wait()
        assert stage.known_value(total) is None
        names = [None] * 4
        dist.all_gather_object(names, "this one")
        assert names == ["this one"] * 4
        dist.barrier()
        dist.destroy_process_group()
        assert not dist.is_initialized()
    assert not dist.is_initialized()


def test_norms_over_processes_run_as_those_of_one():
    with Stage(GPU, KERNELS):
        dist.init_process_group("nccl", rank=0, world_size=2)
        norm = nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm2d(3).cuda())
        assert isinstance(norm, nn.SyncBatchNorm)
        assert norm(torch.randn(2, 3, 4, 4, device="cuda")).shape == (2, 3, 4, 4)
