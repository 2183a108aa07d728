"""The pytest plugin, in runs of pytest of their own."""

import os
import sys
from importlib.metadata import entry_points

import pytest

pytest_plugins = ["pytester"]

PLUGIN = "memtrack.integrations.pytest_plugin"
HEADER = """
import pytest, torch
from torch import nn
MIB = 1 << 20
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(1024, 1024, bias=False)
    def forward(self, x):
        return self.head(x)
@pytest.fixture
def net():
    return Net()
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Run a test file in a process of its own; on the CPU, whatever this machine has."""
    monkeypatch.setenv("MEMTRACK_LANG", "en")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    installed = any(one.value == PLUGIN for one in entry_points(group="pytest11"))
    options = [] if installed else ["-p", PLUGIN]

    def run(source, *arguments):
        pytester.makepyfile(test_it=HEADER + source)
        given = ["-p", "no:cacheprovider", "--strict-markers", *options, *arguments]
        return pytester.runpytest_subprocess(*given)

    return run


def test_the_peak_of_a_test_is_the_bytes_it_had_at_once(run):
    run(
        """
def test_peak(memtrack_peak):
    first = torch.empty(3 * MIB, dtype=torch.uint8)
    assert memtrack_peak.bytes - memtrack_peak.before_bytes == 3 * MIB
    del first
    second = torch.empty(5 * MIB, dtype=torch.uint8)
    assert memtrack_peak.bytes - memtrack_peak.before_bytes == 5 * MIB
    del second
    torch.empty(MIB, dtype=torch.uint8)
    assert memtrack_peak.bytes - memtrack_peak.before_bytes == 5 * MIB
    assert memtrack_peak.recording.data.steps_run == 0

def test_the_next_begins_anew(memtrack_peak):
    assert memtrack_peak.bytes == memtrack_peak.before_bytes
"""
    ).assert_outcomes(passed=2)


def test_a_test_over_its_limit_fails_with_who_held_the_memory(run):
    result = run(
        """
@pytest.mark.memtrack(limit="8 MiB")
def test_step(net):
    net(torch.ones(1024, 1024)).sum().backward()
    kept = torch.zeros(2 * MIB, dtype=torch.uint8)
"""
    )
    result.assert_outcomes(failed=1)
    out = result.stdout.str()
    # The weight, its gradient and the batch; the output is gone by then.
    assert out[out.index("Peak ") :].startswith(
        "Peak 12.0 MiB on cpu, 4.00 MiB over the limit of 8.00 MiB. It was held by:\n"
        "  Net.head                 8.00 MiB  67 %  parameters, gradients\n"
        "  test_it.py:16 test_step  4.00 MiB  33 %  batch, other tensors\n"
    )
    assert "Traceback" not in out and "def test_step" not in out


def test_a_test_within_its_limit_passes_and_one_that_fails_keeps_its_error(run):
    result = run(
        """
@pytest.mark.memtrack(limit=1 << 30)
def test_fits(net):
    net(torch.ones(8, 1024))

@pytest.mark.memtrack(limit="1 MiB")
def test_fails():
    kept = torch.empty(4 * MIB, dtype=torch.uint8)
    raise RuntimeError("its own error")

@pytest.mark.memtrack("2 MiB")
def test_sets_its_own_limit(memtrack_peak):
    memtrack_peak.limit = None
    kept = torch.empty(4 * MIB, dtype=torch.uint8)
"""
    )
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*RuntimeError: its own error*"])
    assert "over the limit" not in result.stdout.str()


def test_what_needs_a_gpu_is_skipped_with_the_reason(run):
    result = run(
        """
@pytest.mark.memtrack(limit="1 MiB", device="cuda")
def test_on_gpu():
    raise AssertionError
""",
        "-rs",
    )
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*memtrack_peak is for a CUDA device here, and there is none*"])


