"""A stand-in for a server that speaks OpenAI's API, over real HTTP.

It is the stand-in for Bedrock behind another wire format: scripts and models are the same, so that both adapters pass
the same suite. `Raw` is a reply that no good server gives.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

from tests.bedrock.converse_server import Bedrock, Reply

_REASONS = {
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
}


@dataclass
class Raw:
    """A reply as it is sent; *drip_seconds* is the pause before each byte."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)
    drip_seconds: float = 0.0

    @property
    def raw(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


def refusal(message: str, status: int = 400, **fields: Any) -> Raw:
    """A refusal in OpenAI's own form."""
    return Raw(status, {"error": {"message": message, "type": "invalid_request_error", **fields}})


def completion(message: dict[str, Any], reason: str = "stop", **fields: Any) -> Raw:
    """A completion whose *message* is anything."""
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return Raw(200, {"choices": [{"message": message, "finish_reason": reason}], "usage": usage, **fields})


@dataclass
class OpenAi(Bedrock):
    """The server; *refuse* answers before script and model do. It keeps paths, bodies and authorizations."""

    refuse: Callable[[dict[str, Any]], Raw | None] = lambda _: None
    sent: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def reply(self, path: str, body: dict[str, Any], authorization: str | None) -> Raw:
        with self.lock:
            self.sent.append(body)
            self.paths.append(path)
            self.authorizations.append(authorization)
        if refused := self.refuse(body):
            return refused
        if path.endswith("/embeddings"):
            return self._vectors(body)
        reply: Any = self.answer(f"/model/{quote(body['model'], safe='')}/converse", _converse_request(body))
        return reply if isinstance(reply, Raw) else _completion(reply)

    def _vectors(self, body: dict[str, Any]) -> Raw:
        with self.lock:
            scripted = self.script.pop(0) if self.script and isinstance(self.script[0], Raw) else None
        _, made = self._embed({**body, "texts": body["input"]})
        rows = [{"index": index, "embedding": row} for index, row in enumerate(made["embeddings"]["float"])]
        return scripted or Raw(200, {"data": rows[::-1], "usage": {"prompt_tokens": 3}})


def _converse_request(body: dict[str, Any]) -> dict[str, Any]:
    """Return a request in Converse's form, in which the suite and the scripted models read it."""
    system, *messages = body["messages"]
    request: dict[str, Any] = {
        "system": [{"text": system["content"]}],
        "messages": [{"role": one["role"], "content": [{"text": one["content"]}]} for one in messages],
        "inferenceConfig": {"maxTokens": body.get("max_tokens"), "temperature": body.get("temperature")},
    }
    if "tools" in body:
        function = body["tools"][0]["function"]
        name, schema = function["name"], function["parameters"]
    elif "response_format" in body:
        name, schema = (body["response_format"]["json_schema"][part] for part in ("name", "schema"))
    else:
        schema = json.loads(system["content"].rpartition("\n")[2])
        name = "record_facts" if "facts" in schema["properties"] else "consolidate"
    return {**request, "toolConfig": {"tools": [{"toolSpec": {"name": name, "inputSchema": {"json": schema}}}]}}


def _completion(reply: Reply) -> Raw:
    status, document = reply
    if status >= 400:
        return refusal(document["message"], status, code=document["__type"])
    content = document["output"]["message"]["content"]
    calls = [one["toolUse"] for one in content if "toolUse" in one]
    message = {
        "role": "assistant",
        "content": "\n".join(one["text"] for one in content if "text" in one) or None,
        "tool_calls": [_call(one) for one in calls],
    }
    usage = {"prompt_tokens": document["usage"]["inputTokens"], "completion_tokens": document["usage"]["outputTokens"]}
    reason = _REASONS.get(document["stopReason"], "stop")
    return Raw(200, {"choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage})


def _call(call: dict[str, Any]) -> dict[str, Any]:
    arguments = call["input"] if isinstance(call["input"], str) else json.dumps(call["input"])
    return {"id": call["toolUseId"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}


@contextmanager
def running(server: OpenAi) -> Iterator[OpenAi]:
    """Serve *server* on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # with it a body may wait 40 ms for the client to acknowledge the headers

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            reply = server.reply(self.path, body, self.headers.get("authorization"))
            raw = reply.raw
            headers = {"content-type": "application/json", "content-length": str(len(raw)), **reply.headers}
            try:
                self.send_response(reply.status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for at in range(len(raw)) if reply.drip_seconds else ():
                    time.sleep(reply.drip_seconds)
                    self.wfile.write(raw[at : at + 1])
                self.wfile.write(b"" if reply.drip_seconds else raw)
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
