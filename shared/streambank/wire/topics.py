"""Topics of memories in requests and replies."""

import json
from typing import Any, NotRequired

from typing_extensions import TypedDict

from streambank.errors import InvalidArgument
from streambank.model.memory import ManagedTopic
from streambank.wire import reader

MAX_TOPICS = 100
MAX_LABEL_BYTES = 1_024
# Of all topics in a list, as JSON: they are stored with a stream, a window and a memory, whose items have 400 KB.
MAX_TOPICS_BYTES = 32_768
_TOPIC = frozenset({"managedMemoryTopic", "customMemoryTopicLabel"})


def topics(value: Any, path: str) -> tuple[str, ...]:
    """Return the names of managed topics and the labels of custom ones."""
    if not isinstance(value, list) or len(value) > MAX_TOPICS:
        raise InvalidArgument(path, f"must be a list of at most {MAX_TOPICS} topics")
    names = tuple(_topic(one, f"{path}[{index}]") for index, one in enumerate(value))
    size = sum(len(json.dumps(name, ensure_ascii=False).encode()) for name in names)
    if size > MAX_TOPICS_BYTES:
        raise InvalidArgument(path, f"has {size} bytes of JSON; the limit is {MAX_TOPICS_BYTES}")
    return names


def _topic(value: Any, path: str) -> str:
    fields = reader.object_fields(value, path, _TOPIC)
    if len(fields) != 1:
        raise InvalidArgument(path, "must have exactly one of managed_memory_topic, custom_memory_topic_label")
    [(name, (topic_path, item))] = fields.items()
    if name == "managedMemoryTopic" and item not in list(ManagedTopic):
        raise InvalidArgument(topic_path, "must be one of " + ", ".join(ManagedTopic))
    return reader.text(item, topic_path, least_bytes=1, most_bytes=MAX_LABEL_BYTES)


class Topic(TypedDict):
    """A managed topic, or the label of a custom one."""

    managedMemoryTopic: NotRequired[str]
    customMemoryTopicLabel: NotRequired[str]


def topic(name: str) -> Topic:
    """Return a topic by its name or label."""
    if name in list(ManagedTopic):
        return Topic(managedMemoryTopic=name)
    return Topic(customMemoryTopicLabel=name)
