"""The processes on a device in words: who they are, what is known, how they may be ended."""

import os
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from memtrack.devices.leftovers import DeviceProcess
from memtrack.reports.processes import process_lines, process_rows, processes_html

GIB = 1 << 30
SCRIPT = DeviceProcess(
    200,
    3 * GIB,
    "running",
    command="python train.py --name <b>&x</b>",
    user="ada",
    is_own_users=True,
    age_s=7_500.4,
    parent=1,
)


def line(process, language="en"):
    return process_lines([process])[0].render(language)


def test_a_process_is_two_lines_and_the_command_to_end_it():
    assert [str(one) for one in process_lines([replace(SCRIPT, left="orphan", is_busy=False)])] == [
        "3.00 GiB · python train.py --name <b>&x</b> · pid 200, started 2 h 5 min ago, left behind",
        "    Yours; nothing that started it is left, and it does nothing now.",
        "    $ kill -TERM 200",
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"bytes": None}, "not told · python"),
        ({"relation": "self"}, "3.00 GiB · this process · pid 200"),
        ({"relation": "child", "role": "worker"}, "· a worker of this process ·"),
        ({"state": "hidden", "age_s": None}, "· a process not visible from here · pid 200"),
        ({"notebook": "work/a.ipynb", "kernel": "3f-1"}, "· notebook work/a.ipynb · pid 200"),
        ({"kernel": "3f-1"}, "· Jupyter kernel 3f-1 ·"),
        ({"command": "", "user": "bob", "is_own_users": False}, "· unknown · pid 200, of bob"),
        ({"age_s": 4.3 * 86_400}, "started 4 days ago"),
        ({"age_s": 0.2}, "started 1.00 s ago"),
        ({"rank": "3"}, "rank 3"),
        ({"folder": "/srv/work"}, "pid 200, in /srv/work, started"),
        ({"folder": os.path.expanduser("~/work")}, "in ~/work, started"),
        ({"state": "zombie"}, "ended, but not yet cleared away"),
        ({"state": "stopped"}, "stopped"),
        ({"left": "idle"}, "idle for long"),
        ({"is_busy": True}, "working"),
    ],
)
def test_what_is_known_of_a_process_is_said(changes, expected):
    assert expected in line(replace(SCRIPT, **changes))


def test_chinese_says_the_same():
    found = [one.render("zh_CN") for one in process_lines([replace(SCRIPT, left="idle", rank="0")])]
    assert found == [
        "3.00 GiB · python train.py --name <b>&x</b> · pid 200、2 h 5 min前启动、rank 0、长期空闲",
        "    属于您；自启动以来几乎没有工作，现在也没有在做任何事。",
        "    $ kill -TERM 200",
    ]


def test_a_device_without_processes_says_so():
    assert [str(one) for one in process_lines([])] == ["No process is on this device."]
    assert processes_html([], "zh_CN") == "<p>此设备上没有进程。</p>"


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_html_is_one_table_with_nothing_unescaped(language):
    strange = replace(SCRIPT, pid=7, command='"><script>alert(1)</script>\x1b[31m' + "x" * 300)
    found = processes_html([SCRIPT, strange], language)
    table = ElementTree.fromstring(found.replace("<br>", "<br/>"))
    assert [len(row) for row in table.iter("tr")] == [4, 4, 4]
    assert not list(table.iter("script"))
    assert "\x1b" not in found
    names = ["".join(cell.itertext()) for cell in table.iter("th") if cell.get("scope") == "row"]
    assert names[0] == "python train.py --name <b>&x</b>"
    assert len(names[1]) == 100
    assert [code.text for code in table.iter("code")] == ["kill -TERM 200", "kill -TERM 7"]


def test_rows_keep_the_process_they_are_of():
    rows = process_rows([SCRIPT])
    assert rows[0].process is SCRIPT
    assert (rows[0].ending.allowed, str(rows[0].memory)) == (True, "3.00 GiB")
