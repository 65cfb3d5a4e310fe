"""The Kotlin of docs/koog.md is compiled against stubs of Koog's interfaces, for both versions, and run over HTTP."""

from __future__ import annotations

import json
import re
from itertools import count
from pathlib import Path

import pytest

from streambank_client import Streambank
from streambank_client.formats import to_contents
from streambank_local.service import LocalService
from tests.frameworks.kotlin import installed, needs_kotlin
from tests.frameworks.programs import ROOT

pytestmark = [pytest.mark.slow, needs_kotlin]
STUBS = Path(__file__).parent / "koog"
NAMES = ("Streambank.kt", "StreambankForKoog.kt")
_users = count(1)


def page_files(folder: Path) -> list[Path]:
    """Write the files of the page, and return their paths."""
    page = (ROOT / "docs" / "koog.md").read_text()
    paths = []
    for name in NAMES:
        match = re.search(rf"`{name}`:\n\n```kotlin\n(.*?)```", page, re.DOTALL)
        assert match, name
        paths.append(folder / name)
        paths[-1].write_text(match[1])
    return paths


@pytest.mark.parametrize(("version", "form"), [("v0_8", "koog-0.8"), ("v1", "koog-1")])
def test_the_code_of_the_page(version: str, form: str, service: LocalService, tmp_path: Path) -> None:
    """A conversation is stored in its version's JSON, each message becomes one event, and memories are recalled."""
    kotlin, user = installed(), f"kotlin-{version}-{next(_users)}"
    sources = [*page_files(tmp_path), *sorted(STUBS.glob("*.kt")), *sorted((STUBS / version).glob("*.kt"))]
    kotlin.compile(sources, tmp_path)
    stored = json.loads(kotlin.run(tmp_path, service.base_url, user, "store"))
    ingested = {"v0_8": [1, 1, 2], "v1": [2, 2]}[version]
    assert stored == {
        "unknown": 0,
        "isSame": True,
        "counts": ingested,
        "update": "UnsupportedOperationException",
        "other": "IllegalArgumentException",
        "status": 400,
    }
    scope = {"user_id": user, "namespace": "travel"}
    with Streambank(service.base_url, token="local") as client:
        bank = client.bank()
        history = bank.load_chat_history(conversation_id=f"{user}/with:special@chars#1!&spaces + ü")
        events = bank.retrieve_memories(scope=scope, query="text", top_k=100, include_pending=True)
        bank.ingest_events(scope=scope, stream_id="chat-1", force_flush=True).wait()
    assert history.format == form
    contents = to_contents(history.messages, form).contents
    assert [content.content["role"] for content in contents] == ["user", "model", "user", "model"]
    texts = sorted((event.event.content.role, event.event.content.text) for event in events.events)
    assert texts == [("model", 'It is sunny.\n\n"Noted" ü'), ("user", "I live in Graz.")]

    found = json.loads(kotlin.run(tmp_path, service.base_url, user, "search"))
    assert "Graz" in found["results"][0]["content"]
    assert 0 < found["results"][0]["score"] <= 1
    assert (found["elsewhere"], found["strict"]) == (0, 0)
