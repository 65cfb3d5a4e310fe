"""Calls to the service; an error has Google's shape, whatever was asked."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import httpx

from tests.blackbox.words import words_in

VERSION = "/v1beta1"
ROOT = "local"
_STATUSES = {
    400: {"INVALID_ARGUMENT", "FAILED_PRECONDITION"},
    401: {"UNAUTHENTICATED"},
    403: {"PERMISSION_DENIED"},
    404: {"NOT_FOUND"},
    409: {"ALREADY_EXISTS", "ABORTED"},
    412: {"FAILED_PRECONDITION"},
    413: {"INVALID_ARGUMENT"},
    429: {"RESOURCE_EXHAUSTED"},
}
Watch = Callable[[str, str, str, str], None]


class Calls:
    """The service over HTTP, with its clock; *trace* has each call as a line."""

    def __init__(self, base_url: str) -> None:
        self._http = httpx.Client(base_url=base_url, timeout=600)
        self.trace: list[str] = []
        self.watch: Watch = lambda key, path, request, reply: None
        self._since = time.monotonic()
        self._now = datetime.min
        self.advance(0)

    def close(self) -> None:
        self._http.close()

    @property
    def now(self) -> datetime:
        return self._now + timedelta(seconds=time.monotonic() - self._since)

    def advance(self, seconds: int) -> datetime:
        """Move the clock and return the time; all that is due has been done afterwards."""
        reply = self._http.post("/_local/clock:advance", json={"seconds": seconds})
        body = reply.json()
        self.trace.append(f"clock:advance {seconds} -> {reply.text}")
        assert body["settled"], f"the service has not come to rest: {reply.text}"
        self._now, self._since = datetime.fromisoformat(body["now"]), time.monotonic()
        return self._now

    def key(self, bank: str, roles: list[str], scope: dict[str, str] | None = None) -> str:
        body = {"bank": bank, "roles": roles} | ({"scope": scope} if scope else {})
        return str(self._http.post("/_local/keys", json=body).json()["key"])

    def send(
        self, key: str, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """Return status and body of a reply that may be an error."""
        credentials = {"authorization": f"Bearer {key}"} if key else {}
        reply = self._http.request(method, f"{VERSION}/{path}", json=body, headers={**credentials, **(headers or {})})
        request = "" if body is None else json.dumps(body)
        self.trace.append(f"{method} {path} {request} key={key[:9]} -> {reply.status_code} {reply.text[:400]}")
        check_shape(reply)
        self.watch(key, path, path + request, reply.text)
        return reply.status_code, reply.json()

    def ok(self, key: str, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Any:
        """Return the body of a reply that must be 200."""
        status, reply = self.send(key, method, path, body, headers)
        assert status == 200, f"{method} {path}: {status} {reply}"
        return reply

    def pages(self, key: str, path: str, field: str) -> list[Any]:
        """Return all rows of a list."""
        rows: list[Any] = []
        token = ""
        while True:
            page = self.ok(key, "GET", f"{path}{'&' if '?' in path else '?'}pageSize=100&pageToken={token}")
            rows += page.get(field, [])
            token = page.get("nextPageToken", "")
            if not token:
                return rows


def check_shape(reply: httpx.Response) -> None:
    assert reply.status_code < 500, f"a fault of the service: {reply.text}"
    if reply.status_code == 200:
        return
    error = reply.json()["error"]
    assert set(error) <= {"code", "message", "status", "details"}, f"not Google's error: {reply.text}"
    assert error["code"] == reply.status_code, f"code and status differ: {reply.text}"
    assert error["message"], f"an error without a message: {reply.text}"
    assert error["status"] in _STATUSES[reply.status_code], f"not a status of {reply.status_code}: {reply.text}"


def strange_words(reply: str, request: str, allowed: set[str]) -> set[str]:
    """Return the marker words of *reply* that the caller neither sent nor may see."""
    return words_in(reply) - words_in(request) - allowed
