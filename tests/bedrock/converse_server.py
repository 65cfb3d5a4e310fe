"""A stand-in for Bedrock's runtime over real HTTP: it answers as its script says and keeps what it was sent."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

Reply = tuple[int, dict[str, Any]]
DIMENSIONS = 64


def tool(name: str, value: Any, stop: str = "tool_use") -> Reply:
    """A call of a tool."""
    return message([{"toolUse": {"toolUseId": "t1", "name": name, "input": value}}], stop)


def text(said: str, stop: str = "end_turn") -> Reply:
    """Prose, with or without JSON in it."""
    return message([{"text": said}], stop)


def message(content: list[dict[str, Any]], stop: str) -> Reply:
    usage = {"inputTokens": 100, "outputTokens": 10, "totalTokens": 110}
    output = {"message": {"role": "assistant", "content": content}}
    return 200, {"output": output, "stopReason": stop, "usage": usage, "metrics": {"latencyMs": 1}}


def error(status: int, kind: str, said: str = "no") -> Reply:
    return status, {"__type": kind, "message": said}


def echoing(request: dict[str, Any]) -> Reply:
    """A plain model: each of the user's own turns is a fact, and each fact is new unless a memory says the same."""
    name = request["toolConfig"]["tools"][0]["toolSpec"]["name"]
    lines = request["messages"][0]["content"][0]["text"].splitlines()
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    if name == "record_facts":
        own = [row for row in rows if row.get("role") == "user" and not row.get("context")]
        return tool(name, {"facts": [{"fact": row["text"], "events": [row["n"]]} for row in own]})
    known = {row["memory"]: row["n"] for row in rows if "memory" in row}
    decisions = [
        {"fact": row["n"], "action": "NONE", "memories": [known[row["fact"]]]}
        if row["fact"] in known
        else {"fact": row["n"], "action": "CREATE", "text": row["fact"]}
        for row in rows
        if "fact" in row and "n" in row
    ]
    return tool(name, {"decisions": decisions})


def _vector(said: str) -> list[float]:
    digest = sha256(said.encode()).digest()
    return [byte - 127.5 for byte in digest * (DIMENSIONS // len(digest))]


@dataclass
class Bedrock:
    """The server: *script* answers first, then *model*; *slow* holds seconds before an answer, one for each call.

    *meaning* gives texts their vectors.
    """

    model: Callable[[dict[str, Any]], Reply] = echoing
    meaning: Callable[[str], list[float]] = _vector
    script: list[Reply] = field(default_factory=list)
    slow: list[float] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    embedded: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    url: str = ""
    lock: Any = field(default_factory=threading.Lock)

    def answer(self, path: str, body: dict[str, Any]) -> Reply:
        if path.endswith("/invoke"):
            return self._embed(body)
        with self.lock:
            self.asked.append({**body, "modelId": unquote(path.split("/")[2])})
            pause = self.slow.pop(0) if self.slow else 0.0
            reply = self.script.pop(0) if self.script else None
        time.sleep(pause)
        return reply or self.model(body)

    def _embed(self, body: dict[str, Any]) -> Reply:
        with self.lock:
            self.embedded.append(body)
        if "inputText" in body:
            return 200, {"embedding": self.meaning(body["inputText"]), "inputTextTokenCount": 3}
        return 200, {"embeddings": {"float": [self.meaning(one) for one in body["texts"]]}}


@contextmanager
def running(server: Bedrock) -> Iterator[Bedrock]:
    """Serve *server* on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # with it a body may wait 40 ms for the client to acknowledge the headers

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.authorizations.append(self.headers.get("authorization"))
            status, reply = server.answer(self.path, body)
            raw = json.dumps(reply).encode()
            try:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw)))
                if status >= 400:
                    self.send_header("x-amzn-errortype", reply["__type"])
                self.end_headers()
                self.wfile.write(raw)
            except ConnectionError:
                self.close_connection = True  # the caller gave up

        def log_message(self, *_: Any) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        server.url = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        http.shutdown()
        thread.join()
