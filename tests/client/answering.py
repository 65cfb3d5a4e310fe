"""An HTTP seam that answers from a script, and a clock that moves only while somebody sleeps."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from streambank_client import AsyncStreambank, Streambank

URL = "https://api.example.com/prod"
Answer = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


def reply(document: Any, status: int = 200, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json=document, headers=named)


def refused(status: int, code: str, message: str = "no", *details: Any, **headers: str) -> httpx.Response:
    error = {"code": status, "status": code, "message": message} | ({"details": list(details)} if details else {})
    return reply({"error": error}, status, **headers)


def operation(name: str = "reasoningEngines/default/operations/o-1", *, done: bool = False, **more: Any) -> Any:
    return {"name": name, "done": done, **more}


@dataclass
class Clock:
    """Seconds that pass while somebody sleeps, and as a script says."""

    time: float = 1_000.0
    slept: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)


@dataclass
class Script:
    """Gives its answers in order, the last one for ever, and keeps what it was asked."""

    answers: list[Answer]
    clock: Clock = field(default_factory=Clock)
    asked: list[httpx.Request] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        if callable(answer):
            return answer(request)
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    def client(self, **settings: Any) -> Streambank:
        transport = httpx.MockTransport(self)
        settings = {"jitter": lambda: 1.0, **settings}
        return Streambank(URL, transport=transport, sleep=self.clock.sleep, now=self.clock.now, **settings)

    def async_client(self, **settings: Any) -> AsyncStreambank:
        transport = httpx.MockTransport(self)
        settings = {"jitter": lambda: 1.0, **settings}
        return AsyncStreambank(URL, transport=transport, sleep=self.clock.asleep, now=self.clock.now, **settings)

    def taking(self, seconds: float, answer: Answer) -> Callable[[httpx.Request], httpx.Response]:
        """Return an answer that comes after a while."""

        def late(request: httpx.Request) -> httpx.Response:
            self.clock.time += seconds
            if isinstance(answer, Exception):
                raise answer
            return answer(request) if callable(answer) else answer

        return late

    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.asked]


def script(*answers: Answer) -> Script:
    return Script(list(answers))
