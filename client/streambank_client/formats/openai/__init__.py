"""Messages of OpenAI's chat completions."""

from streambank_client.formats.openai.from_contents import from_contents
from streambank_client.formats.openai.to_contents import to_contents

__all__ = ["from_contents", "to_contents"]
