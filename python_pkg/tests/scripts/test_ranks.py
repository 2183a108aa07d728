"""torchrun with real processes: a recording a rank, also of one that is killed; gathered and opened."""

import json
import os
import subprocess
import sys

import pytest
import torch
from scripts.running import clean_environment, memtrack_run

import memtrack
from memtrack.recording.categories import Category
from memtrack.recording.ranks import rank_of
from memtrack.scripts.target import planned_target

pytestmark = pytest.mark.skipif(
    not torch.distributed.is_available() or sys.platform == "win32",
    reason="several processes need torch.distributed with gloo",
)

MODEL = """
import os, signal, sys
import torch
import torch.distributed as dist
from torch import nn

backend = "nccl" if "cuda" in sys.argv else "gloo"
device = f"cuda:{os.environ['LOCAL_RANK']}" if "cuda" in sys.argv else "cpu"
if backend == "nccl":
    torch.cuda.set_device(device)
dist.init_process_group(backend)
rank = dist.get_rank()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8)).to(device)
"""
TRAINING = (
    MODEL
    + """
if "fsdp" in sys.argv:
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.device_mesh import init_device_mesh
    wrapped = fully_shard(model, mesh=init_device_mesh(device.partition(":")[0], (2,)))
else:
    wrapped = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)
for step in range(3):
    if "kill" in sys.argv and rank == 1 and step == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    batch = torch.randn(1024 if rank else 32, 64, device=device)
    wrapped(batch).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
if "exit" in sys.argv and rank == 0:
    print("done")
dist.destroy_process_group()
"""
)
GATHERING = (
    MODEL
    + """
import memtrack
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with memtrack.track(model, optimizer) as recording:
    for step in range(2):
        model(torch.randn(1024 if rank else 32, 64, device=device)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
before = torch.cuda.memory_allocated() if "cuda" in sys.argv else 0
ranks = memtrack.gather(None if "none" in sys.argv and rank == 1 else recording)
assert (ranks is None) == (rank != 0)
if "cuda" in sys.argv:
    assert torch.cuda.memory_allocated() == before
if ranks is not None:
    print("PEAKS", ranks.peaks, ranks.missing, ranks[0].peak.bytes == recording.peak.bytes)
    ranks.save("gathered")
dist.destroy_process_group()
"""
)


