"""The examples of docs/strands.md, as they are, against the running service."""

from __future__ import annotations

import asyncio
import importlib.util
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

import pytest

from streambank_client import Streambank
from streambank_local.service import LocalService
from tests.journeys.caller import Caller

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
PAGE = EXAMPLES.parent / "strands.md"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def sdk(service: LocalService) -> Iterator[Streambank]:
    with Streambank(service.base_url, token="local") as sdk:
        yield sdk


def test_own_loop(sdk: Streambank, caller: Caller) -> None:
    """The loop without a framework stores each turn once, and recalls without storing what it recalled."""
    scope, prompts = caller.scope(), list[Any]()
    sdk.bank().create_memory(scope=scope, fact="I drink tea").result()

    def ask(messages: list[Any]) -> str:
        prompts.append(list(messages))
        return f"answer {len(prompts)}"

    answers = list(example("own_loop").chat(["What do I drink?", "Thanks"], client=sdk, user=scope["user_id"], ask=ask))
    assert answers == ["answer 1", "answer 2"]
    assert "I drink tea" in prompts[0][0]["content"][0]["text"]
    caller.stream(scope, "default").may_wait = True
    found = sdk.bank().retrieve_memories(
        scope=scope, query="drink", top_k=100, include_events=True, include_pending=True
    )
    texts = [one.event.content.text for one in sorted(found.events, key=lambda one: one.sequence)]
    assert texts == ["What do I drink?", "answer 1", "Thanks", "answer 2"]


def test_strands_agent(sdk: Streambank, caller: Caller) -> None:
    """The agent of the example remembers in a second conversation what it was told in the first."""
    pytest.importorskip("strands", reason="needs the extra strands")
    from tests.client.strands.scripted import Scripted

    scope, module = caller.scope(), example("strands_agent")

    def agent(session: str) -> tuple[Any, Scripted]:
        model = Scripted(lambda _: [{"text": "Noted."}])
        return module.remembering_agent(sdk, user=scope["user_id"], session=session, model=model), model

    first, _ = agent("first")
    for thing in ("tea", "soup", "bread", "rice", "jam"):
        assert asyncio.run(module.handle(first, f"I like {thing}")).strip() == "Noted."
    caller.settle()
    assert len(caller.facts(scope)) == 5
    second, model = agent("second")
    caller.stream(scope, "second").may_wait = True
    asyncio.run(module.handle(second, "Do I like soup?"))
    assert "I like soup" in str(model.prompts[-1])


def test_terminal(
    service: LocalService, caller: Caller, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program of the example reads its service from the environment and answers each line."""
    pytest.importorskip("strands", reason="needs the extra strands")
    from tests.client.strands.scripted import Scripted

    module, scope = example("strands_agent"), caller.scope()
    caller.stream(scope, "terminal").may_wait = True
    monkeypatch.setenv("STREAMBANK_URL", service.base_url)
    monkeypatch.setenv("STREAMBANK_TOKEN", "local")
    monkeypatch.setattr(sys, "stdin", io.StringIO("q1\nq2\n"))
    module.main(scope["user_id"], Scripted())
    assert capsys.readouterr().out.split() == ["a1", "a2"]


def test_sessions_of_the_page(sdk: Streambank, caller: Caller) -> None:
    """The agent of the page goes on in another process, and remembers in another session; nothing is stored twice."""
    pytest.importorskip("strands", reason="needs the extra strands")
    from tests.client.strands.scripted import Scripted

    shown = re.search(r"<!-- runs -->\n\n```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert shown
    page: dict[str, Any] = {}
    exec(shown[1], page)
    user, model = caller.scope()["user_id"], Scripted(lambda _: [{"text": "Noted."}])
    scope, names = {"user_id": user}, (f"{user} first", f"{user} second")
    page["agent_of"](sdk, user, names[0], model)("I live in Graz.")
    restored = page["agent_of"](sdk, user, names[0], model)
    assert [block["text"] for message in restored.messages for block in message["content"]] == [
        "I live in Graz.",
        "Noted.",
    ]
    restored("I keep bees.")
    sdk.bank().ingest_events(scope=scope, stream_id=names[0], force_flush=True)
    caller.settle()
    assert len(caller.facts(scope)) == 2
    page["agent_of"](sdk, user, names[1], model)("Where do I live?")
    caller.stream(scope, names[1]).may_wait = True
    assert "Graz" in str(model.prompts[-1])
    history = sdk.bank().load_chat_history(conversation_id=f"strands/{quote(names[1])}/agents/default/messages")
    assert len(history.messages) == 2
    assert "Graz" not in str(history.messages)


def test_page_names_them() -> None:
    """The page shows the examples, and names nothing that the package does not have."""
    from streambank_client import strands

    text = PAGE.read_text()
    for path in ("examples/strands_agent.py", "examples/own_loop.py"):
        assert path in text
    for name in strands.__all__:
        assert f"`{name}" in text, name
