"""Spans to an OpenTelemetry collector; imported where one is configured, and nowhere else.

A Lambda freezes once it has replied, and what a thread in the background still holds then comes late or never. So the
spans of a request are kept until its outermost one ends, and then sent in one go, for which the request waits: for a
limited time, and not at all for a while after a collector did not take them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Thread

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from streambank import telemetry
from streambank.settings import TraceSettings

# Less than the exporter's own first pause before it repeats, which is 0.8 s at least: nobody waits for a repeat.
_TIMEOUT_SECONDS = 0.75
# The variable is seconds here, but milliseconds in other languages: 10000 must not hold a request for hours.
_LONGEST_SECONDS = 10.0
# How long a collector that failed is left alone: one request in this time waits for it, not each.
REST_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class OpenSpan:
    """A span that is open, and what has ended of its request so far."""

    span: Span
    ended: list[ReadableSpan]

    def note(self, attributes: Mapping[str, str | int]) -> None:
        """Add attributes."""
        self.span.set_attributes(attributes)

    def fail(self, kind: str) -> None:
        """Say that it failed, and by what kind of error."""
        self.span.set_attribute("error.type", kind)
        self.span.set_status(Status(StatusCode.ERROR))

    def end(self) -> None:
        """Close the span; one that a sampler left out is not kept."""
        self.span.end()
        if isinstance(self.span, ReadableSpan):
            self.ended.append(self.span)


@dataclass(slots=True)
class Collector:
    """Where spans go; *clock* tells seconds that only grow."""

    tracer: Tracer
    exporter: SpanExporter
    timeout_seconds: float
    clock: Callable[[], float] = time.monotonic
    _resumes: float = 0.0
    _stuck: Thread | None = field(default=None, repr=False)

    @classmethod
    def build(cls, settings: TraceSettings) -> Collector:
        """Return the collector at an endpoint; headers, certificates and samplers are OpenTelemetry's own variables.

        Raises:
            ValueError: a variable cannot be understood.
        """
        telemetry.silence("opentelemetry")  # its lines quote addresses with their credentials, and replies
        timeout = min(float(settings.timeout or _TIMEOUT_SECONDS), _LONGEST_SECONDS)
        # A provider of our own: the process's global one is for those who instrument it from outside.
        tracer = TracerProvider(shutdown_on_exit=False).get_tracer("streambank")
        return cls(tracer, OTLPSpanExporter(endpoint=settings.endpoint, timeout=timeout), timeout)

    def open(
        self, name: str, attributes: Mapping[str, str | int], parent: OpenSpan | str | None, *, is_call: bool
    ) -> OpenSpan:
        """Begin a span below another, or below the span that a `traceparent` names."""
        above = _context(parent)
        kind = SpanKind.CLIENT if is_call else SpanKind.INTERNAL
        begun = self.tracer.start_span(name, above, kind=kind, attributes=attributes)
        return OpenSpan(begun, parent.ended if isinstance(parent, OpenSpan) else [])

    def send(self, spans: Sequence[ReadableSpan]) -> None:
        """Send *spans*, or lose them within the timeout; after a loss others are dropped unsent for a while."""
        if not spans or self.clock() < self._resumes or (self._stuck and self._stuck.is_alive()):
            return
        outcomes: list[str] = []
        # A thread, since a name that does not resolve or an answer that drips is beyond the exporter's own timeout.
        sending = Thread(target=lambda: outcomes.append(self._exported(spans)), daemon=True)
        sending.start()
        sending.join(self.timeout_seconds)
        problem = outcomes[0] if outcomes else "no answer in time"
        self._stuck = None if outcomes else sending
        if problem:
            self._resumes = self.clock() + REST_SECONDS
            telemetry.traces_lost(len(spans), problem)

    def _exported(self, spans: Sequence[ReadableSpan]) -> str:
        """Return what went wrong, in our own words, or nothing."""
        try:
            is_exported = self.exporter.export(spans) is SpanExportResult.SUCCESS
        except Exception as fault:  # noqa: BLE001  in a thread nobody else would hear of it
            return type(fault).__name__
        return "" if is_exported else "not taken"


def _context(parent: OpenSpan | str | None) -> Context:
    if isinstance(parent, OpenSpan):
        return set_span_in_context(parent.span, Context())
    return TraceContextTextMapPropagator().extract({"traceparent": parent} if parent else {}, Context())
