"""`streambank policy` and `streambank consent`."""

from __future__ import annotations

import click

from streambank_client import types
from streambank_local.command.connection import Connection, connected, scope_option


@click.command(epilog="\b\nExample:\n  streambank policy --bank default --apply\n")
@connected
@click.option("--apply", "applies", is_flag=True, help="apply it to what the bank holds already")
@click.option("--wait-seconds", type=float, default=1_200.0, show_default=True, help="how long to wait for the end")
def policy(connection: Connection, applies: bool, wait_seconds: float) -> None:  # noqa: FBT001
    """Show the content policy of a bank, or apply it to what is stored; a repeat is safe."""
    bank = connection.bank()
    if applies:
        done = bank.apply_content_policy().result(timeout_seconds=wait_seconds)
        connection.write(done.document(), [f"{done.changed:>8,}  changed", f"{done.kept:>8,}  kept"])
        return
    context = bank.get().context_spec
    config = context.memory_bank_config if context else None
    answer = (config.content_policy if config else None) or types.ContentPolicy()
    lines = [
        f"{rule.action:<7} {rule.name or rule.detector or ''}  {rule.pattern or ''}".rstrip() for rule in answer.rules
    ]
    connection.write(answer.document(), lines or ["The bank has no content policy."])


@click.command(epilog="\b\nExample:\n  streambank consent --scope user_id=ada --learning disabled\n")
@connected
@scope_option()
@click.option(
    "--learning",
    type=click.Choice(["enabled", "disabled"], case_sensitive=False),
    help="set it; by default it is shown",
)
def consent(connection: Connection, scope: dict[str, str], learning: str | None) -> None:
    """Show or set whether anything is learnt about a scope."""
    bank = connection.bank()
    answer = bank.update_consent(scope=scope, learning=learning.upper()) if learning else bank.get_consent(scope=scope)
    since = f" since {answer.update_time.isoformat()}" if answer.update_time else ""
    connection.write(answer.document(), [f"{answer.learning}{since}"])
