"""API keys of a deployed stack: `python -m infra.keys create|list|revoke --table TABLE`."""

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
    """Do what *arguments* ask for with the ambient AWS credentials, and return the exit status."""
    asked = _parser().parse_args(arguments)
    try:
        table = Table(boto3.client("dynamodb"), asked.table, RetryPolicy(time.sleep, random.random))
        asked.do(ApiKeys(table), asked, datetime.now(UTC))
    except (BotoCoreError, ClientError, StreambankError) as error:
        print("keys: " + " ".join(str(error).split()), file=sys.stderr)
        return 1
    return 0


def _create(keys: ApiKeys, asked: argparse.Namespace, now: datetime) -> None:
    banks = (EVERY_BANK,) if asked.all_banks else tuple(dict.fromkeys(asked.bank))
    bound = _bound(asked.scope)
    token = Token.from_random_bytes(secrets.token_bytes(ID_BYTES + SECRET_BYTES))
    principal = Principal(asked.name or token.key_id, banks, frozenset(asked.role), bound)
    expires = now + timedelta(days=asked.days) if asked.days else None
    keys.create(ApiKey(token.key_id, token.digest, principal, now, expires))
    print(token.reveal())
    print("This is shown once. Whoever has it may do what it allows.", file=sys.stderr)


def _bound(pairs: Sequence[tuple[str, str]] | None) -> dict[str, str] | None:
    """Return what binds a key; it obeys the rules of scopes."""
    if not pairs:
        return None
    if len(dict(pairs)) < len(pairs):
        raise InvalidArgument("scope", "names a key twice")
    return scope(dict(pairs), "scope")


def _list(keys: ApiKeys, _: argparse.Namespace, now: datetime) -> None:
    for key in keys.list():
        print(json.dumps(_shown(key, now), ensure_ascii=False))


def _shown(key: ApiKey, now: datetime) -> dict[str, object]:
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


def _revoke(keys: ApiKeys, asked: argparse.Namespace, now: datetime) -> None:
    keys.revoke(asked.id, now=now)
    print(f"{asked.id} is revoked; functions that know it forget it within a minute")


# ---- arguments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m infra.keys", description="Make, list and revoke API keys.")
    commands = parser.add_subparsers(required=True, metavar="create|list|revoke")
    _add_create(commands.add_parser("create", help="make a key and print it, once"))
    listing = commands.add_parser("list", help="show every key, one JSON object a line")
    listing.set_defaults(do=_list)
    revoking = commands.add_parser("revoke", help="let a key open nothing any more")
    revoking.add_argument("id", type=_key_id, help="the part between sb_ and the secret")
    revoking.set_defaults(do=_revoke)
    for command in commands.choices.values():
        command.add_argument("--table", required=True, help="the stack's output TableName")
    return parser


def _add_create(creating: argparse.ArgumentParser) -> None:
    banks = creating.add_mutually_exclusive_group(required=True)
    banks.add_argument("--bank", action="append", type=_bank, help="a bank that the key opens; may be repeated")
    banks.add_argument("--all-banks", action="store_true", help="the key opens every bank, and may make new ones")
    roles = ", ".join(Role)
    creating.add_argument("--role", action="append", required=True, type=Role, help=f"{roles}; may be repeated")
    creating.add_argument("--scope", action="append", type=_pair, metavar="KEY=VALUE", help="binds the key to scopes")
    creating.add_argument("--days", type=_days, help="after so many days the key opens nothing")
    creating.add_argument("--name", help="who or what holds the key")
    creating.set_defaults(do=_create)


def _bank(text: str) -> str:
    if not BANK_ID.fullmatch(text):
        raise argparse.ArgumentTypeError("a bank's id is 1 to 36 of A-Z, a-z, 0-9, '.', '_' and '-'")
    return text


def _key_id(text: str) -> str:
    """Take an id only: what else is pasted here might be a whole key, and must not be repeated in a message."""
    if not KEY_ID.fullmatch(text):
        raise argparse.ArgumentTypeError("this is no key's id, which is the part between sb_ and the secret")
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


if __name__ == "__main__":
    sys.exit(main())
