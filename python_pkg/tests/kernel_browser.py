"""A front end of one real kernel, and what it waits for."""

import time
import uuid


class Browser:
    """Plays the front end of one kernel."""

    def __init__(self, client):
        self.client = client
        self.messages = []

    def run(self, code, subshell=None):
        return self._request("execute_request", {"code": code, "silent": False}, subshell)

    def wait_until_idle(self, request):
        self.wait_for(is_end_of(request))

    def wait_for(self, wanted, seconds=60):
        """Return the first message, new or already here, that `wanted` accepts."""
        for message in self.messages:
            if wanted(message):
                return message
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            message = self.client.get_iopub_msg(timeout=seconds)
            self.messages.append(message)
            assert message["msg_type"] != "error", message["content"]
            if wanted(message):
                return message
        raise AssertionError("the message never came")

    def subshell(self):
        request = self.client.session.msg("create_subshell_request", {})
        self.client.control_channel.send(request)
        reply = self.client.get_control_msg(timeout=30)
        return reply["content"]["subshell_id"]

    def send(self, comm, subshell, content):
        data = {"method": "custom", "content": content}
        self._request("comm_msg", {"comm_id": comm, "data": data}, subshell)

    def _request(self, kind, content, subshell):
        message = self.client.session.msg(kind, content)
        # A browser gives each message an id of its own; a Python client counts them.
        message["header"]["msg_id"] = message["msg_id"] = str(uuid.uuid4())
        message["header"]["subshell_id"] = subshell
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]


def is_end_of(request):
    def wanted(message):
        return (
            message["msg_type"] == "status"
            and message["content"]["execution_state"] == "idle"
            and message["parent_header"].get("msg_id") == request
        )

    return wanted


def is_busy_with(request):
    def wanted(message):
        return (
            message["msg_type"] == "status"
            and message["content"]["execution_state"] == "busy"
            and message["parent_header"].get("msg_id") == request
        )

    return wanted


def custom(kind):
    def wanted(message):
        content = message["content"].get("data", {}).get("content", {})
        return message["msg_type"] == "comm_msg" and content.get("type") == kind

    return wanted
