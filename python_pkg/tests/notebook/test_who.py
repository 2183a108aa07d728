"""`%memtrack who` as it is read: text and HTML, English and Chinese, processes, completion."""

import re
import types
from html.parser import HTMLParser

import pytest

from memtrack.devices import DriverError
from memtrack.devices.leftovers import DeviceProcess
from memtrack.diagnosis.holdings import Chain, Holding, Holdings, Level, Release, Step
from memtrack.notebook import giveback
from memtrack.notebook.completion import complete
from memtrack.reports.holderspages import free_page, who_page

MIB = 1 << 20
GIB = 1 << 30
LEVEL = Level(allocated=6 * GIB, reserved=7 * GIB, free=GIB, total=16 * GIB)
HOLDINGS = (
    Holding(
        "variable",
        "model",
        3 * GIB,
        148,
        [Chain("model.layers[0].weight", 500 * MIB)],
        ["optimizer", "sys.last_value"],
        ["optimizer"],
    ),
    Holding(
        "variable", "loss", 2 * GIB, 60, [Chain("loss.grad_fn (MulBackward0)", GIB)], in_graph=True
    ),
    Holding("output", "Out[7]", 512 * MIB, 1, [Chain("Out[7]", 512 * MIB)]),
    Holding(
        "exception", "sys.last_value", 256 * MIB, 9, [Chain("sys.last_value → f() line 3: h", MIB)]
    ),
    Holding("nobody", "list", 128 * MIB, 1),
)
NATIVE, ROUNDING = 100 * MIB, 28 * MIB
FOUND = Holdings("cuda:0", LEVEL, HOLDINGS, NATIVE, ROUNDING)
EVIL = "<script>x['\x1b[31m']"


