"""What the service remembers after the conversation, and what of the demo's promises it did not keep."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from streambank_local.demo.api import Api, Document
from streambank_local.demo.conversation import Conversation, Question
from streambank_local.demo.player import Played

SHOWN_HITS = 2


@dataclass(frozen=True, slots=True)
class Answer:
    """The memories nearest to a question."""

    question: Question
    hits: tuple[Document, ...]

    @property
    def is_right(self) -> bool:
        """Whether the top hit holds the expected word."""
        return bool(self.hits) and self.question.answer in self.hits[0]["memory"]["fact"]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A memory that was deleted on request: what it said, when it was made and deleted, whether it is gone."""

    fact: str
    created_in: Document
    deleted_in: Document
    is_gone: bool


@dataclass(frozen=True, slots=True)
class Findings:
    """All that the demo shows of the scope."""

    memories: tuple[Document, ...]
    revisions: dict[str, tuple[Document, ...]]
    answers: tuple[Answer, ...]
    forgotten: tuple[Forgotten, ...]

    @property
    def most_revised(self) -> str:
        """Return the name of the memory with the most revisions."""
        return max(self.revisions, key=lambda name: len(self.revisions[name]))

    @property
    def revision_count(self) -> int:
        return sum(map(len, self.revisions.values()))


def gather(conversation: Conversation, played: Played, api: Api) -> Findings:
    """Read the memories of the scope, their revisions, and the answers. Raises DemoError."""
    memories = api.memories(conversation.scope)
    return Findings(
        memories=tuple(memories),
        revisions={memory["name"]: tuple(api.revisions(memory["name"])) for memory in memories},
        answers=tuple(_answer(one, conversation, api) for one in conversation.questions),
        forgotten=tuple(_forgotten(played, api)),
    )


def _answer(question: Question, conversation: Conversation, api: Api) -> Answer:
    return Answer(question, tuple(api.search(conversation.scope, question.ask, SHOWN_HITS)))


def _forgotten(played: Played, api: Api) -> Iterator[Forgotten]:
    made = {
        verdict["memory"]: (verdict["fact"], generation)
        for verdict, generation in _verdicts(played.generations)
        if verdict["verdict"] == "CREATED"
    }
    for verdict, generation in _verdicts(played.generations):
        if verdict["verdict"] == "DELETED":
            fact, created_in = made[verdict["memory"]]
            yield Forgotten(fact, created_in, generation, api.is_gone(verdict["memory"]))


def _verdicts(generations: Iterable[Document]) -> Iterator[tuple[Document, Document]]:
    return ((verdict, one) for one in generations for verdict in one["response"]["verdicts"])


def problems(conversation: Conversation, played: Played, findings: Findings) -> list[str]:
    """Return every promise of the demo that was not kept, a line each."""
    claims = (*_of_ingest(conversation, played), *_of_memory(conversation, findings))
    return [broken for kept, broken in claims if not kept]


def _of_ingest(conversation: Conversation, played: Played) -> Iterator[tuple[bool, str]]:
    events, again = conversation.event_count, conversation.sent_again_count
    yield played.accepted == events, f"{played.accepted} events were accepted, not {events}"
    yield played.duplicates == again, f"{played.duplicates} duplicates were dropped, not {again}"
    covered = sum(window["metadata"]["coverage"]["covered"] for window in played.windows)
    yield covered == events, f"the windows cover {covered} events, not {events}"


def _of_memory(conversation: Conversation, findings: Findings) -> Iterator[tuple[bool, str]]:
    yield bool(findings.memories), "nothing is remembered"
    yield max(map(len, findings.revisions.values()), default=0) > 1, "no memory was ever revised"
    for answer in findings.answers:
        expected = f"by a memory with {answer.question.answer!r}"
        yield answer.is_right, f"{answer.question.ask!r} is not answered {expected}"
    yield from _of_forgetting(conversation.forgotten, findings)


def _of_forgetting(word: str, findings: Findings) -> Iterator[tuple[bool, str]]:
    asked = any(word in one.fact for one in findings.forgotten)
    yield asked, f"no memory with {word!r} was deleted"
    left = [one["fact"] for one in findings.memories if word in one["fact"]]
    yield not left, f"still remembered: {left}"
    yield all(one.is_gone for one in findings.forgotten), "a deleted memory can still be read"
