"""The API's constants in words that a reader needs no page for, and the tone in which each is shown."""

from __future__ import annotations

from dataclasses import dataclass

from streambank_client.types import PolicyFinding
from streambank_console.views.text import words_of


@dataclass(frozen=True, slots=True)
class Badge:
    """A short word, its tone (`good`, `busy`, `warn`, `bad`, `plain`), and what it means."""

    text: str
    tone: str = "plain"
    meaning: str = ""


_STATES = {
    "BUFFERING": Badge("open", "busy", "The window still takes events."),
    "SEALED": Badge("closed", "busy", "The window is closed; its generation is about to start."),
    "GENERATING": Badge("generating", "busy", "Memories are being made."),
    "RETRYING": Badge("retrying", "warn", "The generation failed and is tried again."),
    "BUDGET_PAUSED": Badge("paused", "warn", "The bank's tokens of today are used up; it goes on tomorrow."),
    "PARKED": Badge("parked", "bad", "Every try failed. The events are kept; redrive tries again."),
    "ERASED": Badge("erased", "plain", "The events were erased."),
    "DONE": Badge("done", "good", "Memories were made."),
    "UNKNOWN": Badge("unknown", "plain", "The stream never accepted this event, or its id is kept no longer."),
}
STATES = tuple(state for state in _STATES if state != "UNKNOWN")
_TRIGGERS = {
    "EVENT_COUNT": "it held enough events",
    "IDLE_DURATION": "no new event came for the idle time",
    "FIXED_INTERVAL": "the interval was over",
    "FORCE_FLUSH": "a call asked for it",
    "NO_RULE": "no trigger rule was set, so it closed at once",
    "ABANDONED": "no event came for 24 hours",
    "MAX_SIZE": "it reached the largest size",
    "MAX_AGE": "it reached the greatest age",
    "DIRECT": "a call generated memories at once",
    "ERASED": "its events were erased",
}
# What comes next; the time follows.
_NEXT = {
    "IDLE_DURATION": "closes if idle,",
    "FIXED_INTERVAL": "closes",
    "ABANDONED": "closes if left alone,",
    "MAX_AGE": "closes at its greatest age,",
    "EVENT_COUNT": "closes",
    "RETRY": "tries again",
}
_VERDICTS = {
    "CREATED": Badge("created", "good", "A new memory was made of it."),
    "UPDATED": Badge("updated", "good", "It changed a memory, or confirmed one."),
    "DELETED": Badge("deleted", "warn", "It made the service forget a memory."),
    "UNCHANGED": Badge("unchanged", "plain", "A memory says it already."),
    "REJECTED": Badge("rejected", "bad", "Nothing was remembered of it."),
}
_OMISSIONS = {
    "TOOL": "a tool's call or its result",
    "MEDIA": "media without text",
    "THOUGHT": "only thoughts",
    "RECALLED": "only memories that the application had recalled",
    "BLANK": "no text",
    "FORGOTTEN": "cited by a memory that is deleted",
    "DISABLED": "the bank makes no memories of events",
    "LEARNING_DISABLED": "the scope is set to learn nothing",
}
_POLICY_ACTIONS = {"REDACT": "removed", "REFUSE": "removed", "TAG": "tagged"}
_DETECTORS = {
    "CREDENTIALS": "keys, tokens and passwords",
    "CARD_NUMBERS": "numbers of payment cards",
    "PERSONAL_DATA": "what the service for personal data finds",
}
_ACTIONS = {
    "REDACT": Badge("removed", "warn", "The match is replaced by a marker; the rest is stored."),
    "REFUSE": Badge("refused", "bad", "The call is refused, and nothing of it is stored."),
    "TAG": Badge("tagged", "plain", "The text stays, and the event says which rule matched."),
}
_CHANGES = {
    "NEW": "a new fact",
    "REPEATS": "repeats a memory",
    "CHANGES": "changes a memory",
    "FORGETS": "asks to forget",
}


def state(constant: str | None) -> Badge:
    """Return the badge of a window's or an event's state."""
    return _STATES.get(constant or "", Badge(words_of(constant or "unknown")))


def verdict(constant: str) -> Badge:
    """Return the badge of a verdict."""
    return _VERDICTS.get(constant, Badge(words_of(constant)))


def closed_because(trigger: str | None) -> str:
    """Return why a window was closed."""
    return _TRIGGERS.get(trigger or "", words_of(trigger or "it is still open"))


def omission(reason: str) -> str:
    """Return why the model was not shown an event."""
    return _OMISSIONS.get(reason, words_of(reason))


def finding(one: PolicyFinding) -> str:
    """Return what a content policy found in an event, and what it did."""
    return f"{one.rule} ({one.count:,} {_POLICY_ACTIONS.get(one.action, words_of(one.action))})"


def detector(constant: str) -> str:
    """Return what a detector of a content policy looks for."""
    return _DETECTORS.get(constant, words_of(constant))


def policy_action(constant: str) -> Badge:
    """Return the badge of what a rule of a content policy does with a match."""
    return _ACTIONS.get(constant, Badge(words_of(constant)))


def learning(constant: str) -> str:
    """Return whether anything is learnt about a scope."""
    return "Nothing is learnt about this scope." if constant == "DISABLED" else "What is said in this scope is learnt."


def change(constant: str | None) -> str:
    """Return what the model proposed to do with a fact."""
    return _CHANGES.get(constant or "", words_of(constant or "")) if constant else ""


def next_step(kind: str) -> str:
    """Return what a trigger of this kind does; its time follows."""
    return _NEXT.get(kind, words_of(kind))
