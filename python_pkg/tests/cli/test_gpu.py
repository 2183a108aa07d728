"""`memtrack gpu` on the command line: devices of a tape, none, again and again, a driver that refuses."""

import json
import subprocess
import sys
from argparse import Namespace

import pytest
from made_tape import made_tape
from nvml_tape import TapedNvml

from memtrack.cli import gpu_look
from memtrack.cli.main import main
from memtrack.devices.nvmlsource import NvmlSource
from memtrack.devices.readings import Readings
from memtrack.notebook.gpus import gpus_page

GIB = 1 << 30


def taped():
    return NvmlSource(TapedNvml(made_tape(2, ((4 * GIB,), ()), first_pid=4_000_001)))


class NoDriver:
    closed = 0

    def read(self):
        return Readings(refusal="LIBRARY_NOT_FOUND", detail="NVML Shared Library Not Found")

    def close(self):
        self.closed += 1


def ask(capsys, source, **options):
    code = gpu_look.run(Namespace(**{"watch": None, "json": False, **options}), "en", source)
    return code, capsys.readouterr().out


def test_the_text_is_that_of_the_magic(capsys):
    source = taped()
    code, out = ask(capsys, source)
    assert code == 0
    assert out == gpus_page("en", taped()).text + "\n"
    assert source._nvml._initialised is False


def test_json_has_the_figures_of_the_devices_and_their_processes(capsys):
    code, out = ask(capsys, taped(), json=True)
    told = json.loads(out)
    assert (code, told["schema"], told["explanation"]) == (0, "memtrack.gpu/1", "")
    first, second = told["devices"]
    assert [one["pid"] for one in first["processes"]] == [4_000_001]
    assert first["processes"][0]["bytes"] == 4 * GIB
    assert second["processes"] == []
    for one in told["devices"]:
        assert one["total"] == one["used"] + one["free"] + (one["reserved"] or 0)


def test_without_a_driver_it_says_why_and_is_2(capsys):
    source = NoDriver()
    code, out = ask(capsys, source)
    assert (code, source.closed) == (2, 1)
    assert "driver" in out and "NVML Shared Library Not Found" in out
    code, out = ask(capsys, source, json=True)
    told = json.loads(out)
    assert (code, told["devices"]) == (2, [])
    assert "driver" in told["explanation"]


def test_watching_goes_on_until_ctrl_c_and_lets_the_driver_go(capsys, monkeypatch):
    pauses = []

    def sleep(seconds):
        pauses.append(seconds)
        if len(pauses) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(gpu_look.time, "sleep", sleep)
    source = taped()
    code, out = ask(capsys, source, watch="0.5", json=True)
    assert (code, pauses) == (0, [0.5] * 3)
    assert [json.loads(line)["schema"] for line in out.splitlines()] == ["memtrack.gpu/1"] * 3
    assert source._nvml._initialised is False
    pauses.clear()
    code, out = ask(capsys, NoDriver(), watch="2")  # it may come back, as after an update
    assert (code, out.count("NVML Shared Library Not Found")) == (0, 3)
    assert "\x1b" not in out


@pytest.mark.parametrize("words", ["0", "-1", "soon", "nan", "inf", "0.05", ""])
def test_a_pause_that_is_none_is_one_line(words, capsys):
    assert main(["gpu", "--watch", words]) == 2
    told = capsys.readouterr().err
    assert told == f"--watch takes seconds from 0.1 on, not '{words}'.\n"


def test_this_machine_answers_honestly_in_either_language(capsys, monkeypatch):
    for language in ("en", "zh_CN"):
        monkeypatch.setenv("MEMTRACK_LANG", language)
        code = main(["gpu"])
        out, err = capsys.readouterr()
        assert err == ""
        assert (code == 0) == ("GPU 0" in out)
        assert out.strip()


def test_torch_is_not_loaded_for_it():
    program = "import sys\nfrom memtrack.cli import main\nmain(['gpu'])\nassert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


@pytest.mark.gpu
def test_on_a_gpu_it_is_the_device_that_torch_sees(capsys):
    torch = pytest.importorskip("torch")
    held = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    assert main(["gpu", "--json"]) == 0
    devices = json.loads(capsys.readouterr().out)["devices"]
    free, total = torch.cuda.mem_get_info()
    own = next(one for one in devices if one["name"] == torch.cuda.get_device_name(0))
    assert own["total"] - (own["reserved"] or 0) == pytest.approx(total, rel=0.02)
    assert own["used"] >= held.numel()
    assert own["used"] == pytest.approx(total - free, rel=0.2, abs=512 << 20)
