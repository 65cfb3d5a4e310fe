"""The checks over HTTP: an event goes in, a memory comes out, and the minute sweep does its part."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from streambank_local.doctor.cures import Finding, embedding, generation, refused, unreachable

TEXT = "My name is Ada and I keep bees in Leiden."
QUESTION = "What does the user keep?"
POLL_SECONDS = 2.0
# A window that is sealed by its call is started by the table's stream within seconds, by the sweep within two minutes.
STREAM_SECONDS = 45.0
# The shortest rule that only the sweep can carry out: a minute of silence, and the next two sweeps.
IDLE = "60s"
SWEEP_SECONDS = 240.0
_ENDED = frozenset({"DONE", "PARKED", "RETRYING", "BUDGET_PAUSED"})

Document = dict[str, Any]


class CallError(Exception):
    """A call got an error, or no reply; *finding* says which part of the stack that concerns."""

    def __init__(self, finding: Finding, status: int = 0, message: str = "") -> None:
        super().__init__(finding.detail)
        self.finding = finding
        self.status = status
        self.message = message


@dataclass
class Smoke:
    """The checks of one bank; *scope* is new in each run. *sleep* waits for some seconds."""

    http: httpx.Client
    bank: str
    scope: Mapping[str, str]
    sleep: Callable[[float], None]
    wait_seconds: float = 180.0
    waited_seconds: float = field(default=0.0, init=False)

    def findings(self, *, with_schedule: bool = True) -> Iterator[Finding]:
        """Yield a finding for each part, until one makes the next ones pointless."""
        try:
            idle = self._ingest("idle", rule={"idleDuration": IDLE}) if with_schedule else None
            sent = self._ingest("now", flush=True)
            yield Finding("API and key", True, f"an event was accepted by the bank {self.bank}")
            yield from self._generation(sent)
            if idle is not None:
                yield self._schedule(idle)
        except CallError as error:
            yield error.finding

    def _ingest(self, stream: str, *, flush: bool = False, rule: Document | None = None) -> Document:
        content = {"role": "user", "parts": [{"text": TEXT}]}
        body: Document = {
            "scope": {**self.scope, "smoke_stream": stream},
            "streamId": stream,
            "directContentsSource": {"events": [{"eventId": f"smoke-{stream}", "content": content}]},
        }
        body |= {"forceFlush": True} if flush else {}
        body |= {"generationTriggerConfig": {"generationRule": rule}} if rule else {}
        return self._call("API and key", "POST", f"/v1/memoryBanks/{self.bank}/memories:ingestEvents", body)

    def _generation(self, sent: Document) -> Iterator[Finding]:
        started = self._poll(sent["name"], lambda metadata: metadata["state"] != "SEALED", self.wait_seconds)
        start_seconds = self.waited_seconds
        done = self._poll(sent["name"], lambda metadata: metadata["state"] in _ENDED, self.wait_seconds)
        yield _stream(started["metadata"], start_seconds)
        if done["metadata"]["state"] != "DONE":
            yield generation(done["metadata"], self.waited_seconds)
            return
        yield Finding("model", True, f"the window was generated after {self.waited_seconds:.0f} s")
        yield self._embedder()

    def _embedder(self) -> Finding:
        body = {
            "scope": {**self.scope, "smoke_stream": "now"},
            "similaritySearchParams": {"searchQuery": QUESTION, "topK": 3},
        }
        try:
            reply = self._call("embedder", "POST", f"/v1/memoryBanks/{self.bank}/memories:retrieve", body)
        except CallError as error:
            return embedding(error.status, error.message) if error.status else error.finding
        facts = [row["memory"]["fact"] for row in reply.get("retrievedMemories", [])]
        if facts:
            return Finding("embedder", True, f"a search returns the memory: {facts[0]}")
        cure = "the model makes no memory of a plain sentence: read the operation's verdicts, GET {operation}-g"
        return Finding("embedder", False, "a search returns nothing", cure)

    def _schedule(self, idle: Document) -> Finding:
        operation = self._poll(idle["name"], lambda metadata: metadata["state"] != "BUFFERING", SWEEP_SECONDS)
        if operation["metadata"]["state"] != "BUFFERING":
            return Finding("schedule", True, "the minute sweep sealed an idle window")
        cure = "look at the alarm SweepStopped: is the schedule enabled, and is there concurrency for OnSchedule?"
        return Finding("schedule", False, "an idle window stays open", cure)

    def _poll(self, name: str, is_over: Callable[[Document], bool], limit_seconds: float) -> Document:
        until = self.waited_seconds + limit_seconds
        while True:
            operation = self._call("API and key", "GET", f"/v1/{name}")
            if is_over(operation["metadata"]) or self.waited_seconds >= until:
                return operation
            self.sleep(POLL_SECONDS)
            self.waited_seconds += POLL_SECONDS

    def _call(self, part: str, method: str, path: str, body: Document | None = None) -> Document:
        try:
            reply = self.http.request(method, path, json=body)
            document = reply.json()
        except httpx.HTTPError as error:
            raise CallError(unreachable(part, f"no reply: {type(error).__name__}")) from error
        except ValueError:
            raise CallError(refused(part, reply.status_code, "without JSON")) from None
        if reply.status_code != httpx.codes.OK or not isinstance(document, dict):
            message = _message(document)
            raise CallError(refused(part, reply.status_code, message), reply.status_code, message)
        return document


def _stream(metadata: Mapping[str, Any], start_seconds: float) -> Finding:
    if metadata["state"] == "SEALED":
        return Finding("stream", False, "the generation has not started", "look at OnStream's errors and the sweep's")
    if start_seconds <= STREAM_SECONDS:
        return Finding("stream", True, f"the generation started within {start_seconds:.0f} s")
    cure = "only the sweep starts generations: look at the alarms StreamLags and LostStreamBatches, and at OnStream"
    return Finding("stream", False, f"the generation started after {start_seconds:.0f} s", cure)


def _message(document: Any) -> str:
    error = document.get("error", document) if isinstance(document, dict) else {}
    return str(error.get("message", "")) if isinstance(error, dict) else ""
