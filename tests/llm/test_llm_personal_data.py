"""The services that find personal data, over real HTTP: what they find is located; where they fail nothing passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import boto3
import pytest
from botocore.config import Config
from hypothesis import given
from hypothesis import strategies as some

from streambank.errors import Unavailable
from streambank.llm.personal_data.documents import documents
from streambank.llm.personal_data.services import Comprehend, Guardrail
from streambank.rules.content_policy.spans import Span
from tests.llm.personal_data_server import PersonalData, running

NAME = "Ann Miller"
Ask = Callable[[Sequence[str]], list[list[Span]]]


@pytest.fixture(scope="module")
def server() -> Iterator[PersonalData]:
    with running(PersonalData()) as service:
        yield service


@pytest.fixture
def billed() -> list[int]:
    """Return the units of text of each request so far."""
    return []


@pytest.fixture(params=["comprehend", "guardrail"])
def ask(request: pytest.FixtureRequest, server: PersonalData, billed: list[int]) -> Ask:
    server.requests.clear()
    server.failures.clear()

    def build(name: str) -> Any:
        session = boto3.Session(aws_access_key_id="a", aws_secret_access_key="b", region_name="us-east-1")
        return session.client(name, endpoint_url=server.url, config=Config(retries={"total_max_attempts": 1}))

    service = Comprehend(lambda: build("comprehend"))
    if request.param == "guardrail":
        service = Guardrail(lambda: build("bedrock-runtime"), "g1", "1")
    return lambda texts: service.spans(texts, billed.append)


def found(texts: Sequence[str], ask: Ask) -> list[list[str]]:
    return [[text[span.start : span.end] for span in spans] for text, spans in zip(texts, ask(texts), strict=True)]


def test_personal_data_is_located(ask: Ask, server: PersonalData) -> None:
    """Several texts are one request; what is found is told by the characters of its own text."""
    texts = ["I like tea.", f"I am {NAME}.", "", f"\U0001f41d {NAME} and {NAME}"]
    assert found(texts, ask) == [[], [NAME], [], [NAME, NAME]]
    assert len(server.requests) == 1
    assert ask([]) == []
    assert len(server.requests) == 1, "nothing is sent for nothing"


@pytest.mark.parametrize("ask", ["comprehend"], indirect=True)
@pytest.mark.parametrize(("length", "units"), [(1, 3), (300, 3), (301, 4), (1_000, 10), (1_001, 11)])
def test_comprehend_bills_by_the_hundred(ask: Ask, billed: list[int], length: int, units: int) -> None:
    """A unit is a hundred characters, a begun one counts, and a request has at least three."""
    ask(["\u00e4" * length])
    assert billed == [units]


@pytest.mark.parametrize("ask", ["guardrail"], indirect=True)
def test_a_guardrail_tells_what_it_bills(ask: Ask, billed: list[int]) -> None:
    """Units of policies that are free are not counted."""
    ask(["I like tea."])
    assert billed == [6]


def test_long_texts_are_sent_in_parts(ask: Ask, server: PersonalData, billed: list[int]) -> None:
    """A text above the limit of a request is cut with an overlap: what is on a border is found all the same."""
    text = " ".join(f"{number} {NAME}" for number in range(12_000))
    assert len(text) > 100_000
    spans = ask([text])[0]
    assert all(text[span.start : span.end] in NAME for span in spans)
    covered = {place for span in spans for place in range(*span)}
    names = (at + offset for at in range(len(text)) if text.startswith(NAME, at) for offset in range(len(NAME)))
    assert set(names) == covered
    assert len(server.requests) > 1
    assert len(billed) == len(server.requests), "each request is billed by itself"


@pytest.mark.parametrize("failure", [(400, "AccessDeniedException"), (429, "ThrottlingException"), (500, "Oops")])
def test_a_failure_lets_nothing_pass(ask: Ask, server: PersonalData, failure: tuple[int, str]) -> None:
    """Whatever goes wrong is Unavailable, with the code of the error and nothing of the text."""
    server.failures.append(failure)
    with pytest.raises(Unavailable, match="personal data did not answer") as refusal:
        ask([f"I am {NAME}."])
    assert NAME not in str(refusal.value)
    assert found([f"I am {NAME}."], ask) == [[NAME]]


@given(some.lists(some.text(some.characters(codec="utf-8"), max_size=400), max_size=6), some.integers(1_000, 2_000))
def test_documents_hold_every_character_within_their_limit(texts: list[str], most_bytes: int) -> None:
    """No document is larger than the limit, and each character of each text is where it is said to be."""
    seen: list[set[int]] = [set() for _ in texts]
    for document in documents(texts, most_bytes=most_bytes):
        assert len(document.text.encode()) <= most_bytes
        for at in range(len(document.text)):
            for number, span in document.located(at, at + 1):
                assert texts[number][span.start] == document.text[at]
                seen[number].add(span.start)
    assert seen == [set(range(len(text))) for text in texts]
