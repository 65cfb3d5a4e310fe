"""Short ways to say in a test what was converted and what was not."""

from streambank_client import formats
from streambank_client.formats import Options

DEFAULTS = Options()
THINKING = Options(include_reasoning=True)


def parts(message, tag, options=DEFAULTS):
    """Return the parts of the one Content of a message."""
    (found,) = formats.to_contents([message], tag, options=options).contents
    return found.content["parts"]


def losses(messages, tag, options=DEFAULTS):
    """Return what was dropped as (index, part, kind, reason) with the reason's word."""
    dropped = formats.to_contents(messages, tag, options=options).dropped
    return [(one.index, one.part, one.kind, one.reason.value) for one in dropped]


def comes_back(messages, tag):
    """Assert that messages survive the way to Contents and back with nothing reported, and are the same."""
    there = formats.to_contents(messages, tag, options=THINKING)
    back = formats.from_contents(there.contents, tag)
    assert (there.dropped, back.dropped) == ((), ())
    assert list(back.messages) == messages


def unsayable(contents, tag):
    """Return what the way back to a format drops, as (index, part, kind, reason)."""
    dropped = formats.from_contents(contents, tag).dropped
    return [(one.index, one.part, one.kind, one.reason.value) for one in dropped]
