"""Local mode where the embedder of the basic model cannot be imported, as with a Python that has no wheel of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from streambank_local.basic.embedder import WordLlamaEmbedder
from streambank_local.installation import missing_embedder

ROOT = Path(__file__).resolve().parents[2]
BLOCKED = "import sys; sys.modules['wordllama'] = sys.modules['numpy'] = None\n"
CONVERSATION = """
from streambank_client import Event, Streambank
from streambank_local.service import LocalService

scope = {"user_id": "ilva"}
with LocalService(timer_enabled=False) as service, Streambank(service.base_url, token="local") as client:
    bank = client.bank("default")
    for text in ("I live in Antwerp. My dog is called Waffle.", "I play the cello on Sundays."):
        operation = bank.ingest_events(scope=scope, events=[Event.from_text(text)], force_flush=True)
        operation.wait(timeout_seconds=120)
    for query in ("What is my dog called?", "Where do I live?", "Do I play the cello?", "Which colour?"):
        found = bank.retrieve_memories(scope=scope, query=query, include_events=query.startswith("Do"))
        print([one.memory.fact for one in found][0])
    print(len(found))
"""


@pytest.fixture
def without_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordllama", None)


@pytest.mark.usefixtures("without_embedder")
def test_a_text_has_no_vector() -> None:
    """Each text has the vector that the rules read as none."""
    assert WordLlamaEmbedder().embed(["I keep bees", "I sing"]) == [b"", b""]


def test_a_package_that_cannot_be_loaded_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A package that is there and fails, such as one for another Python, is named in a warning."""
    (tmp_path / "wordllama.py").write_text("raise ImportError('no such symbol')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    assert WordLlamaEmbedder().embed(["I keep bees"]) == [b""]
    assert "no such symbol" in caplog.text


@pytest.mark.slow
def test_a_short_conversation_is_searched_by_its_words() -> None:
    """Memories are made, and found by the words that they share with a question; without such words all are there."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED + CONVERSATION],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": "shared:client:infra:."},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    dog, home, cello, _, count = done.stdout.splitlines()
    assert (dog, home) == ("My dog is called Waffle", "I live in Antwerp")
    assert cello == "I play the cello on Sundays"
    assert count == "3"


@pytest.mark.usefixtures("without_embedder")
def test_the_start_says_that_search_goes_by_words() -> None:
    """The notice names the package and what is missing without it."""
    notice = missing_embedder()
    assert notice is not None
    assert "wordllama" in notice
    assert "words alone" in notice


def test_nothing_is_said_where_the_embedder_is_there() -> None:
    """With the package there is no notice."""
    assert missing_embedder() is None
