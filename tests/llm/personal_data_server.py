"""A stand-in for Amazon Comprehend and for Bedrock's guardrails over real HTTP: it finds the names that it is told."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class PersonalData:
    """The names that it finds, the failures that it answers with first, and the requests that it got."""

    names: tuple[str, ...] = ("Ann Miller",)
    failures: list[tuple[int, str]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def answer(self, path: str, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return status and body of the reply to a request."""
        self.requests.append(request)
        if self.failures:
            status, kind = self.failures.pop(0)
            return status, {"__type": kind, "message": "no"}
        return 200, self._guardrail(request) if path.startswith("/guardrail/") else self._entities(request["Text"])

    def _entities(self, text: str) -> dict[str, Any]:
        found = [
            {"Type": "NAME", "Score": 0.99, "BeginOffset": at, "EndOffset": at + len(name)}
            for name in self.names
            for at in range(len(text))
            if text.startswith(name, at)
        ]
        doubtful = [{"Type": "NAME", "Score": 0.2, "BeginOffset": 0, "EndOffset": 1}]
        times = [{"Type": "DATE_TIME", "Score": 0.9, "BeginOffset": 0, "EndOffset": 1}]
        return {"Entities": [*found, *doubtful, *times]}

    def _guardrail(self, request: dict[str, Any]) -> dict[str, Any]:
        text = request["content"][0]["text"]["text"]
        found = [{"match": name, "type": "NAME", "action": "ANONYMIZED"} for name in self.names if name in text]
        policy = {"piiEntities": found, "regexes": []}
        free = dict.fromkeys(("wordPolicyUnits", "sensitiveInformationPolicyFreeUnits"), 7)
        billed = {"topicPolicyUnits": 1, "contentPolicyUnits": 2, "sensitiveInformationPolicyUnits": 3}
        usage = {**free, **billed, "contextualGroundingPolicyUnits": 0}
        return {
            "usage": usage,
            "action": "NONE",
            "outputs": [],
            "assessments": [{"sensitiveInformationPolicy": policy}],
        }


@contextmanager
def running(service: PersonalData) -> Iterator[PersonalData]:
    """Serve *service* on a port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, reply = service.answer(self.path, body)
            data = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("content-type", "application/x-amz-json-1.1")
            self.send_header("x-amzn-errortype", reply.get("__type", ""))
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
