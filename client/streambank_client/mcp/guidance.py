"""The resources and the prompts: their names and descriptions, and the texts of the prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from streambank_client.mcp.tools import BadArguments

MEMORIES_URI = "streambank://memories"
MEMORY_URI_TEMPLATE = f"{MEMORIES_URI}/{{memory}}"
MEMORIES_DESCRIPTION = "The memories of the user, newest first, with their ids."
MEMORY_DESCRIPTION = "One memory of the user, by its id."
MEDIA_TYPE = "text/plain"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt whose arguments are all optional texts."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, str] = field(default_factory=dict)


START = Prompt(
    "start_with_memories",
    "Start with memories",
    "Begin a conversation with what is remembered about the user, or about one topic.",
    {"topic": "What the conversation is about; without it the newest memories are used."},
)
SAVE = Prompt(
    "save_conversation",
    "Save what matters",
    "Go through the conversation and remember what will still matter later.",
)
PROMPTS = {prompt.name: prompt for prompt in (START, SAVE)}


def memory_id(uri: str) -> str | None:
    """Return the id in the URI of a memory: "" in that of all memories, None in another URI."""
    if uri == MEMORIES_URI:
        return ""
    prefix, separator, last = uri.rpartition("/")
    return last if separator and prefix == MEMORIES_URI and last else None


def check_prompt(name: str, arguments: Mapping[str, str]) -> Prompt:
    """Return the prompt of a name.

    Raises:
        BadArguments: there is no such prompt, or it has no such argument.
    """
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise BadArguments(f"there is no such prompt; there are {', '.join(PROMPTS)}")
    if any(argument not in prompt.arguments for argument in arguments):
        raise BadArguments(f"{name} has {', '.join(prompt.arguments) or 'no arguments'}, and no other arguments")
    return prompt


def start_text(memories: str) -> str:
    """Return the text that begins a conversation with memories."""
    return (
        "Before we begin, here is what you remember about me from earlier conversations.\n\n"
        f"{memories}\n\n"
        "Use it where it helps, without reciting it. If you need to know more, call recall. If I say something that "
        "will still matter in another conversation, call remember. Now greet me briefly and ask what I need."
    )


SAVE_TEXT = (
    "Go through our conversation so far. For everything that I said about myself, my plans, preferences or decisions "
    "and that will still matter in another conversation, call remember, with short complete sentences in the first "
    "person, as I would say them. Leave out what you said, what is only of this task, and passwords and card numbers. "
    "Then tell me in one line each what was stored and what was not."
)
