"""Messages of Koog 0.7 and 0.8: calls, results and reasoning are separate messages."""

from streambank_client.formats.koog.v0_8.from_contents import from_contents
from streambank_client.formats.koog.v0_8.to_contents import to_contents

__all__ = ["from_contents", "to_contents"]
