"""`streambank ingest`: a file of messages, in any format that the client library reads."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from streambank_client import Bank
from streambank_client.formats import FORMATS, Format
from streambank_client.http.batching import batches
from streambank_client.types import Event
from streambank_local.command.connection import Connection, connected, scope_option
from streambank_local.command.message_file import Conversation, read_conversations

MAX_CALL_BYTES = 3_000_000


@dataclass
class _Report:
    """What the service said of the events, and what the reader left out."""

    accepted: int = 0
    duplicates: int = 0
    conflicts: list[str] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    last_operation: Any = None

    def document(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "acceptedEvents": self.accepted,
            "duplicateEvents": self.duplicates,
            "conflictingEventIds": self.conflicts,
            "dropped": dict(self.dropped),
            "operation": self.last_operation.name if self.last_operation else None,
        }

    def lines(self) -> list[str]:
        """Return the report for a person."""
        lines = [f"{self.accepted:>8,}  events accepted", f"{self.duplicates:>8,}  were stored before"]
        if self.conflicts:
            lines.append(f"{len(self.conflicts):>8,}  have an id that is stored with another content; that stays")
        lines += [f"{count:>8,}  left out: {reason}" for reason, count in sorted(self.dropped.items())]
        return lines


@click.command(
    epilog="\b\nExamples:\n  streambank ingest conversations.json --scope user_id=ada\n"
    "  streambank ingest chat.txt --user Ada --scope user_id=ada --wait\n",
)
@connected
@scope_option()
@click.option("--stream", help="one stream for all; the default is a stream for each conversation of the file")
@click.option("--format", "tag", type=click.Choice(list(FORMATS)), help="of the messages; the default is to detect it")
@click.option("--user", default="", help="the user's name in an export of several people")
@click.option("--window", type=click.IntRange(1, 1_000), default=50, show_default=True, help="events of a generation")
@click.option("--wait", is_flag=True, help="wait until the memories are made")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def ingest(
    connection: Connection,
    scope: dict[str, str],
    stream: str | None,
    tag: Format | None,
    user: str,
    window: int,
    wait: bool,  # noqa: FBT001
    file: Path,
) -> int:
    """Send the messages of a file; the same file may be sent again, because each message has an id."""
    conversations, report, bank = read_conversations(file, tag, user), _Report(), connection.bank()
    total = sum(len(one.events) for one in conversations)
    with click.progressbar(length=total, label="Sending", file=sys.stderr) as bar:
        for one in conversations:
            report.dropped.update(one.dropped)
            _send(bank, scope, stream or one.stream, one, window, report, bar)
    if wait and report.last_operation:
        report.last_operation.wait(timeout_seconds=600)
    connection.write(report.document(), report.lines())
    return 1 if report.conflicts else 0


def _send(
    bank: Bank, scope: dict[str, str], stream: str, conversation: Conversation, window: int, report: _Report, bar: Any
) -> None:
    """Send a conversation, a window in each call: its memories are made at once, and the stream's rule stays."""
    pieces = batches(conversation.events, _size, most_events=window, most_bytes=MAX_CALL_BYTES)
    for piece in pieces:
        operation = bank.ingest_events(scope=scope, stream_id=stream, events=piece, force_flush=True)
        report.accepted += operation.metadata.accepted_events or 0
        report.duplicates += operation.metadata.duplicate_events or 0
        report.conflicts += operation.metadata.conflicting_event_ids
        report.last_operation = operation
        bar.update(len(piece))


def _size(event: Event) -> int:
    return len(event.model_dump_json(by_alias=True, exclude_none=True).encode())
