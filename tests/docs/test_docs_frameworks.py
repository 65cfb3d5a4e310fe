"""The code of docs/openai.md and docs/langchain.md runs with the packages that it is about, over HTTP.

The packages have a virtual environment of their own: STREAMBANK_FRAMEWORKS_PYTHON names its interpreter, or it is in
.venv-frameworks.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from streambank_client import Streambank
from streambank_local.service import LocalService
from tests.docs.conftest import EXAMPLES, ROOT, ChatEndpoint

PYTHON = Path(os.environ.get("STREAMBANK_FRAMEWORKS_PYTHON") or ROOT / ".venv-frameworks" / "bin" / "python")
_users = count(1)

pytestmark = pytest.mark.skipif(
    not PYTHON.exists(), reason="no Python with the frameworks: STREAMBANK_FRAMEWORKS_PYTHON, .venv-frameworks"
)

BEFORE = """
import asyncio
import json
import sys

from streambank_client import AsyncStreambank, Streambank
from streambank_client.koog import (
    AsyncStreambankStorage,
    IngestionSettings,
    LongTermMemory,
    RetrievalSettings,
    StreambankStorage,
)

URL, USER = sys.argv[1:]
bank = Streambank(URL, token="local").bank()
RULE = {"event_count": 10_000}


def remembering(storage, **settings):
    return LongTermMemory(
        ingestion=IngestionSettings(storage=storage), retrieval=RetrievalSettings(storage=storage), **settings
    )


def stored(conversation):
    return StreambankStorage(bank, scope={"user_id": USER}, stream_id=conversation, generation_rule=RULE)


def learn(conversation):
    bank.ingest_events(scope={"user_id": USER}, stream_id=conversation, force_flush=True).wait()
"""

OPENAI = """
def called(memory, messages, line):
    # A tool is called within one run, and the list has the client's own objects.
    with memory.run(known=messages) as run:
        messages.append({"role": "user", "content": line})
        reply = run.wrap(ask)(messages)
        messages.append(reply.choices[0].message)
        call = messages[-1].tool_calls[0]
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "Monday"})
        messages.append(run.wrap(ask)(messages).choices[0].message)


memory, messages = remembering(stored("monday")), [{"role": "system", "content": "Be helpful."}]
called(memory, messages, "What day is it?")
chat(memory, messages, "I live in Graz.")
chat_streaming(memory, messages, "I like tea.")
learn("monday")
messages = [{"role": "system", "content": "Be helpful."}]
chat(remembering(stored("tuesday")), messages, "Where do I live?")
print(json.dumps(messages[-1].content))
"""

LANGCHAIN = """
from langchain_core.messages import HumanMessage, SystemMessage


def history(text):
    return [SystemMessage("Be helpful."), HumanMessage(text)]


async def ask_again():
    async with AsyncStreambank(URL, token="local") as client:
        storage = AsyncStreambankStorage(
            client.bank(), scope={"user_id": USER}, stream_id="wednesday", generation_rule=RULE
        )
        memory = remembering(storage, format="langchain")
        return (await answer_async(memory, history("What do I like?"))).content


memory = remembering(stored("monday"), format="langchain")
first = history("I live in Graz.")
first.append(answer(memory, first))
answer_streaming(memory, history("I like tea."))
print()
learn("monday")
second = answer(remembering(stored("tuesday"), format="langchain"), history("Where do I live?"))
print(json.dumps([first[-1].content, second.content, asyncio.run(ask_again())]))
"""


def blocks(page: str) -> str:
    """Return the Python code of a page that is not taken from an example."""
    text = (ROOT / "docs" / page).read_text()
    own = re.sub(r"<!-- from \w+\.py -->\n\n```python\n.*?```", "", text, flags=re.DOTALL)
    return "\n".join(re.findall(r"```python\n(.*?)```", own, re.DOTALL))


def run_page(page: str, after: str, service: LocalService, endpoint: ChatEndpoint, user: str) -> list[str]:
    """Run the code of a page between ours, and return the lines that it prints."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "client"), str(EXAMPLES)]),
        "OPENAI_API_KEY": "key",
        "OPENAI_BASE_URL": endpoint.url,
        "LANGSMITH_TRACING": "false",
    }
    command = [str(PYTHON), "-c", BEFORE + blocks(page) + after, service.base_url, user]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def spoken(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def texts(prompt: list[dict[str, Any]]) -> list[str]:
    return [f"{message['role']}: {message['content']}" for message in prompt]


def known(service: LocalService, user: str) -> set[str]:
    with Streambank(service.base_url, token="local") as client:
        return {row.memory.fact for row in client.bank().retrieve_memories(scope={"user_id": user})}


def events(service: LocalService, user: str) -> list[str]:
    """Return the texts of the events of a user."""
    with Streambank(service.base_url, token="local") as client:
        found = client.bank().retrieve_memories(
            scope={"user_id": user}, query="text", top_k=100, include_events=True, include_pending=True
        )
    return sorted(event.event.content.text for event in found.events)


def test_openai_package(service: LocalService, chat_endpoint: ChatEndpoint) -> None:
    """Replies, message objects and frames of OpenAI's client are stored once; the next conversation recalls them."""
    call = {"id": "call-1", "type": "function", "function": {"name": "today", "arguments": "{}"}}
    tool_call = {"role": "assistant", "content": None, "tool_calls": [call]}
    replies = ["It is a Monday.", "Noted.", "I see.", "In Graz."]
    chat_endpoint.messages = [tool_call, *map(spoken, replies)]
    user = f"openai-package-{next(_users)}"
    [answer] = run_page("openai.md", OPENAI, service, chat_endpoint, user)
    assert json.loads(answer) == "In Graz."
    prompts = chat_endpoint.prompts()
    assert [message["role"] for message in prompts[1]] == ["system", "user", "assistant", "tool"]
    assert texts(prompts[3])[-2:] == ["assistant: Noted.", "user: I like tea."]
    assert "I live in Graz" in prompts[4][0]["content"]
    assert known(service, user) == {"I live in Graz", "I like tea"}
    counted = [text for text in events(service, user) if text in ("It is a Monday.", "Noted.", "I see.", "In Graz.")]
    assert counted == sorted(replies)


def test_langchain_package(service: LocalService, chat_endpoint: ChatEndpoint) -> None:
    """Messages and chunks of LangChain are stored once; later conversations recall them, awaited or not."""
    replies = ["Noted.", "I see that.", "In Graz.", "You like tea."]
    chat_endpoint.messages = [*map(spoken, replies)]
    user = f"langchain-package-{next(_users)}"
    streamed, printed = run_page("langchain.md", LANGCHAIN, service, chat_endpoint, user)
    assert streamed == "I see that."
    assert json.loads(printed) == ["Noted.", "In Graz.", "You like tea."]
    prompts = chat_endpoint.prompts()
    assert "I live in Graz" in str(prompts[2][0]["content"])
    assert "I like tea" in str(prompts[3][0]["content"])
    assert known(service, user) == {"I live in Graz", "I like tea"}
    assert [text for text in events(service, user) if text in replies] == sorted(replies)
