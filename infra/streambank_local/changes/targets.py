"""Where local mode sends changes: a webhook, whose requests are signed, or standard output."""

import hashlib
import hmac
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx

SECRET = "STREAMBANK_CHANGES_SECRET"  # noqa: S105 - the name of a variable
SECRET_FILE = "STREAMBANK_CHANGES_SECRET_FILE"  # noqa: S105 - likewise
TIMESTAMP_HEADER = "Streambank-Timestamp"
SIGNATURE_HEADER = "Streambank-Signature"
LONGEST_PAUSE_SECONDS = 60.0

_log = logging.getLogger(__name__)


class Target(Protocol):
    """Takes changes one by one, in order."""

    def send(self, change: Mapping[str, Any], wait: Callable[[float], bool]) -> bool:
        """Send *change*, again until it is taken; False if *wait*, which pauses for seconds, tells to stop."""


class StandardOutput:
    """Writes a line of JSON for each change."""

    def send(self, change: Mapping[str, Any], _wait: Callable[[float], bool]) -> bool:
        """Write *change*."""
        print(_body(change), file=sys.stdout, flush=True)
        return True


class Webhook:
    """Posts each change, signed with *secret*, and repeats what is not answered with success, with pauses that grow."""

    def __init__(self, url: str, secret: bytes, clock: Callable[[], float] = time.time) -> None:
        self._url = url
        self._secret = secret
        self._clock = clock
        self._client = httpx.Client(timeout=10.0, trust_env=False)

    def send(self, change: Mapping[str, Any], wait: Callable[[float], bool]) -> bool:
        """Post *change* until it is taken."""
        pause = 1.0
        while not self._is_accepted(_body(change).encode()):
            if wait(pause):
                return False
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        return True

    def _is_accepted(self, body: bytes) -> bool:
        timestamp = str(int(self._clock()))
        headers = {
            "content-type": "application/json",
            TIMESTAMP_HEADER: timestamp,
            SIGNATURE_HEADER: signature(self._secret, timestamp, body),
        }
        try:
            reply = self._client.post(self._url, content=body, headers=headers)
        except httpx.HTTPError as error:
            _log.warning("the webhook cannot be reached: %s", type(error).__name__)
            return False
        if not reply.is_success:
            _log.warning("the webhook answers %d", reply.status_code)
        return reply.is_success


def signature(secret: bytes, timestamp: str, body: bytes) -> str:
    """Return the signature of a request: HMAC-SHA256 over the timestamp, a dot and the body."""
    return "sha256=" + hmac.new(secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def webhook(url: str, environment: Mapping[str, str] = os.environ) -> Webhook:
    """Return the webhook at *url*. Raises ValueError if the URL or its secret cannot be used."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise ValueError("the webhook is not an http or https URL without user and password")
    file = environment.get(SECRET_FILE, "")
    secret = environment.get(SECRET, "") or (Path(file).expanduser().read_text().strip() if file else "")
    if not secret:
        raise ValueError(f"a webhook needs a secret to sign with, in {SECRET} or in the file that {SECRET_FILE} names")
    return Webhook(url, secret.encode())


def _body(change: Mapping[str, Any]) -> str:
    return json.dumps(change, ensure_ascii=False, separators=(",", ":"))
