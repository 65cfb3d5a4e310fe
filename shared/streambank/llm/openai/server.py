"""HTTP to a server of models: no redirects, and replies that are bounded in bytes and in time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import urllib3

from streambank.errors import ModelNotConfigured

# A batch of 32 vectors of 8,192 numbers has some 6 MB.
MAX_REPLY_BYTES = 16 * 1024 * 1024
_CONNECT_SECONDS = 3.0
_CHUNK_BYTES = 65_536
_KEY = re.compile(r"[!-~]*")


class ReplyTooLong(Exception):
    """The reply has more than MAX_REPLY_BYTES."""


class ReplyTooSlow(Exception):
    """The reply did not end in time."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A reply as it came."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Server:
    """A server by its base URL, such as `https://api.openai.com/v1`; *key* returns the API key, or nothing."""

    url: str
    key: Callable[[], str] = field(repr=False)
    pool: urllib3.PoolManager
    timeout_seconds: float
    monotonic: Callable[[], float]

    def post(self, path: str, document: Mapping[str, Any]) -> HttpReply:
        """Send *document* once and return the reply.

        Raises:
            urllib3.exceptions.HTTPError: no connection, or no reply in time.
            ReplyTooLong, ReplyTooSlow: the reply is out of bounds.
            ModelNotConfigured: there is no base URL, or the key is none.
        """
        if not self.url:
            raise ModelNotConfigured("this deployment names no server of models")
        deadline = self.monotonic() + self.timeout_seconds
        response = self.pool.request(
            "POST",
            f"{self.url.rstrip('/')}{path}",
            body=json.dumps(document).encode(),
            headers={"content-type": "application/json", "accept": "application/json", **self._authorization()},
            timeout=urllib3.Timeout(connect=_CONNECT_SECONDS, read=self.timeout_seconds),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        try:
            body = self._read(response, deadline)
        except BaseException:
            response.close()
            raise
        response.release_conn()
        return HttpReply(response.status, response.headers, body)

    def _authorization(self) -> dict[str, str]:
        key = self.key().strip()
        # http.client would quote a key with a line end in its error.
        if not _KEY.fullmatch(key):
            raise ModelNotConfigured("the API key has characters that no key has")
        return {"authorization": f"Bearer {key}"} if key else {}

    def _read(self, response: urllib3.BaseHTTPResponse, deadline: float) -> bytes:
        body = bytearray()
        while chunk := response.read1(_CHUNK_BYTES):
            body += chunk
            if len(body) > MAX_REPLY_BYTES:
                raise ReplyTooLong
            if self.monotonic() > deadline:
                raise ReplyTooSlow
        return bytes(body)
