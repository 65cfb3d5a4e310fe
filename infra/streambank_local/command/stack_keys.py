"""API keys of a deployed stack: `streambank keys create|list|revoke --table TABLE`."""

import argparse
import json
import random
import secrets
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from streambank.errors import InvalidArgument, StreambankError
from streambank.model.api_key import ID_BYTES, KEY_ID, SECRET_BYTES, ApiKey, Token
from streambank.model.ids import BANK_ID
from streambank.model.principal import EVERY_BANK, Principal, Role
from streambank.retry import RetryPolicy
from streambank.store.api_keys import ApiKeys
from streambank.store.table import Table
from streambank.wire.ingest import scope

LONGEST_DAYS = 3_650


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command of *arguments* with the ambient AWS credentials, and return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        table = Table(
            boto3.client("dynamodb", region_name=options.region), options.table, RetryPolicy(time.sleep, random.random)
        )
        options.run(ApiKeys(table), options, datetime.now(UTC))
    except (BotoCoreError, ClientError, StreambankError) as error:
        print("keys: " + " ".join(str(error).split()), file=sys.stderr)
        return 1
    return 0


def _create(keys: ApiKeys, options: argparse.Namespace, now: datetime) -> None:
    banks = (EVERY_BANK,) if options.all_banks else tuple(dict.fromkeys(options.bank))
    bound = _bound_scope(options.scope)
    token = Token.from_random_bytes(secrets.token_bytes(ID_BYTES + SECRET_BYTES))
    principal = Principal(options.name or token.key_id, banks, frozenset(options.role), bound)
    expires = now + timedelta(days=options.days) if options.days else None
    keys.create(ApiKey(token.key_id, token.digest, principal, now, expires))
    print(token.reveal())
    print("The key is printed only once. Whoever has it can use it.", file=sys.stderr)


def _bound_scope(pairs: Sequence[tuple[str, str]] | None) -> dict[str, str] | None:
    """Return the scope that binds a key, checked like every scope, or None."""
    if not pairs:
        return None
    if len(dict(pairs)) < len(pairs):
        raise InvalidArgument("scope", "names a key twice")
    return scope(dict(pairs), "scope")


def _list(keys: ApiKeys, _: argparse.Namespace, now: datetime) -> None:
    for key in keys.list():
        print(json.dumps(_description(key, now), ensure_ascii=False))


def _description(key: ApiKey, now: datetime) -> dict[str, object]:
    return {
        "id": key.id,
        "name": key.principal.name,
        "state": "live" if key.is_live(now) else "revoked" if key.revoked else "expired",
        "banks": list(key.principal.banks),
        "roles": sorted(key.principal.roles),
        "scope": key.principal.scope,
        "created": key.created.isoformat(timespec="seconds"),
        "expires": key.expires.isoformat(timespec="seconds") if key.expires else None,
    }


def _revoke(keys: ApiKeys, options: argparse.Namespace, now: datetime) -> None:
    keys.revoke(options.id, now=now)
    print(f"{options.id} is revoked; functions that have cached it refuse it within a minute")


# ---- arguments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="streambank keys", description="Make, list and revoke API keys.")
    commands = parser.add_subparsers(required=True, metavar="create|list|revoke")
    _add_create(commands.add_parser("create", help="make a key and print it, once"))
    list_parser = commands.add_parser("list", help="show every key, one JSON object a line")
    list_parser.set_defaults(run=_list)
    revoke_parser = commands.add_parser("revoke", help="revoke a key")
    revoke_parser.add_argument("id", type=_key_id, help="the part between sb_ and the secret")
    revoke_parser.set_defaults(run=_revoke)
    for command in commands.choices.values():
        command.add_argument("--table", required=True, help="the stack's output TableName")
        command.add_argument("--region", help="the stack's region, by default that of your AWS configuration")
    return parser


def _add_create(parser: argparse.ArgumentParser) -> None:
    banks = parser.add_mutually_exclusive_group(required=True)
    banks.add_argument("--bank", action="append", type=_bank, help="a bank that the key can use; may be repeated")
    banks.add_argument("--all-banks", action="store_true", help="the key can use all banks, and create new ones")
    roles = ", ".join(Role)
    parser.add_argument("--role", action="append", required=True, type=Role, help=f"{roles}; may be repeated")
    parser.add_argument("--scope", action="append", type=_pair, metavar="KEY=VALUE", help="binds the key to scopes")
    parser.add_argument("--days", type=_days, help="the days after which the key expires")
    parser.add_argument("--name", help="the name of the key's holder")
    parser.set_defaults(run=_create)


def _bank(text: str) -> str:
    if not BANK_ID.fullmatch(text):
        raise argparse.ArgumentTypeError("a bank's id is 1 to 36 of A-Z, a-z, 0-9, '.', '_' and '-'")
    return text


def _key_id(text: str) -> str:
    """Return the id; other text may be a whole key, so no message repeats it."""
    if not KEY_ID.fullmatch(text):
        raise argparse.ArgumentTypeError("this is no id of a key; an id is the part between sb_ and the secret")
    return text


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name and separator and value):
        raise argparse.ArgumentTypeError("must be KEY=VALUE")
    return name, value


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= LONGEST_DAYS):
        raise argparse.ArgumentTypeError(f"must be a number from 1 to {LONGEST_DAYS}")
    return int(text)
