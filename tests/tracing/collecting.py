"""A collector of OpenTelemetry's spans on a port of this machine, which can also fail in several ways."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

KINDS = {1: "INTERNAL", 3: "CLIENT"}


@dataclass
class Sent:
    """A span as it arrived."""

    name: str
    kind: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]
    is_error: bool
    message: str
    events: int
    service: str


@dataclass
class Receiver:
    """What arrived: *status* is what it answers, *way* how: at once, never, drop by drop, or not in HTTP."""

    status: int = 200
    way: str = "at once"
    raw: list[bytes] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    url: str = ""
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def batches(self) -> list[list[Sent]]:
        return [list(_spans(raw)) for raw in self.raw]

    @property
    def spans(self) -> list[Sent]:
        return [one for batch in self.batches for one in batch]

    def named(self, name: str) -> Sent:
        [found] = [one for one in self.spans if one.name == name]
        return found


def _spans(raw: bytes) -> Iterator[Sent]:
    for resource in ExportTraceServiceRequest.FromString(raw).resource_spans:
        service = _attributes(resource.resource.attributes)["service.name"]
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield Sent(
                    span.name,
                    KINDS[span.kind],
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    _attributes(span.attributes),
                    span.status.code == 2,
                    span.status.message,
                    len(span.events),
                    service,
                )


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Run a collector."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            is_packed = self.headers.get("content-encoding") == "gzip"
            receiver.paths.append(self.path)
            receiver.raw.append(gzip.decompress(body) if is_packed else body)
            WAYS[receiver.way](self, receiver)

        def log_message(self, *_: Any) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        receiver.url = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield receiver
        receiver.over.set()
        http.shutdown()
        thread.join()


def _at_once(handler: BaseHTTPRequestHandler, receiver: Receiver) -> None:
    handler.send_response(receiver.status)
    handler.send_header("content-length", "0")
    handler.end_headers()


def _never(_: BaseHTTPRequestHandler, receiver: Receiver) -> None:
    receiver.over.wait(20)


def _drop_by_drop(handler: BaseHTTPRequestHandler, receiver: Receiver) -> None:
    """Never silent for long enough to be a timeout, and never done."""
    handler.send_response(200)
    handler.send_header("content-length", "1000000")
    handler.end_headers()
    while not receiver.over.wait(0.05):
        try:
            handler.wfile.write(b".")
            handler.wfile.flush()
        except OSError:
            return


def _nonsense(handler: BaseHTTPRequestHandler, _: Receiver) -> None:
    handler.wfile.write(b"\x00\xffnonsense\r\n\r\n")


WAYS = {"at once": _at_once, "never": _never, "drop by drop": _drop_by_drop, "nonsense": _nonsense}
