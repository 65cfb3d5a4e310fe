"""A chat backend: each HTTP request carries a session id, and its conversation is loaded and stored around the answer.

    STREAMBANK_URL=http://127.0.0.1:8080 STREAMBANK_KEY=local python docs/examples/chat_backend.py --port 8090
    curl localhost:8090/chat -d '{"sessionId": "s 1", "userId": "7", "message": "My name is Ada."}'

It needs `streambank-client` and nothing else. Put your model in the place of `answer`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from streambank_client import Streambank
from streambank_client.chat import ChatMemory, Feed, StreambankChatHistoryProvider
from streambank_client.errors import (
    PayloadTooLarge,
    PermissionDenied,
    PreconditionFailed,
    StreambankError,
    Unauthenticated,
    Unavailable,
)

Message = dict[str, Any]
SYSTEM: Message = {"role": "system", "content": "You are a helpful assistant."}
MOST_BODY_BYTES = 100_000


def answer(messages: Sequence[Message]) -> Message:
    """Return the model's reply to a conversation in OpenAI's format; this one only shows that it saw all of it."""
    texts = [message["content"] for message in messages if message["role"] == "user"]
    return {"role": "assistant", "content": f"You said {len(texts)} things, the first was: {texts[0]}"}


@dataclass(frozen=True)
class Question:
    """The question of a request."""

    session_id: str
    user_id: str
    message: str
    request_id: str

    @classmethod
    def read(cls, body: bytes, request_id: str | None) -> Question:
        """Return the question of a request's body. Raises ValueError for anything else."""
        document = json.loads(body)
        values = (
            [document.get(name) for name in ("sessionId", "userId", "message")] if isinstance(document, dict) else []
        )
        texts = [value for value in values if isinstance(value, str) and value]
        if len(texts) < 3:
            raise ValueError("sessionId, userId and message must be texts")
        return cls(texts[0], texts[1], texts[2], request_id or uuid.uuid4().hex)


class ChatService:
    """Answers questions; threads may share it, since each turn has its own list of messages."""

    def __init__(self, client: Streambank) -> None:
        bank = client.bank("default")
        provider = StreambankChatHistoryProvider(bank, format="openai", ttl_seconds=30 * 24 * 3600)
        self._chat = ChatMemory(provider).window_size(50).feed(Feed(bank, format="openai"))

    def chat(self, question: Question) -> str:
        """Return the reply; the conversation is stored and its messages are ingested if no error was raised."""
        turn = self._chat.turn(
            question.session_id,
            system=[SYSTEM],
            if_match=True,  # of two requests of one session at once the second gets an error, and nothing is lost
            scope={"user_id": question.user_id},
            run_id=question.request_id,
        )
        with turn as messages:
            messages.append({"role": "user", "content": question.message})
            messages.append(answer(messages))
        return str(messages[-1]["content"])


def status_of(error: Exception) -> int:
    """Return the HTTP status for an error: whose fault it is, and whether the request may be sent again."""
    if isinstance(error, PreconditionFailed):
        return 409
    if isinstance(error, PayloadTooLarge):
        return 413
    if isinstance(error, ValueError):
        return 400
    return 503 if isinstance(error, Unavailable) else 502


class Handler(BaseHTTPRequestHandler):
    """POST /chat, in JSON; the header X-Request-Id makes a repeated request safe to remember."""

    service: ChatService

    def do_POST(self) -> None:
        try:
            question = Question.read(self._body(), self.headers.get("x-request-id"))
            self._send(200, {"reply": self.service.chat(question)})
        except (StreambankError, ValueError) as error:
            self._send(status_of(error), {"error": type(error).__name__})

    def _body(self) -> bytes:
        length = int(self.headers.get("content-length", "0"))
        if self.path != "/chat" or not 0 < length <= MOST_BODY_BYTES:
            raise ValueError("POST /chat with a body of at most 100,000 bytes")
        return self.rfile.read(length)

    def _send(self, status: int, document: Message) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's name
        """Log nothing of what users say, their session ids included."""


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8090)
    port = parser.parse_args().port
    url = os.environ.get("STREAMBANK_URL", "http://127.0.0.1:8080")
    with Streambank(url, key=os.environ.get("STREAMBANK_KEY", "local")) as client:
        # A service that is away is reported now. What the key may not do is reported at the first question.
        with contextlib.suppress(PermissionDenied, Unauthenticated):
            client.bank().get()
        Handler.service = ChatService(client)
        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    try:
        main()
    except StreambankError as error:
        sys.exit(f"Streambank: {error} (`make run` starts it on this machine; STREAMBANK_URL names another service)")
    except KeyboardInterrupt:
        sys.exit(130)
