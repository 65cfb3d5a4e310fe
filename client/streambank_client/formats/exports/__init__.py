"""Exports of chat applications: whole documents, with their conversations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from streambank_client.formats import agentcore
from streambank_client.formats.conversion import DEFAULTS, Format, Options
from streambank_client.formats.exports import chatgpt, claude, sharegpt, slack, whatsapp
from streambank_client.formats.exports.conversation import ExportedConversation
from streambank_client.formats.exports.detection import detect_document
from streambank_client.formats.node import Node, type_error

__all__ = ["EXPORTS", "ExportedConversation", "detect_document", "read_export"]


def read_export(document: Any, tag: Format | None = None, *, options: Options = DEFAULTS) -> list[ExportedConversation]:
    """Return the conversations of an export: parsed JSON, or the text of WhatsApp's.

    *tag* is the format of the export; the default is to detect it.

    Raises:
        ValueError: the format is not known, or a field is of a wrong type; names the path.
    """
    form = tag or detect_document(document)
    if form is None or form not in _READERS:
        raise ValueError("document: must be an export of " + ", ".join(_READERS))
    return _READERS[form](document, options)


def _of_conversations(
    read: Callable[[Node, Options], ExportedConversation],
) -> Callable[[Any, Options], list[ExportedConversation]]:
    """Return a reader of one conversation, or of a list of them."""

    def read_document(document: Any, options: Options) -> list[ExportedConversation]:
        if isinstance(document, Mapping):
            return [read(Node(document, "document"), options)]
        return [read(node, options) for node in _nodes(document)]

    return read_document


def _nodes(document: Any) -> list[Node]:
    if not isinstance(document, list):
        raise type_error("document", "a list or an object", document)
    return [Node(item, f"document[{index}]") for index, item in enumerate(document)]


def _read_slack(document: Any, options: Options) -> list[ExportedConversation]:
    return slack.read_threads(_nodes(document), options)


def _read_whatsapp(document: Any, options: Options) -> list[ExportedConversation]:
    if not isinstance(document, str):
        raise type_error("document", "a string", document)
    return [whatsapp.read_document(document, options)]


def _read_agentcore(document: Any, options: Options) -> list[ExportedConversation]:
    """Read the events of a list, or of AgentCore's reply, which has the newest first."""
    events = Node(document, "document").array("events") if isinstance(document, Mapping) else document
    if not isinstance(events, list):
        raise type_error("document", "a list or an object", document)
    return [ExportedConversation(None, None, agentcore.to_contents(agentcore.oldest_first(events), options=options))]


_READERS: Mapping[Format, Callable[[Any, Options], list[ExportedConversation]]] = {
    "chatgpt": _of_conversations(chatgpt.read_conversation),
    "claude": _of_conversations(claude.read_conversation),
    "sharegpt": _of_conversations(sharegpt.read_conversation),
    "slack": _read_slack,
    "whatsapp": _read_whatsapp,
    "agentcore": _read_agentcore,
}

# The formats that `read_export` reads.
EXPORTS: tuple[Format, ...] = tuple(_READERS)
