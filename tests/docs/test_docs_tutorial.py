"""The tutorial is run as it stands, from its first command to its last."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.conftest import ROOT, ChatEndpoint
from tests.docs.page_session import FENCE, NOT_RUN, Command, Session, commands

PAGE = (ROOT / "docs" / "tutorial.md").read_text()
MOST_BLOCKS_NOT_RUN = 4


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    session = Session(tmp_path, free_port())
    yield session
    session.stop()


def test_few_blocks_are_not_run() -> None:
    """All commands of the tutorial are run, but for a few blocks that say why they are not."""
    assert len(NOT_RUN.findall(PAGE)) <= MOST_BLOCKS_NOT_RUN
    assert PAGE.count("<!-- not run") == len(NOT_RUN.findall(PAGE))


@pytest.mark.slow
def test_the_tutorial(session: Session, chat_endpoint: ChatEndpoint) -> None:
    """Each command prints what the page shows, in order, also after the service was killed and started again."""
    session.run(PAGE)
    shown = [one.line for block in FENCE.finditer(NOT_RUN.sub("", PAGE)) for one in commands(block["body"])]
    assert session.ran == shown
    assert len([line for line in shown if line.startswith("streambank serve")]) == 2

    # The agent with a model: the server receives what is remembered, and its answer is printed.
    chat_endpoint.messages = [{"role": "assistant", "content": "The cello."}]
    session.environment = {"OPENAI_BASE_URL": chat_endpoint.url}
    assert "The cello." in session.type(Command("python agent.py", ("Which instrument do I play?", "bye"), ()))
    [[instructions, question]] = chat_endpoint.prompts()
    assert "I play the cello" in instructions["content"]
    assert question == {"role": "user", "content": "Which instrument do I play?"}
