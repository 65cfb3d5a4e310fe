"""Bodies: nothing is unpacked, nothing that comes back is longer than it may be, nothing is run."""

import ast
import base64
import gzip
import json
import zlib
from pathlib import Path

import pytest

import streambank
from streambank import errors
from streambank.errors import InvalidArgument, PayloadTooLarge
from streambank.wire import http, reader

ROOT = Path(streambank.__file__).parent
FILES = [path for path in sorted(ROOT.rglob("*.py")) if not {"client", "embedded"} & set(path.relative_to(ROOT).parts)]
PACKERS = {"gzip", "zlib", "bz2", "lzma", "zipfile", "tarfile", "brotli", "zstandard", "compression"}
LOADERS = {"pickle", "marshal", "shelve", "dill", "yaml", "xml", "subprocess", "ctypes", "importlib"}
# Who packs and unpacks, and whose bytes these are.
UNPACKS = {
    "store/text.py": "what the service itself packed into the table",
    "store/keys.py": "a checksum that spreads keys over shards",
    "store/due_partitions.py": "a checksum that spreads what is due over partitions",
}
VALID = b'{"scope": {"user_id": "u"}}'


def imported(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_nobody_unpacks_what_callers_send():
    """Only those that are listed with a reason know a way to unpack; a bomb stays as small as it was sent."""
    found = {path.relative_to(ROOT).as_posix() for path in FILES if PACKERS & set(imported(path))}
    assert found == set(UNPACKS)


def test_nobody_runs_what_callers_send():
    """No module of the service knows a format that can hold code or entities, nor evaluates text."""
    assert not {path for path in FILES if LOADERS & set(imported(path))}
    named = {
        node.func.id
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not named & {"eval", "exec", "compile", "__import__"}


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, lambda raw: b"\xef\xbb\xbf" + raw])
def test_a_packed_body_is_no_json(pack):
    """`content-encoding` changes nothing: the bytes are read as they came, as API Gateway hands them over."""
    event = {
        "headers": {"content-encoding": "gzip", "content-type": "application/json"},
        "body": base64.b64encode(pack(VALID)).decode(),
        "isBase64Encoded": True,
    }
    with pytest.raises(InvalidArgument, match="not valid JSON in UTF-8"):
        http.body(event)
    assert http.body({**event, "body": base64.b64encode(VALID).decode()}) == json.loads(VALID)


def test_a_bomb_is_as_large_as_it_was_sent():
    """A kilobyte that would become a gigabyte is a kilobyte that is no JSON."""
    bomb = gzip.compress(b" " * 50_000_000 + VALID)
    with pytest.raises(InvalidArgument) as refusal:
        reader.json_body(base64.b64encode(bomb).decode(), is_base64=True)
    assert not isinstance(refusal.value, PayloadTooLarge)


LONG = "x" * 3_900_000


@pytest.mark.parametrize(
    "error",
    [
        errors.InvalidArgument(LONG, "unknown field"),
        errors.InvalidArgument("field", LONG),
        errors.InvalidArgument("\ud800" * 100_000, "unknown field"),
        errors.NotFound(LONG),
        errors.FailedPrecondition(LONG),
    ],
)
def test_a_refusal_is_short_whatever_it_names(error):
    """A field's name as long as a body does not make a reply that Lambda could not send."""
    reply = http.error_response(error)
    assert len(json.dumps(reply)) < 20_000
    assert json.loads(reply["body"])["error"]["code"] == reply["statusCode"]