def torchrun(folder, *arguments):
    """Run a script under torchrun with two processes; return its code and what it wrote."""
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
    ]
    return subprocess.run(
        [*command, *arguments],
        cwd=folder,
        env={**clean_environment(), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.py").write_text(TRAINING)
    (tmp_path / "gather.py").write_text(GATHERING)
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def bytes_of(data, category):
    rows = data.allocations["category"] == category
    return int(data.allocations["bytes"][rows & (data.allocations["start"] == -1)].sum())


def test_each_rank_leaves_a_recording_and_the_fuller_one_is_found(folder):
    done = torchrun(folder, "-m", "memtrack", "run", "train.py")
    assert done.returncode == 0, done.stderr
    told = f"memtrack: each rank is recorded in {folder / 'train.ranks'}. To look at them: memtrack open train.ranks\n"
    assert done.stderr.count(told) == done.stderr.count("memtrack:") == 1
    assert names(folder / "train.ranks") == ["train.rank0.memtrack", "train.rank1.memtrack"]
    ranks = memtrack.open(folder / "train.ranks")
    for number in ranks:
        data = ranks[number].data
        data.self_check()
        facts = rank_of(data)
        assert (facts.rank, facts.world_size, facts.local_rank) == (number, 2, number)
        # The gradients are reduced in one bucket, which DistributedDataParallel keeps.
        kept = data.allocations["category"] == Category.COMMUNICATION
        assert data.allocations["bytes"][kept].tolist() == [4 * (64 * 256 + 256 + 256 * 8 + 8)]
        assert (data.steps_run, data.facts.state) == (3, "complete")
    # Rank 1 has 32 times the batch; its extra bytes are those of the activations and gradients of it.
    found = ranks.ranks_report.imbalance
    assert ranks.peaks[1] > ranks.peaks[0] + 992 * 256 * 4
    assert ranks.imbalance == 2 * ranks.peaks[1] / sum(ranks.peaks.values())
    assert sum(share.bytes[1] for share in found.categories) == ranks.peaks[1]


def test_a_rank_that_is_killed_leaves_the_steps_before(folder):
    done = torchrun(folder, "-m", "memtrack", "run", "train.py", "kill")
    assert done.returncode != 0
    assert "train.rank1.started" in names(folder / "train.ranks")
    ranks = memtrack.open(folder / "train.ranks")
    killed, other = ranks[1].data, ranks[0].data
    killed.self_check()
    assert (killed.facts.state, killed.steps_run >= 1) == ("recording", True)
    assert other.facts.state in ("failed", "interrupted")
    details = [str(one) for one in ranks.ranks_report.details]
    assert any(
        line.startswith("Rank 1 left no end: it was killed or still runs.") for line in details
    )


def test_sharded_parameters_are_half_on_each_rank(folder):
    fsdp = pytest.importorskip("torch.distributed.fsdp", reason="needs FSDP")
    if not hasattr(fsdp, "fully_shard"):
        pytest.skip(f"torch {torch.__version__} has no fully_shard")
    done = torchrun(folder, "-m", "memtrack", "run", "train.py", "fsdp")
    assert done.returncode == 0, done.stderr
    ranks = memtrack.open(folder / "train.ranks")
    whole = 4 * (64 * 256 + 256 + 256 * 8 + 8)
    assert sum(bytes_of(ranks[number].data, Category.PARAMETER) for number in ranks) == whole


def test_recordings_are_gathered_on_rank_0(folder):
    done = torchrun(folder, "gather.py")
    assert done.returncode == 0, done.stderr
    ranks = memtrack.open(folder / "gathered")
    assert done.stdout == f"PEAKS {ranks.peaks} () True\n"
    assert ranks.peaks[1] > ranks.peaks[0]


def test_a_rank_without_a_recording_is_missing_from_what_is_gathered(folder):
    done = torchrun(folder, "gather.py", "none")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("} (1,) True\n")


@pytest.mark.gpu
@pytest.mark.parametrize("script", ["train", "fsdp", "gather"])
def test_two_gpus_through_nccl(folder, script):
    if torch.cuda.device_count() < 2:
        pytest.skip(f"needs two GPUs, has {torch.cuda.device_count()}")
    if script == "gather":
        assert torchrun(folder, "gather.py", "cuda").returncode == 0
        ranks = memtrack.open(folder / "gathered")
    else:
        done = torchrun(folder, "-m", "memtrack", "run", "train.py", "cuda", script)
        assert done.returncode == 0, done.stderr
        ranks = memtrack.open(folder / "train.ranks")
    devices = {number: ranks[number].report().views[0].device for number in ranks}
    assert {number: (one.kind, one.index) for number, one in devices.items()} == {
        0: ("cuda", 0),
        1: ("cuda", 1),
    }
    assert ranks.peaks[1] > ranks.peaks[0]


def test_a_second_run_of_all_ranks_goes_into_the_next_folder(folder):
    """Also where a rank of the first has left nothing but its claim."""
    for run in ("train.ranks", "train-2.ranks"):
        for rank in ("0", "1"):
            place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2"}
            target = planned_target(str(folder / "train"), "train", place)
            assert target == folder / run / f"train.rank{rank}.memtrack"
            claim = json.loads((folder / run / f"train.rank{rank}.started").read_text())
            assert (claim["rank"], claim["world_size"], claim["pid"]) == (int(rank), 2, os.getpid())


def test_a_rank_on_which_no_model_runs_keeps_its_claim(folder):
    (folder / "train.py").write_text("import torch\n")
    found = memtrack_run(folder, "train.py", RANK="0", WORLD_SIZE="1")
    assert "no model ran" in found.err
    assert names(folder / "train.ranks") == ["train.rank0.started"]


def test_an_unfound_process_group_is_one_sentence():
    with memtrack.track() as recording:
        torch.ones(1)
    with pytest.raises(memtrack.RecordingStateError, match="There is no process group"):
        memtrack.gather(recording)
