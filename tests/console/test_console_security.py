"""Who may ask the console, and under which rules its pages are shown."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from streambank_console.security import Guard

PORT = 8092


async def page(scope, receive, send):
    """A page that was reached."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"cache-control", b"public")]})
    await send({"type": "http.response.body", "body": b"private"})


def get(path="/", **headers: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(Guard(page, PORT))
        async with httpx.AsyncClient(transport=transport, base_url=f"http://127.0.0.1:{PORT}") as client:
            return await client.get(path, headers=headers)

    return asyncio.run(ask())


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}"])
def test_the_console_answers_under_its_own_address(host):
    """Both names of this machine's loopback, with the console's port, lead to a page."""
    assert get(host=host, origin=f"http://{host}").text == "private"


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:80", f"[::1]:{PORT}", ""]
)
def test_a_name_that_leads_to_this_machine_opens_nothing(host):
    """A stranger's name for 127.0.0.1 (DNS rebinding), or another port, is refused."""
    refused = get(host=host)
    assert refused.status_code == 403
    assert "private" not in refused.text


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:80", f"https://127.0.0.1:{PORT}"])
def test_another_sites_page_cannot_call(origin):
    """A request that a page of another origin began is refused."""
    assert get(origin=origin).status_code == 403


def test_another_sites_page_cannot_open_a_socket():
    """A socket of another origin is closed before the page knows of it."""
    sent = []

    async def connect() -> None:
        async def send(message):
            sent.append(message)

        headers = [(b"host", f"127.0.0.1:{PORT}".encode()), (b"origin", b"https://evil.example")]
        await Guard(page, PORT)({"type": "websocket", "headers": headers, "path": "/"}, None, send)

    asyncio.run(connect())
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_pages_are_kept_nowhere_and_send_nothing_away():
    """A page is not cached, not framed, and its policy lets it load from and connect to the console alone."""
    headers = get().headers
    assert headers.get_list("cache-control") == ["no-store"]
    rules = dict(rule.strip().split(" ", 1) for rule in headers["content-security-policy"].split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["connect-src"] == rules["form-action"] == "'self'"
    assert rules["frame-ancestors"] == rules["object-src"] == "'none'"
    assert "http" not in headers["content-security-policy"]
    assert get("/_nicegui/x.js").headers["cache-control"] == "public"
