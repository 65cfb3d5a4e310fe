"""Messages of LangChain, as its `message_to_dict` writes them."""

from streambank_client.formats.langchain.from_contents import from_contents
from streambank_client.formats.langchain.to_contents import to_contents

__all__ = ["from_contents", "to_contents"]
