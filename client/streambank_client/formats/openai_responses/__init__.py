"""Items of OpenAI's Responses, as the sessions of the OpenAI Agents SDK store them too."""

from streambank_client.formats.openai_responses.from_contents import from_contents
from streambank_client.formats.openai_responses.to_contents import to_contents

__all__ = ["from_contents", "to_contents"]
