"""The tutorial is run as it stands, from its first command to its last."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bedrock.thinking import meaning, thinking
from tests.docs.conftest import ROOT
from tests.docs.page_session import FENCE, NOT_RUN, Session, commands
from tests.openai.chat_server import OpenAi, Raw, completion, running

PAGE = (ROOT / "docs" / "tutorial.md").read_text()
MOST_BLOCKS_NOT_RUN = 2
# Where the page's server of models is.
MODEL_SERVER = "http://127.0.0.1:11434"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answer(body: dict[str, Any]) -> Raw | None:
    """Answer the agent's question; the requests of the service, which have a tool, are left to the model."""
    return completion({"role": "assistant", "content": "The cello."}) if is_question(body) else None


def is_question(body: dict[str, Any]) -> bool:
    return "messages" in body and "tools" not in body


@pytest.fixture
def server() -> Iterator[OpenAi]:
    """A server of models that answers as the basic model would."""
    with running(OpenAi(thinking, meaning, refuse=answer)) as server:
        yield server


@pytest.fixture
def session(tmp_path: Path, server: OpenAi) -> Iterator[Session]:
    session = Session(tmp_path, free_port(), {MODEL_SERVER: server.url})
    yield session
    session.stop()


def test_few_blocks_are_not_run() -> None:
    """All commands of the tutorial are run, but for a few blocks that say why they are not."""
    assert len(NOT_RUN.findall(PAGE)) <= MOST_BLOCKS_NOT_RUN
    assert PAGE.count("<!-- not run") == len(NOT_RUN.findall(PAGE))


@pytest.mark.slow
def test_the_tutorial(session: Session, server: OpenAi) -> None:
    """Each command prints what the page shows, in order, also after a kill, and with a server of models."""
    session.run(PAGE)
    shown = [one.line for block in FENCE.finditer(NOT_RUN.sub("", PAGE)) for one in commands(block["body"])]
    assert session.ran == shown
    assert len([line for line in shown if line.startswith("streambank serve")]) == 3

    # The agent gave the model what is remembered; then the service let it make the memories, and their vectors.
    [[instructions, question]] = [body["messages"] for body in server.sent if is_question(body)]
    assert "I play the cello" in instructions["content"]
    assert question == {"role": "user", "content": "Which instrument do I play?"}
    assert next(body["model"] for body in server.sent if "tools" in body) == "qwen3:8b"
    assert "nomic-embed-text" in {body["model"] for body in server.sent if "input" in body}
