"""The bucket of exports on the disk: loaded at the start, and each object written before its reply."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from moto.s3.exceptions import S3ClientError
from moto.s3.models import S3Backend, s3_backends

from streambank_local.disk.record import Kind, Record
from streambank_local.disk.store import NotKeptError, Store
from streambank_local.emulator.stack import ACCOUNT, Stack

_PARTITION = "aws"


class ObjectNotKeptError(S3ClientError):
    """The reply to a request whose object is not on the disk, with a code of S3's for `later`."""

    def __init__(self, message: str) -> None:
        super().__init__("SlowDown", message)


def load(store: Store, stack: Stack, now: datetime) -> None:
    """Put the stored objects into their buckets, and remove those that the bucket's lifecycle has expired.

    Raises:
        NotKeptError: the store cannot be written.
    """
    backend = s3_backends[ACCOUNT][_PARTITION]
    expired = []
    for record in store.read(Kind.OBJECT):
        header, _, data = (record.content or b"").partition(b"\n")
        kept_for = stack.object_lifetimes.get(record.first)
        written = datetime.fromisoformat(json.loads(header)["written"])
        if kept_for and written + kept_for < now:
            expired.append(Record(record.kind, record.first, record.second, None))
        elif record.first in backend.buckets:
            backend.put_object(record.first, record.second, data)
    if expired:
        store.write(expired)


@contextmanager
def kept_in(store: Store, now: Callable[[], datetime]) -> Iterator[None]:
    """Write each new object to *store* first."""
    original = S3Backend.put_object

    def put_object(backend: S3Backend, bucket_name: str, key_name: str, value: bytes, *rest: Any, **named: Any) -> Any:
        header = json.dumps({"written": now().isoformat()}).encode()
        try:
            store.write([Record(Kind.OBJECT, bucket_name, key_name, header + b"\n" + value)])
        except NotKeptError as error:
            raise ObjectNotKeptError(str(error)) from error
        return original(backend, bucket_name, key_name, value, *rest, **named)

    setattr(S3Backend, "put_object", put_object)  # noqa: B010  its type differs
    try:
        yield
    finally:
        setattr(S3Backend, "put_object", original)  # noqa: B010
