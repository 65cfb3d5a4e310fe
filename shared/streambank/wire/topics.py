"""Topics of memories in requests and replies."""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from streambank.errors import InvalidArgument
from streambank.model.memory import ManagedTopic
from streambank.wire import reader

MAX_TOPICS = 100
MAX_LABEL_BYTES = 1_024
_TOPIC = frozenset({"managedMemoryTopic", "customMemoryTopicLabel"})


def topics(value: Any, path: str) -> tuple[str, ...]:
    """Return the names of managed topics and the labels of custom ones."""
    if not isinstance(value, list) or len(value) > MAX_TOPICS:
        raise InvalidArgument(path, f"must be a list of at most {MAX_TOPICS} topics")
    return tuple(_topic(one, f"{path}[{index}]") for index, one in enumerate(value))


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
