"""What a browser sees of local mode."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from streambank_local.callers.callers import LocalCallers
from streambank_local.http.gateway import Gateway
from streambank_local.http.payload import Request

# HTML's elements without an end tag.
_EMPTY = {"meta", "br", "link"}


class Elements(HTMLParser):
    """Reads a page and fails where an element is not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attributes):
        self.links += [value for name, value in attributes if name in ("href", "src")]
        if tag not in _EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def gateway() -> Gateway:
    return Gateway([], None, LocalCallers())


def get(path: str, host: str = "127.0.0.1:8080"):
    return gateway().handle(Request("GET", path, (("host", host),)))


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_a_browser_gets_a_page_without_a_token(path):
    """The pages are whole HTML, load nothing, and link only to pages that are there."""
    response = get(path)
    assert (response.status, dict(response.headers)["content-type"]) == (200, "text/html; charset=utf-8")
    page = Elements()
    page.feed(response.body.decode())
    assert page.open == []
    assert page.links
    assert all(get(link).status == 200 for link in page.links)


def test_the_page_of_the_api_names_every_route():
    """Each path, method summary and field of a body of the document is on the page."""
    document = json.loads(get("/openapi.json").body)
    page = Elements()
    page.feed(get("/docs").body.decode())
    for path, methods in document["paths"].items():
        assert path in page.text
        for method in methods.values():
            assert method["summary"] in page.text
    assert "directContentsSource" in page.text


def test_a_host_cannot_write_into_the_page():
    """What a client sends as its host is shown escaped."""
    body = get("/", host='"><script>alert(1)</script>').body.decode()
    assert "<script" not in body
    assert re.search("&lt;script", body)


def test_other_paths_and_methods_are_as_before():
    """A path beside the pages is unknown, and a page takes no POST."""
    assert get("/docs/x").status == 404
    assert gateway().handle(Request("POST", "/docs")).status == 404
