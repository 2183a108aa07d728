"""The route by which the two halves compare their versions."""

import json

import pytest
from tornado.httpclient import HTTPClientError

import memtrack
from memtrack.server.handlers import ROUTES


async def test_info_tells_the_version_below_the_base_url(jp_fetch, jp_base_url):
    response = await jp_fetch("memtrack", "api", "info")
    assert jp_base_url != "/"
    assert f"{jp_base_url}memtrack/api/info" in response.effective_url
    assert json.loads(response.body) == {"version": memtrack.__version__}


async def test_info_is_refused_without_the_token(jp_fetch):
    with pytest.raises(HTTPClientError) as refused:
        await jp_fetch("memtrack", "api", "info", headers={"Authorization": "token wrong"})
    assert refused.value.code == 403


@pytest.mark.parametrize("handler", [handler for _, handler in ROUTES])
def test_every_verb_asks_who_is_there(handler):
    verbs = [
        vars(handler)[verb]
        for verb in ("get", "post", "put", "patch", "delete")
        if verb in vars(handler)
    ]
    assert verbs
    assert all(hasattr(verb, "__wrapped__") for verb in verbs)
