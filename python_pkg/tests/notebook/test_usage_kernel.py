"""The usage comm in a real kernel: announced, opened as a page does, quiet, closed with the extension."""

import pytest
from jupyter_client.manager import start_new_kernel


@pytest.fixture
def client():
    manager, client = start_new_kernel()
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(client, code):
    heard = []
    reply = client.execute_interactive(code, timeout=60, output_hook=heard.append)
    assert reply["content"]["status"] == "ok", reply["content"]
    return heard


def open_comm(client):
    content = {"comm_id": "page", "target_name": "memtrack.usage", "data": {}}
    client.shell_channel.send(client.session.msg("comm_open", content))


def next_from_page(client, timeout=20):
    while True:
        message = client.get_iopub_msg(timeout=timeout)
        if message["content"].get("comm_id") == "page":
            return message


def send(client, data):
    client.shell_channel.send(client.session.msg("comm_msg", {"comm_id": "page", "data": data}))


def test_a_page_that_opens_a_comm_is_told_until_the_extension_goes(client):
    heard = run(client, "%load_ext memtrack")
    (announced,) = [one["content"] for one in heard if one["msg_type"] == "comm_open"]
    assert announced["target_name"] == "memtrack.usage"
    assert announced["data"]["announce"] is True
    closed = [one["content"]["comm_id"] for one in heard if one["msg_type"] == "comm_close"]
    assert closed == [announced["comm_id"]]

    open_comm(client)
    first = next_from_page(client)["content"]["data"]
    assert first["schema"] == "memtrack.usage/1"
    assert first["devices"] == []

    send(client, {"free": True})
    freed = next_from_page(client)["content"]["data"]
    assert freed["freed"]["devices"] == []
    assert "PyTorch" in freed["freed"]["text"]

    run(client, "%unload_ext memtrack")
    names = "[one.name for one in __import__('threading').enumerate()]"
    heard = run(client, f"print('memtrack-usage' in {names})")
    assert [one["content"]["text"] for one in heard if one["msg_type"] == "stream"] == ["False\n"]
