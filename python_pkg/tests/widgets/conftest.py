"""A comm that keeps what is sent, and a recorded run."""

from pathlib import Path

import comm
import pytest

from memtrack.recording import load_recording

RECORDING = Path(__file__).parents[1] / "fixtures" / "report" / "recording.memtrack"


class KeptComm(comm.base_comm.BaseComm):
    """Keeps its messages as (data, buffers) rather than send them."""

    def __init__(self, *args, **kwargs):
        self.sent = []
        self.before_send = lambda: None
        super().__init__(*args, **kwargs)

    def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **keys):
        self.before_send()
        self.sent.append((data, buffers or []))


@pytest.fixture(autouse=True)
def kept_comms(monkeypatch):
    monkeypatch.setattr(comm, "create_comm", KeptComm)


@pytest.fixture
def data():
    return load_recording(RECORDING)


@pytest.fixture
def model():
    from memtrack.widgets.model import ReportModel, forget_recordings

    model = ReportModel()
    model.comm.sent.clear()
    yield model
    forget_recordings()


@pytest.fixture
def receive(model):
    """Deliver a browser's custom message as ipywidgets does."""

    def deliver(content):
        message = {"content": {"data": {"method": "custom", "content": content}}, "buffers": []}
        model._handle_msg(message)

    return deliver
