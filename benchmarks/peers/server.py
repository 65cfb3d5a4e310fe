"""The scripted model over HTTP on this machine, and what was asked of it."""

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
from benchmarks.peers.askers import REPLYING, Answer, Body, chat_answer, converse_answer


@dataclass
class Tally:
    """What was asked so far. Characters are those of texts, tools and calls, not of their JSON envelope.

    *fresh* are those that come after the longest beginning that an earlier call had too: what a model's provider
    reads anew if it keeps every beginning.
    """

    model_calls: int = 0
    sent: int = 0
    fresh: int = 0
    received: int = 0
    embedding_calls: int = 0
    embedded: int = 0
    replies: int = 0
    _prompts: list[str] = field(default_factory=list, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def asked(self, prompt: str, answer: Answer) -> None:
        """Count a call of the model."""
        called = sum(len(name) + len(json.dumps(given, ensure_ascii=False)) for name, given in answer.calls)
        with self._lock:
            self.model_calls += 1
            self.sent += len(prompt)
            self.fresh += len(prompt) - max((_shared(prompt, earlier) for earlier in self._prompts), default=0)
            self.received += len(answer.text) + called
            self._prompts.append(prompt)

    def embeds(self, texts: int) -> None:
        """Count a call of the embedder with so many texts."""
        with self._lock:
            self.embedding_calls += 1
            self.embedded += texts

    def replied(self) -> None:
        """Count a reply of the assistant, which is no memory's cost."""
        with self._lock:
            self.replies += 1


def _shared(one: str, other: str) -> int:
    """Return the length of the beginning that both have."""
    return bisect.bisect_left(range(len(one)), x=True, key=lambda end: not other.startswith(one[: end + 1]))


@dataclass(frozen=True, slots=True)
class Model:
    """A running model: its address and its tally."""

    url: str
    tally: Tally


@contextmanager
def running() -> Iterator[Model]:
    """Serve the scripted model on a free port of this machine."""
    with _Server() as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield Model(f"http://127.0.0.1:{http.server_port}", http.tally)
        finally:
            http.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        self.tally = Tally()
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answers = (answer for ending, answer in _ANSWERS.items() if self.path.endswith(ending))
        answer = next(answers, None)
        if answer is None:
            self.send_error(404)
        else:
            self._write(*answer(body, self.server.tally))

    def _write(self, kind: str, text: str) -> None:
        raw = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: Any) -> None:
        return


# ---- what each path answers: a content type and a text


def _completion(body: Body, tally: Tally) -> tuple[str, str]:
    answer = chat_answer(body)
    if body["model"] == REPLYING:
        tally.replied()
    else:
        tally.asked(chat.prompt(body), answer)
    return _events(chat.chunks(body, answer)) if body.get("stream") else _document(chat.completion(body, answer))


def _embeddings(body: Body, tally: Tally) -> tuple[str, str]:
    tally.embeds(len(chat.inputs(body)))
    return _document(chat.embeddings(body))


def _converse(body: Body, tally: Tally) -> tuple[str, str]:
    answer = converse_answer(body)
    tally.asked(bedrock.prompt(body), answer)
    return _document(bedrock.converse(answer))


def _invoke(body: Body, tally: Tally) -> tuple[str, str]:
    tally.embeds(1)
    return _document(bedrock.embedding(body))


def _document(document: dict[str, Any]) -> tuple[str, str]:
    return "application/json", json.dumps(document)


def _events(documents: Iterable[dict[str, Any]]) -> tuple[str, str]:
    lines = [*(json.dumps(document) for document in documents), "[DONE]"]
    return "text/event-stream", "".join(f"data: {line}\n\n" for line in lines)


_ANSWERS = {
    "/chat/completions": _completion,
    "/embeddings": _embeddings,
    "/converse": _converse,
    "/invoke": _invoke,
}
