"""The programs of docs/chat.md run as they stand there."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from streambank_local.service import LocalService

PAGE = Path(__file__).resolve().parents[2] / "docs" / "chat.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def ran(number: int, service: LocalService, **given: Any) -> dict[str, Any]:
    """Run a program of the page and return its names."""
    names = dict(given)
    exec(PROGRAMS[number].replace("http://127.0.0.1:8080", service.base_url), names)
    return names


async def model(messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": "assistant", "content": f"{len(messages)} messages"}


def test_the_first_program_goes_on_with_a_session(service: LocalService) -> None:
    """The second question comes with the first exchange."""
    ask = ran(0, service, model=model)["ask"]
    assert [asyncio.run(ask("docs 1", question)) for question in ("a", "b")] == ["1 messages", "3 messages"]


def test_the_preprocessors_do_what_the_page_says(service: LocalService) -> None:
    """The two orders differ, and what is redacted is so in the history alone."""
    names, kept = ran(1, service), {}
    said = [{"role": "user", "content": "short"}] + [{"role": "user", "content": "secret" * 20}] * 10
    for name in ("last_ten_then_short", "short_then_last_ten", "careful"):
        with names[name].turn("s") as messages:
            messages += said
        with names[name].turn("s") as messages:
            kept[name] = [message["content"] for message in messages]
    assert kept == {
        "last_ten_then_short": [],
        "short_then_last_ten": ["short"],
        "careful": ["short", *["***" * 20] * 10],
    }


def test_the_fed_turn_is_ingested(service: LocalService) -> None:
    """The turn of the page is stored, and what it added is sent."""
    names = ran(2, service)

    async def story() -> None:
        async with names["turn"] as messages:
            messages.append({"role": "user", "content": "I like tea."})

    asyncio.run(story())
    assert names["feed"].counts.sent == 1


def test_a_provider_of_two_methods_is_enough(service: LocalService) -> None:
    """The page's provider carries a conversation."""
    from streambank_client.chat import ChatMemory

    class Rows(dict[str, Any]):
        async def put(self, key: str, value: Any) -> None:
            self[key] = list(value)

        async def get(self, key: str) -> Any:
            return dict.get(self, key)

    memory = ChatMemory(ran(3, service)["DatabaseProvider"](Rows()))
    for count in (0, 1):
        with memory.turn("s") as messages:
            assert len(messages) == count
            messages.append({"role": "user", "content": "a"})


def test_every_program_of_the_page_is_run_here() -> None:
    """There is no program that no test runs."""
    assert len(PROGRAMS) == 4


@pytest.fixture(autouse=True)
def _settled(service: LocalService) -> Any:
    yield
    service.wait_until_idle()
