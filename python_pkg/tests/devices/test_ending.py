"""What may be ended is said with its reason and its command; nothing here ends anything."""

from dataclasses import replace

import pytest

from memtrack.devices.ending import may_end
from memtrack.devices.leftovers import DeviceProcess
from memtrack.i18n import catalogue

MINE = DeviceProcess(200, 5, "running", is_own_users=True, user="ada", parent=50)


def ending(**changes):
    return may_end(replace(MINE, **changes), windows=False)


def test_a_process_of_this_user_may_be_asked_to_end():
    found = ending()
    assert (found.allowed, found.command) == (True, "kill -TERM 200")
    assert may_end(MINE, windows=True).command == "taskkill /PID 200"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"left": "orphan"}, "nothing that started it is left"),
        ({"left": "idle"}, "hardly done anything"),
        ({"is_busy": True}, "working now"),
        ({"is_busy": False}, "not saved is lost"),
    ],
)
def test_the_reason_says_what_would_be_lost(changes, words):
    assert words in str(ending(**changes).why)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"relation": "self"}, "%memtrack free"),
        ({"state": "hidden"}, "ps -fp 200"),
        ({"state": "zombie"}, "process 50"),
        ({"state": "zombie", "parent": 1}, "cleared it away"),
        ({"state": "zombie", "parent": None}, "cleared it away"),
        ({"relation": "child", "role": "worker"}, "DataLoader"),
        ({"relation": "child"}, "Started by this process"),
        ({"is_own_users": False, "user": "bob"}, "belongs to bob"),
        ({"is_own_users": False, "user": ""}, "not known whose"),
    ],
)
def test_what_is_not_the_readers_to_end_has_no_command(changes, words):
    found = ending(**changes)
    assert (found.allowed, found.command) == (False, "")
    assert words in str(found.why)


def test_a_kernel_is_shut_down_by_its_server_and_no_token_is_shown():
    kernel = {"role": "kernel", "kernel": "3f6c-1"}
    found = ending(**kernel, server_url="http://localhost:8888/lab/")
    assert found.command == (
        'curl -X DELETE -H "Authorization: token $JUPYTER_TOKEN"'
        " http://localhost:8888/lab/api/kernels/3f6c-1"
    )
    assert "Running Terminals and Kernels" in str(found.why)
    assert ending(**kernel).command == "kill -TERM 200"
    assert "started anew" in str(ending(**kernel).why)
    # Its server has gone: nobody starts it anew.
    orphan = ending(**kernel, left="orphan")
    assert (orphan.command, "started anew" in str(orphan.why)) == ("kill -TERM 200", False)


def test_ranks_are_ended_together_by_what_started_them():
    assert ending(role="rank", launcher=150).command == "kill -TERM 150"
    assert ending(role="rank", launcher=None).command == "kill -TERM 200"


def test_a_stopped_process_has_to_be_continued_to_end():
    assert ending(state="stopped").command == "kill -TERM 200; kill -CONT 200"


CASES = [
    {},
    {"relation": "self"},
    {"state": "hidden"},
    {"state": "zombie"},
    {"role": "kernel", "server_url": "http://x/"},
    {"role": "rank", "launcher": 3},
]


@pytest.mark.parametrize("changes", CASES)
def test_every_reason_is_told_in_chinese(changes):
    why = ending(**changes).why
    assert why.template in catalogue("zh_CN")
    assert any("\u4e00" <= character <= "\u9fff" for character in why.render("zh_CN"))
