"""`streambank keys`: API keys of a stack, or of a service on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click
import httpx

from streambank_local.command.connection import Connection, connected, scope_option

_ROLES = ("read", "ingest", "edit", "admin")
_TABLE = click.option("--table", required=True, help="the stack's output TableName")
_REGION = click.option("--region", help="the stack's region; the default is that of your AWS configuration")


@click.group()
def keys() -> None:
    """Make, list and revoke API keys: of a stack with --table and your AWS credentials, else of local mode."""


@keys.command(
    epilog="\b\nExamples:\n  streambank keys create --bank default --role ingest\n"
    "  streambank keys create --table TABLE --bank default --role read --days 90\n",
)
@connected
@scope_option(required=False)
@click.option("--table", help="the stack's output TableName; without it the key is of local mode at --url")
@_REGION
@click.option("--role", type=click.Choice(_ROLES), multiple=True, required=True, help="may be repeated")
@click.option("--all-banks", is_flag=True, help="the key can use all banks, and create new ones")
@click.option("--days", type=click.IntRange(1, 3_650), help="the days after which the key expires; only with --table")
@click.option("--name", help="the name of the key's holder; only with --table")
def create(
    connection: Connection,
    scope: dict[str, str],
    table: str | None,
    region: str | None,
    role: tuple[str, ...],
    all_banks: bool,  # noqa: FBT001
    days: int | None,
    name: str | None,
) -> int:
    """Make a key and print it, once."""
    if table:
        pairs = [option for key, value in scope.items() for option in ("--scope", f"{key}={value}")]
        roles = [option for one in role for option in ("--role", one)]
        bank = ["--all-banks"] if all_banks else ["--bank", connection.bank_id]
        more = [*(["--days", str(days)] if days else []), *(["--name", name] if name else [])]
        return _of_stack(["create", "--table", table, *_region(region), *bank, *roles, *pairs, *more])
    if days or name:
        raise click.UsageError("--days and --name need --table: a key of local mode has neither.")
    body = {"bank": "*" if all_banks else connection.bank_id, "roles": list(role)} | ({"scope": scope} if scope else {})
    key = _local_key(connection, body)
    connection.write({"key": key}, [key])
    return 0


@keys.command("list", epilog="\b\nExample:\n  streambank keys list --table TABLE\n")
@_TABLE
@_REGION
def list_(table: str, region: str | None) -> int:
    """Show every key of a stack, one JSON object a line."""
    return _of_stack(["list", "--table", table, *_region(region)])


@keys.command(epilog="\b\nExample:\n  streambank keys revoke KEY_ID --table TABLE\n")
@_TABLE
@_REGION
@click.argument("key_id")
def revoke(table: str, region: str | None, key_id: str) -> int:
    """Revoke a key of a stack by its id, the part between sb_ and the secret."""
    return _of_stack(["revoke", "--table", table, *_region(region), key_id])


def _region(region: str | None) -> list[str]:
    return ["--region", region] if region else []


def _of_stack(arguments: Sequence[str]) -> int:
    # Imported here: boto3 takes a second, and no other command of the client needs it.
    from streambank_local.command import stack_keys  # noqa: PLC0415

    return stack_keys.main(arguments)


def _local_key(connection: Connection, body: Mapping[str, object]) -> str:
    """Return a new key of local mode. Raises click.ClickException where the service makes none."""
    try:
        reply = httpx.post(f"{connection.url.rstrip('/')}/_local/keys", json=body, timeout=30)
    except httpx.HTTPError as error:
        raise click.ClickException(f"{connection.url} cannot be reached: {type(error).__name__}") from None
    if reply.status_code == httpx.codes.NOT_FOUND:
        raise click.ClickException(
            f"{connection.url} makes no keys: start it with `streambank serve --auth keys`, or name the stack's table"
            " with --table"
        )
    if not reply.is_success:
        raise click.ClickException(str(reply.json().get("error", {}).get("message", reply.status_code)))
    return str(reply.json()["key"])
