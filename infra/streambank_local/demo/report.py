"""Shows what the service remembers: first the whole of it, then one screen with the point of it."""

from collections import defaultdict
from datetime import timedelta

from streambank_local.demo import last_screen
from streambank_local.demo.api import Document, parse_time
from streambank_local.demo.conversation import Conversation
from streambank_local.demo.findings import Findings
from streambank_local.demo.player import EVENT_COUNT, IDLE, OVERLAP, PlayResult
from streambank_local.demo.screen import Screen

_TOPICS = {
    "USER_PERSONAL_INFO": "About the user",
    "USER_PREFERENCES": "Preferences",
    "KEY_CONVERSATION_DETAILS": "Details of the conversations",
    "EXPLICIT_INSTRUCTIONS": "Instructions",
}


def announce(conversation: Conversation, screen: Screen) -> None:
    """Write what will be played, and under which trigger rule."""
    weeks = round(conversation.sessions[-1].offset / timedelta(weeks=1))
    screen.item(
        f"{conversation.event_count} events in {len(conversation.sessions)} sessions over {weeks} weeks; the clock of "
        f"local mode moves along. A window is sealed after {EVENT_COUNT} events or {IDLE.seconds // 60} minutes of "
        f"silence, and the {OVERLAP} events before it are its context. In place of a model, local mode has rules.",
        indent=0,
        style="dim",
    )
    screen.line()


def show(conversation: Conversation, result: PlayResult, findings: Findings, screen: Screen) -> None:
    """Write the memories, the history of one, the counts, and last what was said beside what is remembered of it."""
    _show_memories(conversation, findings, screen)
    _show_history(result, findings, screen)
    _show_counts(result, findings, screen)
    last_screen.show(conversation, result, findings, screen)


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


def _show_history(result: PlayResult, findings: Findings, screen: Screen) -> None:
    if not findings.memories:
        return
    revisions = findings.revisions[findings.most_revised]
    screen.heading(f"How one memory changed ({len(revisions)} revisions)")
    for revision in reversed(revisions):
        day = result.day(parse_time(revision["createTime"]))
        screen.item(f"{revision['fact']}  [{revision['labels']['session']}]", label=f"day {day:2}  ")


def _show_counts(result: PlayResult, findings: Findings, screen: Screen) -> None:
    counts = {
        "events sent": result.sent,
        "accepted": result.accepted,
        "duplicates dropped": result.duplicates,
        "windows": len(result.windows),
        "generations": len(result.generations),
        "model calls (rules here)": sum(one["metadata"].get("modelCalls", 0) for one in result.generations),
        "memories": len(findings.memories),
        "revisions of them": findings.revision_count,
    }
    screen.heading("Counts")
    for name, count in counts.items():
        screen.line(f"  {name:<25}{count:>5}")
