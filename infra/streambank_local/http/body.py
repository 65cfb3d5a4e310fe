"""The body of an HTTP request, read within API Gateway's limit."""

from io import BufferedIOBase

# API Gateway's limit for a request's body.
MAXIMUM_BYTES = 10 * 1024 * 1024

# A refused body is read and dropped up to this size, so that the client receives the reply before the connection ends.
DRAINED_BYTES = 64 * 1024 * 1024

_PIECE_BYTES = 64 * 1024


class UnreadableBodyError(Exception):
    """A body that cannot be read, with the HTTP status of the reply."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def read(stream: BufferedIOBase, length: str | None, coding: str | None) -> bytes:
    """Return the whole body, given Content-Length and Transfer-Encoding.

    Raises UnreadableBodyError, after which the connection must be closed: its next request cannot be located.
    """
    if coding is not None:
        return _read_chunked(stream, coding)
    digits = (length or "0").strip()
    if not (digits.isascii() and digits.isdigit()):
        raise UnreadableBodyError(400, "Bad Request")
    return _read_exactly(stream, int(digits))


def _read_exactly(stream: BufferedIOBase, length: int) -> bytes:
    if length > MAXIMUM_BYTES:
        _drop(stream, min(length, DRAINED_BYTES))
        raise UnreadableBodyError(413, "Request Entity Too Large")
    content = stream.read(length)
    if len(content) < length:
        raise UnreadableBodyError(400, "Bad Request")
    return content


def _read_chunked(stream: BufferedIOBase, coding: str) -> bytes:
    if coding.strip().lower() != "chunked":
        raise UnreadableBodyError(501, "Not Implemented")
    content = bytearray()
    while length := _chunk_length(stream):
        content += _read_exactly(stream, length)
        _expect_line_end(stream)
        if len(content) > MAXIMUM_BYTES:
            raise UnreadableBodyError(413, "Request Entity Too Large")
    _skip_trailers(stream)
    return bytes(content)


def _chunk_length(stream: BufferedIOBase) -> int:
    size = stream.readline(1024).partition(b";")[0].strip()
    try:
        length = int(size, 16)
    except ValueError:
        length = -1
    if length < 0:
        raise UnreadableBodyError(400, "Bad Request")
    return length


def _expect_line_end(stream: BufferedIOBase) -> None:
    if stream.readline(3) not in {b"\r\n", b"\n"}:
        raise UnreadableBodyError(400, "Bad Request")


def _skip_trailers(stream: BufferedIOBase) -> None:
    while stream.readline(64 * 1024) not in {b"\r\n", b"\n", b""}:
        pass


def _drop(stream: BufferedIOBase, length: int) -> None:
    while length > 0 and (piece := stream.read(min(length, _PIECE_BYTES))):
        length -= len(piece)
