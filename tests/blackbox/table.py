"""The table as raw text: what is erased is nowhere in it."""

from __future__ import annotations

import gzip
import zlib
from typing import Any

import boto3

from tests.blackbox.books import Bank
from tests.blackbox.words import words_in


def words_in_table() -> dict[str, str]:
    """Return the marker words of all tables of the emulator, each with the key of an item that holds it."""
    client = boto3.client("dynamodb", region_name="us-east-1")
    words: dict[str, str] = {}
    for name in client.list_tables()["TableNames"]:
        for page in client.get_paginator("scan").paginate(TableName=name):
            for item in page["Items"]:
                text = _text(item)
                words.update(dict.fromkeys(words_in(text), text[:120]))
    return words


def check_table(banks: list[Bank], made: set[str]) -> None:
    """Of the words of a history, the table holds those of accepted and unerased data, and no others."""
    stored = {word: place for word, place in words_in_table().items() if word in made}
    allowed = {word for bank in banks for word in bank.words}
    strange = {word: place for word, place in stored.items() if word not in allowed}
    assert not strange, f"the table holds what was erased or refused: {strange}"
    events = [event for bank in banks for stream in bank.streams.values() for event in stream.events]
    lost = {word for event in events for word in words_in(event.text or "")} - set(stored)
    assert not lost, f"the table does not hold accepted events: {lost}"


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key} {_text(item)}" for key, item in value.items())
    if isinstance(value, list):
        return " ".join(map(_text, value))
    return _unpacked(value) if isinstance(value, bytes) else str(value)


def _unpacked(value: bytes) -> str:
    """Return what *value* may mean as text: as it stands, and as each usual compression reads it from either start."""
    texts = [value]
    for start in (0, 1):
        for unpack in (zlib.decompress, gzip.decompress, lambda data: zlib.decompress(data, -15)):
            try:
                texts.append(unpack(value[start:]))
            except (OSError, EOFError, zlib.error):
                continue
    return " ".join(text.decode("utf-8", "replace") for text in texts)
