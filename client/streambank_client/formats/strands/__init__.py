"""Messages of Strands Agents."""

from streambank_client.formats.strands.from_contents import from_contents
from streambank_client.formats.strands.to_contents import to_contents

__all__ = ["from_contents", "to_contents"]
