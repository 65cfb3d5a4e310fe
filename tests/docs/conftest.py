"""A local service for the examples, which run in processes of their own, and an endpoint that speaks for OpenAI."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from streambank_local.service import LocalService

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"
LOCAL = "http://127.0.0.1:8080"
Run = Callable[..., str]


def indented_blocks(page: str) -> list[str]:
    """Return the indented blocks of a page outside of its fences, without their indent."""
    outside = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", outside, re.MULTILINE)
    return [textwrap.dedent(block).strip() for block in blocks]


def python_blocks(page: str) -> list[str]:
    """Return the fenced programs of a page."""
    return re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="package")
def service() -> Iterator[LocalService]:
    with LocalService(timer_enabled=False) as service:
        yield service


@pytest.fixture
def run_example(service: LocalService) -> Run:
    """Run an example against the service, and return what it prints; it must end well and complain of nothing."""

    def run(name: str, *arguments: str, typed: str = "", **environment: str) -> str:
        done = subprocess.run(
            [sys.executable, str(EXAMPLES / name), *arguments],
            input=typed,
            capture_output=True,
            text=True,
            timeout=120,
            cwd=ROOT,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT / "client"),
                "STREAMBANK_URL": service.base_url,
                "STREAMBANK_TOKEN": "local",
                **environment,
            },
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


@dataclass
class ChatEndpoint:
    """Answers chat completions with scripted messages, in order, whole or in frames, and keeps what it was asked."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(request)
        return {"object": "chat.completion", "choices": [{"index": 0, "message": self.messages.pop(0)}]}

    def stream(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the next message in frames of a word each."""
        message = self.answer(request)["choices"][0]["message"]
        words = re.findall(r"\S+\s*", message["content"])
        deltas = [{"role": "assistant", "content": ""}, *({"content": word} for word in words)]
        frames = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        frames.append({"index": 0, "delta": {}, "finish_reason": "stop"})
        return [
            {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [frame]}
            for frame in frames
        ]

    def prompts(self) -> list[list[dict[str, Any]]]:
        return [request["messages"] for request in self.asked]


def sse(frames: list[dict[str, Any]]) -> bytes:
    """Return frames as server-sent events, as OpenAI ends them."""
    lines = [json.dumps(frame) for frame in frames]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()


@pytest.fixture
def chat_endpoint() -> Iterator[ChatEndpoint]:
    endpoint = ChatEndpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/chat/completions"
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if request.get("stream"):
                media_type, body = "text/event-stream", sse(endpoint.stream(request))
            else:
                media_type, body = "application/json", json.dumps(endpoint.answer(request)).encode()
            self.send_response(200)
            self.send_header("content-type", media_type)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    yield endpoint
    server.shutdown()
    server.server_close()
    thread.join()
