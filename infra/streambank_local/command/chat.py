"""`streambank chat`: talk, and watch windows close and memories come."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import click

from streambank_client import Bank, Event, GenerationRule
from streambank_client.errors import DeadlineExceeded, OperationFailed
from streambank_local.command.connection import Connection, connected, scope_option

_HELP = "/memories lists what is remembered, /flush closes the window now, /quit ends. Everything else is said."


@click.command(epilog="\b\nExample:\n  streambank chat --scope user_id=ada\n")
@connected
@scope_option()
@click.option("--stream", default="chat", show_default=True, help="the conversation")
@click.option("--every", type=click.IntRange(1, 10_000), default=3, show_default=True, help="messages of a window")
@click.option("--wait-seconds", type=float, default=60.0, show_default=True, help="how long to wait for memories")
def chat(connection: Connection, scope: dict[str, str], stream: str, every: int, wait_seconds: float) -> None:
    """Say something, line by line; after --every messages the window closes and memories are made."""
    conversation = _Conversation(connection, connection.bank(), scope, stream, every, wait_seconds)
    if sys.stdin.isatty():
        connection.note(_HELP)
    for line in _lines():
        if line == "/quit":
            break
        conversation.take(line)
    if connection.is_json:
        connection.write(conversation.document(), [])


def _lines() -> Iterator[str]:
    """Yield what is typed, without blank lines."""
    prompt = "> " if sys.stdin.isatty() else ""
    while True:
        try:
            line = input(prompt).strip()
        except EOFError:
            return
        if line:
            yield line


class _Conversation:
    """A conversation, and what the service made of it."""

    def __init__(
        self, connection: Connection, bank: Bank, scope: dict[str, str], stream: str, every: int, wait_seconds: float
    ) -> None:
        self._connection, self._bank, self._scope, self._stream = connection, bank, scope, stream
        self._rule = GenerationRule(event_count=every)
        self._wait_seconds = wait_seconds
        self._verdicts: list[Any] = []

    def take(self, line: str) -> None:
        """Do what a line asks for, or send it as a message of the user."""
        if line == "/memories":
            for one in self._bank.retrieve_all_memories(scope=self._scope):
                self._tell(f"  {one.memory.fact}")
        elif line == "/flush":
            self._watch(self._bank.ingest_events(scope=self._scope, stream_id=self._stream, force_flush=True))
        elif line.startswith("/"):
            self._connection.note(_HELP)
        else:
            self._say(line)

    def document(self) -> dict[str, Any]:
        """Return the verdicts of all windows that were closed."""
        return {"verdicts": self._verdicts}

    def _say(self, text: str) -> None:
        operation = self._bank.ingest_events(
            scope=self._scope,
            stream_id=self._stream,
            events=[Event.from_text(text, event_id=str(uuid4()))],
            generation_rule=self._rule,
        )
        pending, every = operation.metadata.pending_events or 0, self._rule.event_count
        if operation.metadata.state == "BUFFERING" and pending < (every or 1):
            self._tell(f"  window {operation.metadata.window}: {pending} of {every} messages")
        else:
            self._watch(operation)

    def _watch(self, operation: Any) -> None:
        """Wait for the memories of a window, and tell what became of each fact."""
        if not operation.metadata.window:
            self._tell("  nothing waits")
            return
        self._tell(f"  window {operation.metadata.window} is closed, memories are being made ...")
        try:
            done = operation.wait(timeout_seconds=self._wait_seconds)
            generation = done.metadata.generate_memories_operation
            response = self._bank.get_operation(operation=generation).response or {} if generation else {}
        except DeadlineExceeded:
            self._tell("  not yet; /memories shows them when they are made")
            return
        except OperationFailed as error:
            self._tell(f"  {error.message}")
            return
        self._tell_verdicts(response)

    def _tell_verdicts(self, response: dict[str, Any]) -> None:
        verdicts = response.get("verdicts") or []
        self._verdicts += verdicts
        for one in verdicts:
            reason = f" ({one['reason']})" if one.get("reason") else ""
            self._tell(f"  {one['verdict'].lower():9}  {one['fact']}{reason}")
        if not verdicts:
            self._tell("  no lasting fact was in it")

    def _tell(self, text: str) -> None:
        if self._connection.is_json:
            self._connection.note(text)
        else:
            print(text, flush=True)
