"""What the service remembers after the conversation, and which of the demo's checks fail."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from streambank_local.demo.api import Api, Document
from streambank_local.demo.conversation import Conversation, Question, Turn
from streambank_local.demo.player import PlayResult

HITS_PER_QUESTION = 2


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """The memories nearest to a question, and the turns that the nearest one comes from."""

    question: Question
    hits: tuple[Document, ...]
    turns: tuple[Turn, ...] = ()

    @property
    def is_correct(self) -> bool:
        """Whether the first hit contains the expected word."""
        return bool(self.hits) and self.question.expected_word in self.hits[0]["memory"]["fact"]


@dataclass(frozen=True, slots=True)
class DeletedMemory:
    """A memory that was deleted on request, its turns, and the generations that created and deleted it."""

    fact: str
    turns: tuple[Turn, ...]
    created_in: Document
    deleted_in: Document
    is_gone: bool


@dataclass(frozen=True, slots=True)
class Findings:
    """What the demo reads from the scope at the end."""

    memories: tuple[Document, ...]
    revisions: dict[str, tuple[Document, ...]]
    question_results: tuple[QuestionResult, ...]
    deleted: tuple[DeletedMemory, ...]

    @property
    def most_revised(self) -> str:
        """Return the name of the memory with the most revisions."""
        return max(self.revisions, key=lambda name: len(self.revisions[name]))

    @property
    def revision_count(self) -> int:
        return sum(map(len, self.revisions.values()))


def gather(conversation: Conversation, result: PlayResult, api: Api) -> Findings:
    """Read the memories of the scope and their revisions, and search for the questions; raises DemoError."""
    memories = api.memories(conversation.scope)
    return Findings(
        memories=tuple(memories),
        revisions={memory["name"]: tuple(api.revisions(memory["name"])) for memory in memories},
        question_results=tuple(_question_result(one, conversation, result, api) for one in conversation.questions),
        deleted=tuple(_deleted(conversation, result, api)),
    )


def _question_result(question: Question, conversation: Conversation, result: PlayResult, api: Api) -> QuestionResult:
    hits = tuple(api.search(conversation.scope, question.text, HITS_PER_QUESTION))
    turns = _turns(hits[0]["memory"]["name"], conversation, result) if hits else ()
    return QuestionResult(question, hits, turns)


def _turns(memory_name: str, conversation: Conversation, result: PlayResult) -> tuple[Turn, ...]:
    """Return the turns that the last change of a memory cites."""
    for candidate in reversed(result.candidates):
        changes = {one["verdict"] for one in candidate["verdicts"] if one.get("memory") == memory_name}
        if changes & {"CREATED", "UPDATED"}:
            return tuple(conversation.turn(event["eventId"]) for event in candidate["events"])
    return ()


def _deleted(conversation: Conversation, result: PlayResult, api: Api) -> Iterator[DeletedMemory]:
    created = {
        verdict["memory"]: (verdict["fact"], generation)
        for verdict, generation in _verdicts(result.generations)
        if verdict["verdict"] == "CREATED"
    }
    for verdict, generation in _verdicts(result.generations):
        if verdict["verdict"] == "DELETED":
            fact, created_in = created[verdict["memory"]]
            turns = _turns(verdict["memory"], conversation, result)
            yield DeletedMemory(fact, turns, created_in, generation, api.is_gone(verdict["memory"]))


def _verdicts(generations: Iterable[Document]) -> Iterator[tuple[Document, Document]]:
    return ((verdict, one) for one in generations for verdict in one["response"]["verdicts"])


def problems(conversation: Conversation, result: PlayResult, findings: Findings) -> list[str]:
    """Return a line for each check of the demo that fails."""
    checks = (*_ingest_checks(conversation, result), *_memory_checks(conversation, findings))
    return [problem for is_passed, problem in checks if not is_passed]


def _ingest_checks(conversation: Conversation, result: PlayResult) -> Iterator[tuple[bool, str]]:
    events, resent = conversation.event_count, conversation.resent_count
    yield result.accepted == events, f"{result.accepted} events were accepted, not {events}"
    yield result.duplicates == resent, f"{result.duplicates} duplicates were dropped, not {resent}"
    coverage = [window["metadata"]["coverage"] for window in result.windows]
    read = sum(one["covered"] + sum(one.get("notCovered", {}).values()) for one in coverage)
    yield read == events, f"the windows hold {read} events, not {events}"


def _memory_checks(conversation: Conversation, findings: Findings) -> Iterator[tuple[bool, str]]:
    yield bool(findings.memories), "nothing is remembered"
    yield max(map(len, findings.revisions.values()), default=0) > 1, "no memory was revised"
    for one in findings.question_results:
        expected = f"by a memory with {one.question.expected_word!r}"
        yield one.is_correct, f"{one.question.text!r} is not answered {expected}"
        yield bool(one.turns) or not one.hits, f"the answer to {one.question.text!r} cites nothing that was said"
    yield from _deletion_checks(conversation.forgotten_word, findings)


def _deletion_checks(word: str, findings: Findings) -> Iterator[tuple[bool, str]]:
    is_deleted = any(word in one.fact for one in findings.deleted)
    yield is_deleted, f"no memory with {word!r} was deleted"
    remaining = [one["fact"] for one in findings.memories if word in one["fact"]]
    yield not remaining, f"still remembered: {remaining}"
    yield all(one.is_gone for one in findings.deleted), "a deleted memory can still be read"
