"""Plays cases through the whole service: local mode with its clock at a fixed date, a bank for each case."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from logging import StreamHandler
from typing import Any

import httpx

from streambank.llm.ports import ModelProvider
from streambank.telemetry import LOGGER
from streambank.wiring import overrides
from streambank_local.evaluation.cases import Case, CaseEvent, Window
from streambank_local.service import LocalService

# The day before the first window, which is on a Monday.
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
SCOPE = {"user_id": "u1"}
_BANKS = "/v1beta1/projects/evaluation/locations/here/reasoningEngines"
_WINDOW_SECONDS = 900.0
# The model gave no answer, so the case says nothing about it.
_AWAY = frozenset({"MODEL_UNAVAILABLE", "MODEL_THROTTLED", "MODEL_TIMED_OUT", "MODEL_NOT_CONFIGURED", "MODEL_REJECTED"})
_TEMPORARY_STATUSES = frozenset({429, 503})


class ModelAway(Exception):
    """The model gave no answer: the case was not played."""


@dataclass(frozen=True, slots=True)
class CaseUsage:
    """The model calls of a case, and what they cost; 0 where no price is known."""

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    embedding_tokens: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: CaseUsage) -> CaseUsage:
        return CaseUsage(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


@dataclass(frozen=True, slots=True)
class Played:
    """The facts that a scope held after each window; *failure* is why the last window was not generated, or empty."""

    after: tuple[tuple[str, ...], ...]
    failure: str = ""
    usage: CaseUsage = field(default=CaseUsage())
    seconds: float = 0.0


class _Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.time = START

    def now(self) -> datetime:
        return self.time


@contextmanager
def player(models: ModelProvider, *, prices: str = "") -> Iterator[Player]:
    """Yield a player whose service generates with *models*; *prices* are those of `MODEL_PRICES`."""
    clock = _Clock()

    def prepare(_clock: Any) -> None:
        overrides.current.clock, overrides.current.models = clock, models

    parameters = {"ModelPrices": prices} if prices else {}
    before = overrides.current.clock, overrides.current.models
    try:
        with (
            _warnings_to_stderr(),
            LocalService(prepare=prepare, parameters=parameters, timer_enabled=False) as service,
            _caller(service) as http,
        ):
            yield Player(service, http, clock)
    finally:
        overrides.current.clock, overrides.current.models = before


def _caller(service: LocalService) -> httpx.Client:
    # A proxy of the environment leads to Bedrock, not to this machine.
    headers = {"authorization": "Bearer local"}
    return httpx.Client(base_url=service.base_url, headers=headers, timeout=120, trust_env=False)


@contextmanager
def _warnings_to_stderr() -> Iterator[None]:
    """Keep the functions' log lines off standard output, which has the report."""
    handler, level = LOGGER.registered_handler, LOGGER.log_level
    stream = handler.setStream(sys.stderr) if isinstance(handler, StreamHandler) else None
    LOGGER.setLevel("WARNING")
    try:
        yield
    finally:
        LOGGER.setLevel(level)
        if isinstance(handler, StreamHandler) and stream is not None:
            handler.setStream(stream)


@dataclass(frozen=True, slots=True)
class Player:
    """A running service, and the caller that plays cases on it."""

    service: LocalService
    http: httpx.Client
    clock: _Clock

    def play(self, case: Case) -> Played:
        """Play *case* in a bank of its own. Raises ModelAway."""
        begun, self.clock.time = time.monotonic(), START
        bank = self._create_bank(case)
        for fact in case.memories:
            self._call("POST", f"{bank}/memories", {"scope": SCOPE, "fact": fact})
        after, failure = list[tuple[str, ...]](), ""
        for window in case.windows:
            self.clock.time += timedelta(days=1)
            failure = self._generate(bank, window)
            after.append(self._facts(bank))
            if failure:
                break
        return Played(tuple(after), failure, self._usage(bank), time.monotonic() - begun)

    def _create_bank(self, case: Case) -> str:
        topics = [{"managedMemoryTopic": {"managedTopicEnum": name}} for name in case.bank.topics]
        custom = {"enableThirdPersonMemories": case.bank.third_person, "memoryTopics": topics}
        config = {"memoryBankConfig": {"customizationConfigs": [custom]}}
        operation = self._call("POST", _BANKS, {"displayName": case.id, "contextSpec": config})
        return f"/v1beta1/{operation['response']['name']}"

    def _generate(self, bank: str, window: Window) -> str:
        """Send the events of *window*, wait for their generation, and return why it failed, or an empty text."""
        rule = {"eventCount": 1_000, **({"overlapEventCount": window.overlap} if window.overlap else {})}
        body = {
            "streamId": window.stream,
            "scope": SCOPE,
            "directContentsSource": {"events": [_event(one) for one in window.events]},
            "generationTriggerConfig": {"generationRule": rule},
            "forceFlush": True,
            **({"timeZone": window.time_zone} if window.time_zone else {}),
        }
        sent = self._call("POST", f"{bank}/memories:ingestEvents", body)
        if not self.service.wait_until_idle(_WINDOW_SECONDS):
            raise ModelAway("the window did not end in time")
        operation = self._call("GET", f"/v1beta1/{sent['name']}")
        if operation.get("done") and "error" not in operation:
            return ""
        failure = str(operation["metadata"].get("failure") or operation["metadata"]["state"])
        if failure in _AWAY:
            raise ModelAway(failure)
        return failure

    def _facts(self, bank: str) -> tuple[str, ...]:
        body = {"scope": SCOPE, "simpleRetrievalParams": {"pageSize": 100}}
        reply = self._call("POST", f"{bank}/memories:retrieve", body)
        return tuple(sorted(row["memory"]["fact"] for row in reply.get("retrievedMemories", [])))

    def _usage(self, bank: str) -> CaseUsage:
        total = self._call("GET", f"{bank}/usage")["total"]
        names = ("modelCalls", "inputTokens", "outputTokens", "embeddingTokens", "estimatedCostUsd")
        return CaseUsage(*(total[name] for name in names))

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        reply = self.http.request(method, path, json=body)
        if reply.status_code in _TEMPORARY_STATUSES:
            raise ModelAway(reply.json().get("error", {}).get("message", reply.reason_phrase))
        if reply.is_error:
            raise RuntimeError(f"{method} {path}: {reply.status_code} {reply.text}")
        document: dict[str, Any] = reply.json()
        return document


def _event(event: CaseEvent) -> dict[str, Any]:
    content = {"role": event.role, "parts": [{"text": event.text}]}
    return {"content": content, **({"eventTime": event.at} if event.at else {})}
