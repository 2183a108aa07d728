"""The kernel half of the side panel, with comms that keep what they are sent and figures as given."""

import threading
import time
from types import SimpleNamespace

import pytest

from memtrack.notebook.runningcell import SOON_S
from memtrack.notebook.usage import MOST_PAGES, SLOWEST_MS, UsageTarget, usage_now

GIB = 1 << 30


class FakeComm:
    def __init__(self):
        self.sent = []
        self.closed = False
        self.told = threading.Event()

    def on_msg(self, callback):
        self.receive = lambda data: callback({"content": {"data": data}})

    def on_close(self, callback):
        self.end = lambda: callback({})

    def send(self, data):
        self.sent.append(data)
        self.told.set()

    def close(self):
        self.closed = True


class FakeEvents:
    def __init__(self):
        self.callbacks = {}

    def register(self, event, callback):
        self.callbacks.setdefault(event, []).append(callback)

    def unregister(self, event, callback):
        self.callbacks[event].remove(callback)

    def happen(self, event):
        for callback in self.callbacks.get(event, []):
            callback(None)


class Figures:
    def __init__(self):
        self.devices = [device(GIB)]
        self.reads = 0
        self.threads = set()

    def __call__(self):
        self.reads += 1
        self.threads.add(threading.current_thread().name)
        return self.devices


def device(allocated):
    return {
        "uuid": "GPU-1",
        "index": 0,
        "allocated": allocated,
        "reserved": 2 * GIB,
        "peak": 2 * GIB,
        "context": 400 << 20,
    }


@pytest.fixture
def figures():
    return Figures()


@pytest.fixture
def shell():
    return SimpleNamespace(kernel=SimpleNamespace(), events=FakeEvents(), user_ns={})


@pytest.fixture
def target(shell, figures, monkeypatch):
    monkeypatch.setattr("memtrack.notebook.usage.FASTEST_MS", 10)
    made = UsageTarget(shell, lambda: "en", figures)
    made.begin()
    yield made
    made.end()


def opened(target):
    comm = FakeComm()
    target._opened(comm, {})
    comm.receive({"interval_ms": 10})
    assert comm.told.wait(5)
    return comm


def is_alive():
    return any(thread.name == "memtrack-usage" for thread in threading.enumerate())


def until(is_so):
    end = time.monotonic() + 5
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_nothing_is_read_before_a_page_opens(target, figures):
    assert not is_alive()
    assert figures.reads == 0


def test_a_page_is_told_at_once_and_on_a_thread_of_its_own(target, figures):
    comm = opened(target)
    message = comm.sent[0]
    assert message["schema"] == "memtrack.usage/1"
    assert message["devices"] == [device(GIB)]
    assert message["pid"] > 0
    assert figures.threads == {"memtrack-usage"}


def test_what_has_not_changed_is_not_sent_again(target, figures):
    """Jupyter counts every message as activity of the kernel."""
    comm = opened(target)
    reads = figures.reads
    until(lambda: figures.reads > reads + 3)
    assert len(comm.sent) == 1
    figures.devices = [device(GIB + 1)]
    until(lambda: len(comm.sent) == 2)
    assert comm.sent[1]["devices"][0]["allocated"] == GIB + 1


def test_reading_stops_while_nobody_watches(target, figures):
    comm = opened(target)
    comm.receive({"watching": False})
    until(lambda: not is_alive())
    reads = figures.reads
    time.sleep(0.05)
    assert figures.reads == reads
    comm.receive({"watching": True})
    until(lambda: len(comm.sent) == 2)


def test_reading_stops_when_the_last_page_closes(target):
    one, other = opened(target), opened(target)
    one.end()
    assert is_alive()
    other.end()
    until(lambda: not is_alive())


def test_pages_that_left_without_a_word_are_forgotten(target):
    comms = [opened(target) for _ in range(MOST_PAGES + 2)]
    assert [comm.closed for comm in comms] == [True] * 2 + [False] * MOST_PAGES


def test_ending_closes_everything(target, shell):
    comm = opened(target)
    target.end()
    assert comm.closed
    assert not is_alive()
    assert not any(shell.events.callbacks.values())


def test_figures_that_fail_are_not_the_users_to_hear_of(target, figures, capsys):
    comm = opened(target)
    figures.devices = None  # reading raises TypeError
    reads = figures.reads
    until(lambda: figures.reads > reads + 2)
    figures.devices = [device(5)]
    until(lambda: len(comm.sent) == 2)
    assert capsys.readouterr() == ("", "")


