"""The routes of the side panel on a real server, with devices from a tape."""

import asyncio
import json
import re
from pathlib import Path

import pytest
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado.httpclient import HTTPClientError

import memtrack
from memtrack.server.handlers import ROUTES
from memtrack.server.stream import StreamHandler

ROUTE = ("memtrack", "api", "gpus")
GIB = 1 << 30


@pytest.fixture
def jp_server_config(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMTRACK_TEST_FAULTS", str(tmp_path / "faults.json"))
    return {
        "MemtrackServer": {"driver": "replayed_devices.ReplayedDevices"},
        "ServerApp": {"jpserver_extensions": {"memtrack": True}},
    }


@pytest.fixture
def sampler(jp_serverapp):
    return jp_serverapp.web_app.settings["memtrack_sampler"]


@pytest.fixture
def new_session(jp_fetch):
    async def new(path):
        body = {"path": path, "name": path, "type": "notebook", "kernel": {"name": "python3"}}
        answer = await jp_fetch("api", "sessions", method="POST", body=json.dumps(body))
        return json.loads(answer.body)

    return new


async def state_of(jp_fetch):
    return json.loads((await jp_fetch(*ROUTE)).body)


async def read(socket):
    return json.loads(await asyncio.wait_for(socket.read_message(), 20))


def processes_of(state):
    return [process for device in state["devices"] for process in device["processes"]]


async def test_the_state_has_what_the_driver_tells(jp_fetch):
    state = await state_of(jp_fetch)
    assert state["schema"] == "memtrack.gpus/1"
    assert (state["status"]["id"], state["kernels"], state["interval_ms"]) == ("ok", "local", 1000)
    first, second = state["devices"]
    assert (first["name"], first["index"], first["kind"]) == ("NVIDIA H200", 0, "cuda")
    assert first["used"] + first["free"] + first["reserved"] == first["total"]
    assert [process["bytes"] for process in first["processes"]] == [4 * GIB, 2 * GIB]
    assert second["processes"][0]["user"] == "grace"
    assert first["status"] is None


async def test_kernels_are_matched_with_their_notebooks(jp_fetch, new_session, jp_serverapp):
    session = await new_session("a.ipynb")
    process = processes_of(await state_of(jp_fetch))[0]
    assert process["kernel"]["id"] == session["kernel"]["id"]
    assert process["kernel"]["path"] == "a.ipynb"
    assert process["kernel"]["type"] == "notebook"
    assert process["kernel"]["last_activity"]
    # A kernel of this server is interrupted or shut down through Jupyter, so no command is offered.
    assert process["end_command"] is None
    assert process["mine"]
    others = processes_of(await state_of(jp_fetch))[1:]
    assert all(other["kernel"] is None for other in others)
    await jp_serverapp.kernel_manager.shutdown_all()


async def test_another_users_command_line_is_not_shown(jp_fetch):
    *mine, other = processes_of(await state_of(jp_fetch))
    assert other["command"] == "python"
    assert not other["mine"]
    assert other["end_command"] is None
    assert all(process["command"].startswith("python train-") for process in mine)
    assert all(process["end_command"] == f"kill -TERM {process['pid']}" for process in mine)


class TestConfigured:
    @pytest.fixture
    def jp_server_config(self):
        return {
            "MemtrackServer": {
                "driver": "replayed_devices.ReplayedDevices",
                "show_commands_of_others": True,
            },
            "ServerApp": {"jpserver_extensions": {"memtrack": True}},
        }

    async def test_it_is_shown_if_the_server_says_so(self, jp_fetch):
        *_, other = processes_of(await state_of(jp_fetch))
        assert other["command"] == "python train-2.py --lr 0.1"


@pytest.mark.parametrize("path", [path for path, _ in ROUTES])
@pytest.mark.parametrize("token", ["", "token wrong"])
async def test_each_route_refuses_without_a_token(jp_fetch, path, token):
    headers = {"Authorization": token} if token else {"Authorization": ""}
    with pytest.raises(HTTPClientError) as refused:
        await jp_fetch("memtrack", "api", *path.split("/"), headers=headers)
    assert refused.value.code == 403


async def test_the_websocket_refuses_without_a_token(jp_ws_fetch, sampler):
    with pytest.raises(HTTPClientError) as refused:
        await jp_ws_fetch(*ROUTE, "stream", headers={"Authorization": "token wrong"})
    assert refused.value.code == 403
    assert sampler.looks == 0


def test_the_websocket_checks_a_pages_origin_as_jupyters_own_do():
    assert StreamHandler.check_origin is WebSocketMixin.check_origin
    assert StreamHandler.skip_check_origin is JupyterHandler.skip_check_origin


async def test_routes_are_below_the_base_url(jp_fetch, jp_base_url):
    answer = await jp_fetch(*ROUTE)
    assert jp_base_url != "/"
    assert f"{jp_base_url}memtrack/api/gpus" in answer.effective_url


async def test_nothing_is_asked_before_somebody_looks(jp_fetch, sampler):
    await jp_fetch("memtrack", "api", "info")
    await asyncio.sleep(0.1)
    assert sampler.looks == 0


async def test_the_websocket_tells_each_look_and_stops_when_told(jp_ws_fetch, sampler):
    socket = await jp_ws_fetch(*ROUTE, "stream")
    await socket.write_message(json.dumps({"interval_ms": 250}))
    numbers = [(await read(socket))["sequence"] for _ in range(3)]
    assert numbers == sorted(set(numbers))
    await socket.write_message(json.dumps({"watching": False}))
    await asyncio.sleep(0.4)
    looks = sampler.looks
    await asyncio.sleep(0.6)
    assert sampler.looks == looks
    await socket.write_message(json.dumps({"watching": True}))
    last = 0
    while last <= looks:
        last = (await read(socket))["sequence"]
    socket.close()
    await asyncio.sleep(0.6)
    looks = sampler.looks
    await asyncio.sleep(0.6)
    assert sampler.looks == looks


async def test_two_clients_share_one_look(jp_ws_fetch, jp_fetch, sampler):
    one, other = [await jp_ws_fetch(*ROUTE, "stream") for _ in range(2)]
    first, second = await read(one), await read(other)
    assert first == second
    assert await state_of(jp_fetch) == first
    assert sampler.looks == 1
    one.close()
    other.close()


async def test_each_client_has_the_pace_it_wants(jp_ws_fetch):
    quick, slow = [await jp_ws_fetch(*ROUTE, "stream") for _ in range(2)]
    await quick.write_message(json.dumps({"interval_ms": 250}))
    await slow.write_message(json.dumps({"interval_ms": 60_000}))
    numbers = [(await read(quick))["sequence"] for _ in range(4)]
    # A state that is late is left out for the one after it.
    assert numbers[0] == 1 and numbers == sorted(set(numbers))
    assert (await read(slow))["sequence"] == 1
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(slow.read_message(), 0.2)
    quick.close()
    slow.close()


@pytest.mark.parametrize(
    "message",
    [
        "",
        "[]",
        "{",
        '{"interval_ms": "now"}',
        '{"interval_ms": -1}',
        '{"interval_ms": NaN}',
        "[" * 1000,
        "x" * 5000,
        b"\xff",
    ],
)
async def test_nonsense_from_a_client_is_let_pass(jp_ws_fetch, message):
    socket = await jp_ws_fetch(*ROUTE, "stream")
    await read(socket)
    await socket.write_message(message, binary=isinstance(message, bytes))
    assert (await read(socket))["sequence"] == 2
    socket.close()


FAULTS = {
    "no_driver": ({"refuse": {"nvmlInit": "LIBRARY_NOT_FOUND"}}, {}),
    "library_missing": ({"missing": True}, {}),
    "version_mismatch": ({"refuse": {"nvmlInit": "LIB_RM_VERSION_MISMATCH"}}, {}),
    "wsl_blocked": ({"refuse": {"nvmlInit": "OPERATING_SYSTEM"}}, {"is_wsl": True}),
    "permission": ({"refuse": {"nvmlInit": "NO_PERMISSION"}}, {}),
    "container": ({"refuse": {"nvmlInit": "LIBRARY_NOT_FOUND"}}, {"is_container": True}),
    "unknown": ({"refuse": {"nvmlInit": "UNKNOWN"}}, {}),
}


@pytest.mark.parametrize("status", FAULTS)
async def test_a_driver_that_fails_is_an_answer_with_a_way_out(jp_fetch, tmp_path, status):
    script, environment = FAULTS[status]
    (tmp_path / "faults.json").write_text(json.dumps({**script, "environment": environment}))
    state = await state_of(jp_fetch)
    assert state["devices"] == []
    assert state["status"]["id"] == status
    for language in ("en", "zh_CN"):
        assert state["status"]["message"][language]
        assert state["status"]["advice"][language]


async def test_a_fault_comes_and_goes_on_the_same_socket(jp_ws_fetch, tmp_path):
    script = tmp_path / "faults.json"
    socket = await jp_ws_fetch(*ROUTE, "stream")
    await socket.write_message(json.dumps({"interval_ms": 250}))

    async def until(is_so):
        while not is_so(state := await read(socket)):
            continue
        return state

    await until(lambda state: len(state["devices"]) == 2)
    script.write_text(json.dumps({"refuse": {"nvmlDeviceGetMemoryInfo": "GPU_IS_LOST"}}))
    lost = await until(lambda state: state["devices"][0]["status"])
    assert lost["devices"][0]["status"]["id"] == "lost"
    assert lost["devices"][0]["used"] > 0
    assert not lost["devices"][0]["lists_processes"]
    script.write_text("{}")
    await until(lambda state: all(device["status"] is None for device in state["devices"]))
    socket.close()


async def test_a_driver_that_hangs_is_told_with_the_last_figures(
    jp_ws_fetch, tmp_path, monkeypatch
):
    monkeypatch.setattr("memtrack.server.sampler.PATIENCE_S", 0.2)
    socket = await jp_ws_fetch(*ROUTE, "stream")
    await socket.write_message(json.dumps({"interval_ms": 250}))
    used = (await read(socket))["devices"][0]["used"]
    (tmp_path / "faults.json").write_text(json.dumps({"hang_s": 2}))
    while (state := await read(socket))["status"]["id"] == "ok":
        continue
    assert state["status"]["id"] == "unknown"
    assert "has not answered" in state["status"]["message"]["en"]
    assert state["devices"][0]["used"] == used
    (tmp_path / "faults.json").write_text("{}")
    while (await read(socket))["status"]["id"] != "ok":
        continue
    socket.close()


@pytest.mark.parametrize("failing", ["source", "kernels"])
async def test_a_look_that_raises_ends_nothing(jp_ws_fetch, sampler, monkeypatch, failing):
    """Whatever fails once: who watches goes on being served, and the next look is as any other."""
    socket = await jp_ws_fetch(*ROUTE, "stream")
    await socket.write_message(json.dumps({"interval_ms": 250}))
    await read(socket)
    room, name = (sampler._source, "read") if failing == "source" else (sampler._kernels, "look")
    failures = []

    def fails(*_):
        failures.append(1)
        raise RuntimeError("of the driver")

    with monkeypatch.context() as broken:
        broken.setattr(room, name, fails)
        while len(failures) < 3:
            await asyncio.sleep(0.05)
    while not (await read(socket))["devices"]:
        continue
    assert sampler._task is not None and len(failures) < 20
    socket.close()


async def test_words_that_are_no_utf8_are_sent_as_well_as_can_be(jp_ws_fetch, sampler, monkeypatch):
    from memtrack.server.state import gpu_state

    monkeypatch.setattr(
        "memtrack.server.sampler.gpu_state",
        lambda *given, **named: gpu_state(*given, **named) | {"kernels": "/home/\udcff.ipynb"},
    )
    socket = await jp_ws_fetch(*ROUTE, "stream")
    assert (await read(socket))["kernels"] == "/home/?.ipynb"
    socket.close()


async def test_a_user_cannot_act_on_a_kernel_that_is_not_this_servers(jp_fetch):
    """Acting is Jupyter's own routes, which know this server's kernels and nothing else."""
    for method, path in (("DELETE", ()), ("POST", ("interrupt",))):
        options = {"body": "{}"} if method == "POST" else {}
        with pytest.raises(HTTPClientError) as refused:
            await jp_fetch(
                *("api", "kernels", "11111111-2222-3333-4444-555555555555", *path),
                method=method,
                **options,
            )
        assert refused.value.code == 404


def test_our_routes_only_read():
    verbs = {verb for _, handler in ROUTES for verb in vars(handler) if verb in _VERBS}
    assert verbs == {"get"}


_VERBS = ("get", "head", "post", "put", "patch", "delete")
_FORBIDDEN = re.compile(
    r"\bos\.(?:system|popen|kill|killpg|exec\w*|spawn\w*)\b|\bshell\s*=\s*True|\bpty\."
    r"|\.(?:kill|terminate|send_signal|suspend|resume)\("
    r"|\bsignal\.pthread_kill\b|\bcreate_subprocess_\w+|\bimport subprocess\b|\bfrom subprocess\b"
)


def test_nothing_ends_a_process_or_starts_a_shell():
    package = Path(memtrack.__file__).parent
    found = {}
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        for match in _FORBIDDEN.finditer(path.read_text()):
            found.setdefault(name, []).append(match[0])
    # A program that is told to end saves its recording, then ends itself by the same signal. Git is
    # asked whether files have changed, without a shell, from the process that records.
    own = {"scripts/termination.py": {"os.kill"}, "runs/git.py": {"import subprocess"}}
    assert {name: set(said) for name, said in found.items() if set(said) != own.get(name)} == {}
