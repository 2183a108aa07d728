"""A real Jupyter Server with the extension enabled; its base URL is not the root."""

import pytest


@pytest.fixture
def jp_server_config():
    return {"ServerApp": {"jpserver_extensions": {"memtrack": True}}}
