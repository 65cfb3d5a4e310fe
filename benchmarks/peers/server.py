"""The scripted model over HTTP on this machine, with counts of its requests."""

from __future__ import annotations

import bisect
import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from benchmarks.peers import bedrock, chat
from benchmarks.peers.tool_replies import ASSISTANT_MODEL, Body, Reply, chat_reply, converse_reply


@dataclass
class RequestCounts:
    """Counts of the requests. Characters are those of texts, tools and calls, without their JSON envelope.

    *fresh* are those after the longest prefix that an earlier call had too: a model's provider that caches every
    prefix reads only these. *stable* are those that the client marks as equal in every request, for a cache.
    """

    model_calls: int = 0
    sent: int = 0
    fresh: int = 0
    stable: int = 0
    received: int = 0
    embedding_calls: int = 0
    embedded: int = 0
    replies: int = 0
    _prompts: list[str] = field(default_factory=list, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def add_call(self, prompt: str, reply: Reply, stable: str = "") -> None:
        """Count a call of the model; *stable* is the part of its prompt that is the same for every request."""
        calls = sum(len(name) + len(json.dumps(arguments, ensure_ascii=False)) for name, arguments in reply.calls)
        with self._lock:
            self.model_calls += 1
            self.sent += len(prompt)
            self.stable += len(stable)
            self.fresh += len(prompt) - max((_shared_length(prompt, earlier) for earlier in self._prompts), default=0)
            self.received += len(reply.text) + calls
            self._prompts.append(prompt)

    def add_embedding(self, texts: int) -> None:
        """Count a call of the embedder with *texts* texts."""
        with self._lock:
            self.embedding_calls += 1
            self.embedded += texts

    def add_assistant_reply(self) -> None:
        """Count a reply of the assistant, which is no cost of a memory."""
        with self._lock:
            self.replies += 1


def _shared_length(one: str, other: str) -> int:
    """Return the length of the common prefix."""
    return bisect.bisect_left(range(len(one)), x=True, key=lambda end: not other.startswith(one[: end + 1]))


@dataclass(frozen=True, slots=True)
class Model:
    """A running model: its address and its counts."""

    url: str
    counts: RequestCounts


@contextmanager
def running() -> Iterator[Model]:
    """Serve the scripted model on a free port of this machine."""
    with _Server() as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield Model(f"http://127.0.0.1:{http.server_port}", http.counts)
        finally:
            http.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        self.counts = RequestCounts()
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        handlers = (handler for ending, handler in _HANDLERS.items() if self.path.endswith(ending))
        handler = next(handlers, None)
        if handler is None:
            self.send_error(404)
        else:
            self._write(*handler(body, self.server.counts))

    def _write(self, kind: str, text: str) -> None:
        raw = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: Any) -> None:
        return


# ---- the reply of each path: a content type and a text


def _completion(body: Body, counts: RequestCounts) -> tuple[str, str]:
    reply = chat_reply(body)
    if body["model"] == ASSISTANT_MODEL:
        counts.add_assistant_reply()
    else:
        counts.add_call(chat.prompt(body), reply)
    return _events(chat.chunks(body, reply)) if body.get("stream") else _document(chat.completion(body, reply))


def _embeddings(body: Body, counts: RequestCounts) -> tuple[str, str]:
    counts.add_embedding(len(chat.inputs(body)))
    return _document(chat.embeddings(body))


def _converse(body: Body, counts: RequestCounts) -> tuple[str, str]:
    reply = converse_reply(body)
    counts.add_call(bedrock.prompt(body), reply, bedrock.stable(body))
    return _document(bedrock.converse(reply))


def _invoke(body: Body, counts: RequestCounts) -> tuple[str, str]:
    counts.add_embedding(1)
    return _document(bedrock.embedding(body))


def _document(document: dict[str, Any]) -> tuple[str, str]:
    return "application/json", json.dumps(document)


def _events(documents: Iterable[dict[str, Any]]) -> tuple[str, str]:
    lines = [*(json.dumps(document) for document in documents), "[DONE]"]
    return "text/event-stream", "".join(f"data: {line}\n\n" for line in lines)


_HANDLERS = {
    "/chat/completions": _completion,
    "/embeddings": _embeddings,
    "/converse": _converse,
    "/invoke": _invoke,
}
