"""Objects of the one bucket that the stack owns."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import ClientError

from streambank.errors import InvalidArgument, OutOfReach
from streambank.store import failures

_THROTTLES = {"SlowDown", "RequestTimeout", "RequestTimeTooSkewed"}
_MISSING = {"NoSuchKey", "404"}


class Objects:
    """Writes and reads whole objects, which are small; *client* is boto3's S3 client. Nothing is ever listed."""

    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self.bucket = bucket

    def put(self, key: str, data: bytes) -> None:
        """Write an object, over one that has the key. Raises OutOfReach."""
        kind = "application/json" if key.endswith(".json") else "application/x-ndjson"
        self._call("put_object", Key=key, Body=data, ContentType=kind)

    def get(self, key: str, *, most_bytes: int) -> bytes | None:
        """Return an object, or None if there is none.

        Raises:
            InvalidArgument: it is larger than *most_bytes*.
            OutOfReach: the bucket did not answer.
        """
        try:
            reply = self._call("get_object", Key=key)
        except ClientError as error:
            if error.response["Error"]["Code"] in _MISSING:
                return None
            raise
        if reply["ContentLength"] > most_bytes:
            reply["Body"].close()
            raise InvalidArgument("source", f"an object has {reply['ContentLength']} bytes; the limit is {most_bytes}")
        data: bytes = reply["Body"].read()
        return data

    def _call(self, operation: str, **parameters: Any) -> Any:
        try:
            return getattr(self._client, operation)(Bucket=self.bucket, **parameters)
        except ClientError as error:
            if error.response["Error"]["Code"] in _THROTTLES:
                raise OutOfReach(error.response["Error"]["Code"]) from error
            raise failures.translated(error) from error
        except Exception as error:
            raise failures.translated(error) from error