def test_free_gives_back_what_the_magic_gives_back(target, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "memtrack.notebook.usage.free_now",
        lambda shell, language: asked.append(language) or {"devices": [], "text": "done"},
    )
    comm = opened(target)
    comm.receive({"free": True})
    assert comm.sent[1] == {"freed": {"devices": [], "text": "done"}}
    assert asked == ["en"]


def test_free_is_refused_while_a_cell_runs(target, shell, monkeypatch):
    monkeypatch.setattr("memtrack.notebook.usage.free_now", lambda *_: pytest.fail("freed"))
    comm = opened(target)
    shell.events.happen("pre_run_cell")
    thread = threading.Thread(target=comm.receive, args=({"free": True},))
    thread.start()
    thread.join()
    answer = comm.sent[1]
    assert answer["freed"] is None
    assert "cell is running" in answer["refused"]["en"]
    assert answer["refused"]["zh_CN"] != answer["refused"]["en"]


def test_a_message_answered_beside_a_running_cell_does_not_leave_the_kernel_idle(target, shell):
    request = {"header": {"msg_type": "execute_request"}}
    said = []
    shell.kernel.get_parent = lambda channel: {"shell": request}[channel]
    shell.kernel.iopub_socket, shell.kernel.ident = "iopub", "k"
    shell.kernel.session = SimpleNamespace(send=lambda *told, **how: said.append((told, how)))
    comm = opened(target)

    def beside(wish):
        thread = threading.Thread(target=comm.receive, args=(wish,))
        thread.start()
        thread.join()

    shell.events.happen("pre_run_cell")
    comm.receive({"watching": True})
    beside({"watching": False})
    until(lambda: said)
    busy = ("iopub", "status", {"execution_state": "busy"})
    assert said == [(busy, {"parent": request, "ident": b"kernel.k.status"})]
    # A cell that has ended meanwhile is not reported.
    beside({"watching": True})
    shell.events.happen("post_run_cell")
    beside({"watching": False})
    time.sleep(3 * SOON_S)
    assert len(said) == 1


def test_free_from_a_subshell_is_left_to_the_main_thread(target, shell, monkeypatch):
    threads = []
    monkeypatch.setattr(
        "memtrack.notebook.usage.free_now",
        lambda *_: threads.append(threading.current_thread()) or {},
    )
    queue = []
    shell.kernel.io_loop = SimpleNamespace(add_callback=lambda *call: queue.append(call))
    comm = opened(target)
    thread = threading.Thread(target=comm.receive, args=({"free": True},))
    thread.start()
    thread.join()
    assert not threads
    ((function, *arguments),) = queue
    function(*arguments)
    assert threads == [threading.main_thread()]


@pytest.mark.parametrize("wish", [{"interval_ms": "soon"}, {"watching": 3}, {"free": 1}, {}])
def test_nonsense_from_a_page_changes_nothing(target, figures, wish):
    comm = opened(target)
    comm.receive(wish)
    figures.devices = [device(7)]
    until(lambda: len(comm.sent) == 2)


def test_a_shell_without_a_kernel_has_no_target():
    shell = SimpleNamespace(events=FakeEvents())
    target = UsageTarget(shell, lambda: "en", lambda: pytest.fail("read"))
    target.begin()
    target.end()
    assert shell.events.callbacks == {}


def test_without_torch_there_is_nothing_to_tell_and_nothing_is_imported(monkeypatch):
    import sys

    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert usage_now() == []
    assert "torch" not in sys.modules


def test_cuda_is_not_initialised_by_reading():
    torch = pytest.importorskip("torch")
    before = torch.cuda.is_initialized()
    usage_now()
    assert torch.cuda.is_initialized() == before


@pytest.mark.parametrize(
    "wish",
    [
        None,
        5,
        "free",
        [{"free": True}],
        {"interval_ms": float("nan")},
        {"interval_ms": float("inf")},
        {"interval_ms": True},
        {"interval_ms": "10"},
        {"interval_ms": None, "watching": 1, "free": "yes"},
        {"interval_ms": 10**400},
    ],
)
def test_a_damaged_wish_changes_nothing_and_the_page_is_still_told(target, figures, wish):
    comm = opened(target)
    (page,) = target._pages
    comm.receive(wish)
    slowest = 10**400 in (wish.values() if isinstance(wish, dict) else ())
    assert page.watching
    assert page.interval_ms == (SLOWEST_MS if slowest else 10)
    comm.receive({"interval_ms": 10})
    figures.devices = [device(3 * GIB)]
    until(lambda: comm.sent[-1]["devices"] == figures.devices)
