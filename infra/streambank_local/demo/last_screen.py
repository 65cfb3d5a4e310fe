"""The last screen: what was said, what is remembered of it, and an assistant's answers without memory and with it."""

from collections.abc import Iterator, Sequence

from streambank_local.demo.api import Document, parse_time
from streambank_local.demo.conversation import Conversation, Turn
from streambank_local.demo.findings import DeletedMemory, Findings
from streambank_local.demo.player import PlayResult
from streambank_local.demo.screen import Screen

_UNKNOWN = "I do not know."
_WORDS_COLUMNS = (6, 38, 32)
_ANSWERS_COLUMNS = (24, 14, 38)


def show(conversation: Conversation, result: PlayResult, findings: Findings, screen: Screen) -> None:
    """Write the words beside the memories, then the questions with both answers; 80 x 24 characters hold it."""
    screen.heading(f"What was said, and what {len(findings.memories)} memories hold of it")
    words = sorted(_words(conversation, result, findings), key=lambda row: row[0])
    screen.table(("When", "Said", "Remembered"), [(f"day {day}", *texts) for day, *texts in words], _WORDS_COLUMNS)
    screen.heading("A new session: the assistant has heard nothing yet")
    answers = [
        (one.question.text, _answer(()), _answer([hit["memory"] for hit in one.hits]))
        for one in findings.question_results
    ]
    titles = (f"{conversation.user} asks", "Without memory", "With memory: the nearest one")
    screen.table(titles, answers, _ANSWERS_COLUMNS)


def _words(conversation: Conversation, result: PlayResult, findings: Findings) -> Iterator[tuple[int, str, str]]:
    """Yield the day, the words, and what is remembered of them, for each question and each deleted memory."""
    for one in findings.question_results:
        if one.turns:
            yield one.turns[-1].offset.days, _quoted(conversation, one.turns), one.hits[0]["memory"]["fact"]
    for deleted in findings.deleted:
        if deleted.turns:
            yield deleted.turns[-1].offset.days, _quoted(conversation, deleted.turns), _deletion(deleted, result)


def _quoted(conversation: Conversation, turns: Sequence[Turn]) -> str:
    return " ".join(f"{conversation.speaker(turn)}: {turn.text}" for turn in turns)


def _deletion(one: DeletedMemory, result: PlayResult) -> str:
    day = result.day(parse_time(one.deleted_in["metadata"]["genericMetadata"]["updateTime"]))
    now = "GET returns 404" if one.is_gone else "GET still returns it"
    return f"nothing: deleted on day {day}, on request; {now}"


def _answer(memories: Sequence[Document]) -> str:
    """Return the answer of an assistant that knows these memories only: the first one, in place of a model's words."""
    return str(memories[0]["fact"]) if memories else _UNKNOWN
