"""Short forms for what a conversion returns and drops."""

from streambank_client import formats
from streambank_client.formats import Options

DEFAULTS = Options()
THINKING = Options(include_reasoning=True)


def parts(message, tag, options=DEFAULTS):
    """Return the parts of the one Content of a message."""
    (converted,) = formats.to_contents([message], tag, options=options).contents
    return converted.content["parts"]


def losses(messages, tag, options=DEFAULTS):
    """Return what `to_contents` drops, as (index, part, kind, reason)."""
    dropped = formats.to_contents(messages, tag, options=options).dropped
    return [(one.index, one.part, one.kind, one.reason.value) for one in dropped]


def assert_round_trip(messages, tag):
    """Assert that messages are the same after both conversions, with nothing dropped."""
    conversion = formats.to_contents(messages, tag, options=THINKING)
    restored = formats.from_contents(conversion.contents, tag)
    assert (conversion.dropped, restored.dropped) == ((), ())
    assert list(restored.messages) == messages


def restore_losses(contents, tag):
    """Return what `from_contents` drops, as (index, part, kind, reason)."""
    dropped = formats.from_contents(contents, tag).dropped
    return [(one.index, one.part, one.kind, one.reason.value) for one in dropped]


def texts(conversation):
    """Return the first text of each Content of an exported conversation."""
    return [one.content["parts"][0].get("text") for one in conversation.conversion.contents]
