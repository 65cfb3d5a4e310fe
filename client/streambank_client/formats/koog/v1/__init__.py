"""Messages of Koog 1.x: calls, results and reasoning are parts of three kinds of messages."""

from streambank_client.formats.koog.v1.from_contents import from_contents
from streambank_client.formats.koog.v1.to_contents import to_contents

__all__ = ["from_contents", "to_contents"]