class Checked(HTMLParser):
    """Asserts that elements close in order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def tags_of(html):
    checked = Checked()
    checked.feed(html)
    assert checked.open == []
    return checked.tags


def test_the_whole_page():
    page = who_page([FOUND], {})
    assert page.text == (
        "cuda:0: 6.00 GiB allocated, 1.00 GiB cached, 1.00 GiB of 16.0 GiB free on the\n"
        "device\n"
        "  3.00 GiB  model\n"
        "            · 148 tensors\n"
        "            · model.layers[0].weight (500 MiB)\n"
        "            · also held by optimizer, the last error\n"
        "            %memtrack free model optimizer\n"
        "  2.00 GiB  the autograd graph behind loss\n"
        "            · 60 tensors\n"
        "            · loss.grad_fn (MulBackward0) (1.00 GiB)\n"
        "            %memtrack free loss\n"
        "   512 MiB  Out[7]\n"
        "            · 1 tensor\n"
        "            %memtrack free\n"
        "   256 MiB  the last error\n"
        "            · 9 tensors\n"
        "            · sys.last_value → f() line 3: h (1.00 MiB)\n"
        "            %memtrack free\n"
        "   128 MiB  no name: a reference cycle, or kept by C++\n"
        "            · 1 tensor\n"
        "            · referred to by list\n"
        "            %memtrack free\n"
        "   100 MiB  held by C++ alone\n"
        "            · autograd, CUDA graphs, communication, workspaces of libraries\n"
        "  28.0 MiB  rounding up to whole blocks"
    )
    assert FOUND.named + NATIVE + ROUNDING == LEVEL.allocated


def test_html_has_the_same_and_is_well_formed():
    html = who_page([FOUND], {}).html
    tags = tags_of(html)
    assert tags.count("tr") == len(HOLDINGS) + 2
    assert tags.count("code") == len(HOLDINGS)
    assert f'title="{3 * GIB:,}"' in html
    assert "script" not in tags


def test_names_of_the_users_cannot_break_out():
    evil = Holding("variable", EVIL, GIB, 1, [Chain(EVIL * 20, GIB)], [EVIL], [EVIL])
    found = Holdings("cuda:0", LEVEL, [evil])
    page = who_page([found], {"cuda:0": [DeviceProcess(9, GIB, "running", command=EVIL)]})
    assert "script" not in tags_of(page.html)
    assert "\x1b" not in page.html + page.text


def test_many_holders_are_summed_up():
    many = [Holding("variable", f"v{n}", MIB, 1) for n in range(40)]
    text = who_page([Holdings("cuda:0", LEVEL, many)], {}).text
    assert "25.0 MiB  25 smaller holders" in text
    assert "v14" in text and "v15" not in text


def test_limits_of_the_answer_are_told():
    found = Holdings("cuda:0", LEVEL, HOLDINGS, 0, 0, 5 * MIB, 1_000_000, True)
    text = " ".join(who_page([found], {}).text.split())
    assert "cut short after 1.00 M objects" in text
    assert "128 MiB no name found in the time there was" in text
    assert "5.00 MiB of these tensors are not from PyTorch's allocator." in text


def test_other_processes_follow():
    processes = [
        DeviceProcess(1, GIB, "running", relation="self"),
        DeviceProcess(77, 3 * GIB, "running", command="python train.py", is_own_users=True),
    ]
    page = who_page([FOUND], {"cuda:0": processes})
    assert "Other processes on cuda:0:\n3.00 GiB · python train.py · pid 77" in page.text
    assert "this process" not in page.text
    assert "python train.py" in page.html
    tags_of(page.html)


def test_a_release_shows_before_and_after():
    after = Holdings("cuda:0", Level(2 * GIB, 7 * GIB, GIB, 16 * GIB), HOLDINGS[:1], 0, 0)
    steps = [Step("errors", 3 * GIB, 4), Step("variables", GIB, 1), Step("cycles", 0, 0)]
    one = Release(LEVEL, after, steps, ["loss"], "Trace <b>back", ["no_debug", "cache_kept"])
    page = free_page([one])
    lines = page.text.splitlines()
    assert lines[0] == "Given back on cuda:0: 4.00 GiB"
    assert "  3.00 GiB  the last error, with the variables of its frames" in lines
    assert "  1.00 GiB  dropped: loss" in lines
    flat = " ".join(page.text.split())
    assert "Before: 6.00 GiB allocated" in flat and "After: 2.00 GiB allocated" in flat
    assert "5.00 GiB stay in PyTorch's cache" in flat and "%memtrack free --cache" in flat
    assert "reference cycles" not in flat
    assert "%memtrack free NAME drops variables of yours" in flat
    assert "Trace &lt;b&gt;back" in page.html
    assert "details" in tags_of(page.html)


def test_in_chinese():
    english, chinese = who_page([FOUND], {}).text, who_page([FOUND], {}, "zh_CN").text
    assert "最近一次错误" in chinese and "loss 背后的" in chinese
    assert re.findall(r"%memtrack .*", english) == re.findall(r"%memtrack .*", chinese)
    assert 'lang="zh-CN"' in who_page([FOUND], {}, "zh_CN").html


def test_on_the_cpu_it_says_that_there_is_no_gpu(training):
    training.run("%memtrack who")
    text, html = (training.shown[-1][kind] for kind in ("text/plain", "text/html"))
    assert text.startswith("No GPU is in use by this process. Tensors in main memory: ")
    assert "model[0].weight" in text
    assert "also held by train, optimizer" in text  # a default argument holds it as well
    tags_of(html)
    training.run("%config MemtrackMagics.language = 'zh_CN'\n%memtrack who")
    assert training.texts()[-1].startswith("本进程没有使用 GPU")


def test_it_keeps_nothing_and_leaves_no_output(training):
    before = set(training.shell.user_ns)
    training.run("%memtrack who")
    assert set(training.shell.user_ns) - before <= {
        "_i",
        "_ii",
        "_iii",
        f"_i{len(training.shell.user_ns['In']) - 1}",
    }
    assert training.shell.user_ns["Out"] == {}


def test_variables_are_completed_for_free(training):
    def found(line):
        return complete(training.shell, line)[1]

    assert {"model", "optimizer", "train"} <= set(found("%memtrack free "))
    assert not {"In", "Out", "_", "get_ipython"} & set(found("%memtrack free "))
    assert found("%memtrack free mo") == ["model"]
    assert "model" not in found("%memtrack free model ")
    assert found("%memtrack free model --") == ["--cache"]
    assert found("%memtrack w") == ["who"]


@pytest.mark.parametrize(
    ("kind", "answer", "count"), [("cuda", [1, 2], 2), ("mps", [1], 0), ("cuda", None, 0)]
)
def test_processes_are_asked_of_the_driver_where_there_is_one(monkeypatch, kind, answer, count):
    pytest.importorskip("torch")
    from memtrack.capture import ownmemory

    def processes_on(driver, uuid, bus_id):
        assert (driver, uuid, bus_id) == ("driver", "GPU-1", "bus")
        if answer is None:
            raise DriverError("not_supported")
        return answer

    monkeypatch.setattr(giveback, "nvidia_driver", lambda: "driver")
    monkeypatch.setattr(giveback, "processes_on", processes_on)
    monkeypatch.setattr(ownmemory, "identity", lambda device: ("GPU-1", "bus"))
    assert len(giveback._processes(types.SimpleNamespace(type=kind))) == count