def test_wrong_use_of_the_marker_is_one_line(run):
    result = run(
        """
@pytest.mark.memtrack(limit="much")
def test_size(): pass

@pytest.mark.memtrack(device="gpu")
def test_device(): pass

@pytest.mark.memtrack(most="1 GiB")
def test_word(): pass

@pytest.mark.memtrack
def test_bare(): pass

@pytest.mark.memtrack(limit=None, device="cpu")
def test_no_limit(): pass

@pytest.mark.memtrack(limit="24")
def test_unit(): pass

@pytest.mark.memtrack("1 GiB", "cpu", 3)
def test_many(): pass

@pytest.mark.memtrack(device="cpu")
def test_fine(memtrack_peak): pass

def test_set_limit(memtrack_peak):
    memtrack_peak.limit = "much"
""",
        "-q",
    )
    result.assert_outcomes(errors=7, failed=1, passed=1)
    assert "During handling" not in result.stdout.str()
    result.stdout.fnmatch_lines(
        [
            "'much' is not a size. A size is above 0 and such as 24GiB.",
            "There is no device 'gpu'. Did you mean 'cpu'?",
            "There is no option 'most'. *",
            "This marker sets no limit for the test. Write @pytest.mark.memtrack(limit='2 GiB')",
            "This marker sets no limit for the test. Write @pytest.mark.memtrack(limit='2 GiB')",
            "The size 24 has no unit. For gibibytes write 24GiB, for bytes 24B.",
            "'3' is one word too many.",
            "'much' is not a size. A size is above 0 and such as 24GiB.",
        ]
    )


def test_nothing_of_torch_is_loaded_until_a_test_asks(run, pytester):
    pytester.makepyfile(
        test_plain="import sys\ndef test_plain():\n    assert 'torch' not in sys.modules\n"
        "    assert 'numpy' not in sys.modules\n    assert 'memtrack.recording' not in sys.modules\n"
    )
    installed = any(one.value == PLUGIN for one in entry_points(group="pytest11"))
    options = [] if installed else ["-p", PLUGIN]
    result = pytester.runpytest_subprocess(*options, "-p", "no:hypothesispytest", "test_plain.py")
    result.assert_outcomes(passed=1)


def test_without_torch_the_test_is_skipped(pytester, monkeypatch):
    monkeypatch.setenv("MEMTRACK_LANG", "en")
    pytester.makeconftest("import sys; sys.modules['torch'] = None")
    pytester.makepyfile("def test_it(memtrack_peak): raise AssertionError")
    installed = any(one.value == PLUGIN for one in entry_points(group="pytest11"))
    options = [] if installed else ["-p", PLUGIN]
    result = pytester.runpytest_subprocess(*options, "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*memtrack_peak needs PyTorch, which is not installed*"])


@pytest.mark.gpu
def test_on_a_gpu_the_peak_is_the_allocators(pytester, monkeypatch):
    monkeypatch.setenv("MEMTRACK_LANG", "en")
    pytester.makepyfile(
        HEADER
        + """
@pytest.mark.memtrack(device="cuda")
def test_peak(memtrack_peak):
    torch.cuda.reset_peak_memory_stats()
    net = Net().cuda()
    net(torch.ones(1024, 1024, device="cuda")).sum().backward()
    assert memtrack_peak.bytes == torch.cuda.max_memory_allocated()

@pytest.mark.memtrack(limit="4 MiB")
def test_limit():
    kept = torch.empty(8 * MIB, dtype=torch.uint8, device="cuda")
"""
    )
    installed = any(one.value == PLUGIN for one in entry_points(group="pytest11"))
    result = pytester.runpytest_subprocess(*([] if installed else ["-p", PLUGIN]))
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*on cuda:0, * over the limit of 4.00 MiB*"])


def test_the_wheel_tells_pytest_of_the_plugin():
    """The entry point stands in pyproject.toml, which every installation reads."""
    root = os.path.join(os.path.dirname(__file__), "..", "..", "..", "pyproject.toml")
    with open(root, encoding="utf-8") as file:
        assert f'[project.entry-points.pytest11]\nmemtrack = "{PLUGIN}"' in file.read()
    assert PLUGIN.rpartition(".")[0] in sys.modules or __import__(PLUGIN)
