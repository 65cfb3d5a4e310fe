"""Shows what the service remembers."""

from collections import defaultdict
from datetime import timedelta

from streambank_local.demo.api import Document, instant
from streambank_local.demo.conversation import Conversation
from streambank_local.demo.findings import Answer, Findings, Forgotten
from streambank_local.demo.player import EVENT_COUNT, IDLE, OVERLAP, Played
from streambank_local.demo.screen import Screen

_TOPICS = {
    "USER_PERSONAL_INFO": "About the user",
    "USER_PREFERENCES": "Preferences",
    "KEY_CONVERSATION_DETAILS": "Details of the conversations",
    "EXPLICIT_INSTRUCTIONS": "Instructions",
}


def announce(conversation: Conversation, screen: Screen) -> None:
    """Tell what is going to be played, and under which rule."""
    weeks = round(conversation.sessions[-1].offset / timedelta(weeks=1))
    screen.item(
        f"{conversation.event_count} events in {len(conversation.sessions)} sessions over {weeks} weeks; the clock of "
        f"local mode moves along. A window is sealed after {EVENT_COUNT} events or {IDLE.seconds // 60} minutes of "
        f"silence, and the {OVERLAP} events before it are its context. In place of a model, local mode has rules.",
        indent=0,
        style="dim",
    )
    screen.line()


def show(conversation: Conversation, played: Played, findings: Findings, screen: Screen) -> None:
    """Show the memories, one history, the answers, what is forgotten, and the counts."""
    _show_memories(conversation, findings, screen)
    _show_history(played, findings, screen)
    _show_answers(findings, screen)
    _show_forgotten(played, findings, screen)
    _show_counts(played, findings, screen)


def _show_memories(conversation: Conversation, findings: Findings, screen: Screen) -> None:
    scope = ", ".join(f"{key}={value}" for key, value in conversation.scope.items())
    screen.heading(f"{len(findings.memories)} memories of {scope}")
    by_topic = defaultdict(list)
    for memory in sorted(findings.memories, key=lambda memory: str(memory["createTime"])):
        by_topic[_topic(memory)].append(memory["fact"])
    for topic, facts in sorted(by_topic.items()):
        screen.line(f"  {topic}", style="dim")
        for fact in facts:
            screen.item(fact, label="- ", indent=4)


def _topic(memory: Document) -> str:
    labels = [label for topic in memory.get("topics", []) for label in topic.values()]
    return _TOPICS.get(labels[0], labels[0]) if labels else "Other"


def _show_history(played: Played, findings: Findings, screen: Screen) -> None:
    if not findings.memories:
        return
    revisions = findings.revisions[findings.most_revised]
    screen.heading(f"How one memory changed ({len(revisions)} revisions)")
    for revision in reversed(revisions):
        day = played.day(instant(revision["createTime"]))
        screen.item(f"{revision['fact']}  [{revision['labels']['session']}]", label=f"day {day:2}  ")


def _show_answers(findings: Findings, screen: Screen) -> None:
    screen.heading(f"{len(findings.answers)} questions, answered by similarity search")
    for answer in findings.answers:
        screen.line(f"  {answer.question.ask}")
        _show_hits(answer, screen)


def _show_hits(answer: Answer, screen: Screen) -> None:
    for number, hit in enumerate(answer.hits):
        style = "dim" if number else "green"
        screen.item(hit["memory"]["fact"], label=f"{hit['distance']:.2f}  ", indent=4, style=style)


def _show_forgotten(played: Played, findings: Findings, screen: Screen) -> None:
    screen.heading("Forgotten on request")
    for one in findings.forgotten:
        screen.item(f'"{one.fact}"')
        screen.item(_told(one, played), indent=4)


def _told(one: Forgotten, played: Played) -> str:
    made, deleted = (
        played.day(instant(generation["metadata"]["genericMetadata"]["updateTime"]))
        for generation in (one.created_in, one.deleted_in)
    )
    now = "GET answers 404" if one.is_gone else "GET still finds it"
    return f"remembered on day {made}, deleted on day {deleted}; now {now}"


def _show_counts(played: Played, findings: Findings, screen: Screen) -> None:
    counts = {
        "events sent": played.sent,
        "accepted": played.accepted,
        "duplicates dropped": played.duplicates,
        "windows": len(played.windows),
        "generations": len(played.generations),
        "model calls (rules here)": sum(one["metadata"].get("modelCalls", 0) for one in played.generations),
        "memories": len(findings.memories),
        "revisions of them": findings.revision_count,
    }
    screen.heading("Counts")
    for name, count in counts.items():
        screen.line(f"  {name:<25}{count:>5}")
