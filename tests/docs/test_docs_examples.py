"""The pages' examples run, against the whole service, and do what their pages say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import count
from typing import Any

import httpx
import pytest

from streambank_client import Streambank
from streambank_local.service import LocalService
from tests.docs.conftest import EXAMPLES, ROOT, ChatEndpoint, Run

PAGES = ROOT / "docs"
_users = count(1)


def spoken(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def called(tool: str) -> dict[str, Any]:
    call = {"id": "call-1", "type": "function", "function": {"name": tool, "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def test_openai_loop(run_example: Run, chat_endpoint: ChatEndpoint, service: LocalService) -> None:
    """A tool is called in one run; the next conversation is told what the first one said; it is stored nowhere."""
    user = f"openai-{next(_users)}"
    options = {"OPENAI_BASE_URL": chat_endpoint.url, "OPENAI_API_KEY": "key", "MODEL": "scripted"}
    chat_endpoint.messages = [called("today"), spoken("It is a Monday."), spoken("Noted.")]
    typed = "What day is it?\nMy favorite sport is flying red kites.\n"
    assert run_example("openai_loop.py", user, "monday", typed=typed, **options) == "It is a Monday.\nNoted.\n"
    roles = [[message["role"] for message in prompt] for prompt in chat_endpoint.prompts()]
    first = ["system", "user"]
    assert roles == [first, [*first, "assistant", "tool"], [*first, "assistant", "tool", "assistant", "user"]]

    chat_endpoint.messages = [spoken("Red kites.")]
    run_example("openai_loop.py", user, "tuesday", typed="Which kites do I fly?\n", **options)
    told = chat_endpoint.prompts()[-1]
    assert "<streambank-memory>" in told[0]["content"]
    assert "flying red kites" in told[0]["content"]
    with Streambank(service.base_url, token="local") as client:
        facts = [row.memory.fact for row in client.bank().retrieve_memories(scope={"user_id": user})]
    assert len(facts) == len(set(facts))
    assert not [fact for fact in facts if "streambank-memory" in fact]


def test_langchain_agent(run_example: Run) -> None:
    """The second conversation is answered with what the first one said."""
    first, second, third = run_example("langchain_agent.py").splitlines()
    assert first == "I live in Graz. -> Noted."
    assert second == "My favorite color is blue. -> Noted."
    assert re.fullmatch(r"Where do I live\? -> I remember: .*Graz.*", third)


def test_long_term_memory(run_example: Run) -> None:
    """The second run recalls what the first one stored, without the address that the strategy took out."""
    first, second, by_hand = run_example("long_term_memory.py").splitlines()
    assert first == "first run: Nothing yet."
    assert "Graz" in second
    assert "Graz" in by_hand
    assert "ada@" not in second + by_hand


@pytest.mark.parametrize("page", ["openai.md", "langchain.md", "koog.md", "langgraph.md", "pydantic-ai.md"])
def test_pages_show_the_examples_as_they_run(page: str) -> None:
    """Each block that a page takes from an example stands in that example, word for word."""
    text = (PAGES / page).read_text()
    names = re.findall(r"\]\(examples/(\w+\.py)\)", text)
    shown = re.findall(r"<!-- from (\w+\.py) -->\n\n```python\n(.*?)```", text, re.DOTALL)
    assert {name for name, _ in shown} == set(names)
    assert [block for name, block in shown if block not in (EXAMPLES / name).read_text()] == []


# What each example needs on its command line; one that is to be imported has nothing.
ARGUMENTS = {
    "chat_backend.py": ["--port", "0"],
    "langchain_agent.py": [],
    "long_term_memory.py": [],
    "moving.py": [],
    "openai_loop.py": ["ada", "monday"],
    "own_loop.py": [],
    "strands_agent.py": ["ada"],
}
# These import packages that are not here; tests/frameworks runs them.
OF_FRAMEWORKS = {"langchain_middleware.py", "langgraph_store.py", "pydantic_ai_agent.py"}
AWAY = {"STREAMBANK_URL": "http://127.0.0.1:9", "STREAMBANK_TOKEN": "local"}


def complaint(name: str, *arguments: str, **environment: str) -> str:
    """Return the line that an example ends with where it cannot run."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("STREAMBANK")}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        env={**kept, "PYTHONPATH": str(ROOT / "client"), **environment},
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done.stderr
    return done.stderr


def test_every_example_is_tried_without_a_service() -> None:
    """No example is left out below, but those of frameworks."""
    assert set(ARGUMENTS) | OF_FRAMEWORKS == {path.name for path in EXAMPLES.glob("*.py")}


@pytest.mark.parametrize(
    "name", [name if name == "own_loop.py" else pytest.param(name, marks=pytest.mark.slow) for name in ARGUMENTS]
)
def test_examples_say_what_they_need(name: str) -> None:
    """Where no service replies, an example ends at once with one line that names the way on."""
    line = complaint(name, *ARGUMENTS[name], **AWAY)
    assert re.search(r"`make run` starts it|to be imported|pip install", line)


@pytest.mark.parametrize("name", ["openai_loop.py", "strands_agent.py"])
def test_examples_say_how_they_are_called(name: str) -> None:
    """An example that needs arguments shows its command where they are missing."""
    assert re.search(rf"^Usage: .*{name} USER|pip install", complaint(name))


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (PAGES / page).read_text(), re.DOTALL)


def test_requests_of_the_koog_page_are_taken(service: LocalService) -> None:
    """What the Kotlin code of the page sends is taken by the service, in the order of the page, and answered so."""
    headers = {"authorization": "Bearer local"}
    requests = blocks("koog.md", "http")
    assert len(requests) == 4
    with httpx.Client(base_url=service.base_url, headers=headers) as client:
        for request in requests:
            line, _, body = request.partition("\n\n")
            method, path = line.split()
            reply = client.request(method, path, content=body or None)
            assert reply.status_code == 200, reply.text
            service.wait_until_idle()
        assert reply.json()["messages"]


def test_kotlin_of_the_koog_page_sends_those_requests() -> None:
    """Paths and fields of the page's Kotlin code are those of the requests that were tried."""
    code = "\n".join(blocks("koog.md", "kotlin"))
    tried = "\n".join(blocks("koog.md", "http"))
    paths = set(re.findall(r'"(/memories:\w+|/chatHistory\?conversationId=)', code))
    assert paths == set(re.findall(r"default(/memories:\w+|/chatHistory\?conversationId=)", tried))
    fields = set(re.findall(r'put(?:JsonObject|JsonArray)?\("(\w+)"', code))
    assert fields <= set(re.findall(r'"(\w+)":', tried))
