"""Messages of pydantic-ai, as its `ModelMessagesTypeAdapter` writes them."""

from streambank_client.formats.pydantic_ai.from_contents import from_contents
from streambank_client.formats.pydantic_ai.to_contents import to_contents

__all__ = ["from_contents", "to_contents"]
