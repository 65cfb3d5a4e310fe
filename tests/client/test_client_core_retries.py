"""How a call is carried out: repeats, pauses, deadlines, hooks, secrets."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank_client import AsyncStreambank, Event, Hooks, Streambank, __version__, errors
from streambank_client.http.connections import MAX_REPLY_BYTES
from tests.client import samples
from tests.client.answering import URL, operation, refused, reply, script

SCOPE = samples.SCOPE
FOUND = reply({"retrievedMemories": []})
LOST = httpx.ReadError("lost")
# What must not be done twice: there would be two, or the repeat would be refused for what the first has done.
ONCE = {"create_bank", "create_session", "append_event", "redrive_operation"}
ALL = {**samples.BANK, **samples.CLIENT}


def begin(client: Streambank, method: str) -> Any:
    owner = client if method in samples.CLIENT else client.bank()
    made = getattr(owner, method)(**ALL[method][0])
    return list(made) if isinstance(made, Iterator) else made


@pytest.mark.parametrize("method", sorted(ALL))
@pytest.mark.parametrize(
    "failure", [LOST, refused(500, "INTERNAL"), refused(502, ""), refused(503, ""), refused(504, "")]
)
def test_unknown_outcome_is_repeated_where_that_is_safe(method: str, failure: Any) -> None:
    """A call whose outcome nobody knows is sent again, unless doing it twice would be something else."""
    seam = script(failure, refused(404, "NOT_FOUND"))
    with pytest.raises(errors.StreambankError) if "delete" not in method else _anything():
        begin(seam.client(), method)
    assert len(seam.asked) == (1 if method in ONCE else 2)


@contextmanager
def _anything() -> Iterator[None]:
    try:
        yield
    except errors.NotFound:
        return


@pytest.mark.parametrize("method", sorted(ALL))
@pytest.mark.parametrize(
    "failure", [httpx.ConnectError("no"), httpx.ConnectTimeout("no"), refused(429, "RESOURCE_EXHAUSTED")]
)
def test_what_was_not_carried_out_is_always_repeated(method: str, failure: Any) -> None:
    """A request that never left, or that was turned away for its rate, is sent again whatever it is."""
    seam = script(failure, refused(404, "NOT_FOUND"))
    with pytest.raises(errors.NotFound):
        begin(seam.client(), method)
    assert len(seam.asked) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412, 413, 501])
def test_decided_refusal_is_not_repeated(status: int) -> None:
    """What the service has decided it will decide again."""
    seam = script(refused(status, ""))
    with pytest.raises(errors.StreambankError):
        seam.client().bank().get()
    assert len(seam.asked) == 1


@pytest.mark.parametrize("kind", [httpx.LocalProtocolError, httpx.DecodingError])
def test_fault_of_the_exchange_itself_is_not_repeated(kind: type[Exception]) -> None:
    """What the protocol makes impossible is the same at every attempt."""
    seam = script(kind("no"))
    with pytest.raises((errors.ConnectionLost, errors.UnexpectedReply)):
        seam.client().bank().get()
    assert len(seam.asked) == 1


def test_repeat_is_the_same_request() -> None:
    """Ids and the idempotency key are made once, so that the service recognises what comes again."""
    seam = script(LOST, refused(503, ""), reply(operation()))
    seam.client().bank().ingest_events(scope=SCOPE, events=[Event.from_text("I like tea.")] * 2)
    first, *others = seam.bodies()
    assert others == [first, first]
    ids = [event["eventId"] for event in first["directContentsSource"]["events"]]
    assert len(set(ids)) == 2
    seam = script(LOST, reply(operation()))
    seam.client().bank().generate_memories(scope=SCOPE, direct_memories=["Likes tea."])
    assert len({request.headers["x-idempotency-key"] for request in seam.asked}) == 1


def test_deletion_that_finds_nothing_after_a_lost_reply_has_happened() -> None:
    """A deletion whose reply was lost is done when its repeat finds nothing; a first one that finds nothing is not."""
    seam = script(LOST, refused(404, "NOT_FOUND"))
    deleted = seam.client().bank().delete_memory(memory="m")
    assert deleted.done
    assert deleted.result().document() == {}
    for failure in (httpx.ConnectError("no"), refused(429, "")):
        with pytest.raises(errors.NotFound):
            script(failure, refused(404, "NOT_FOUND")).client().bank().delete_memory(memory="m")


def test_store_under_an_etag_does_not_meet_its_own_version() -> None:
    """A conditional store or deletion is repeated only where its own success would not refuse the repeat."""
    for condition, attempts in (({}, 2), ({"if_match": "*"}, 2), ({"if_match": '"7"'}, 1), ({"if_none_match": "*"}, 1)):
        seam = script(LOST, reply({"conversationId": "c", "etag": '"8"'}))
        bank = seam.client().bank()
        if attempts == 1:
            with pytest.raises(errors.ConnectionLost):
                bank.store_chat_history(conversation_id="c", messages=[], **condition)
        else:
            assert bank.store_chat_history(conversation_id="c", messages=[], **condition).etag == '"8"'
        assert len(seam.asked) == attempts


def test_append_is_repeated_under_one_key() -> None:
    """An append whose reply was lost is sent again with the same key, also under a condition."""
    for condition in ({}, {"if_match": '"7"'}, {"idempotency_key": "k"}):
        seam = script(LOST, reply({"conversationId": "c", "etag": '"8"', "messageCount": 2}))
        appended = seam.client().bank().append_chat_history(conversation_id="c", messages=[{"n": 1}], **condition)
        assert (appended.etag, appended.message_count) == ('"8"', 2)
        sent_keys = {request.headers["x-idempotency-key"] for request in seam.asked}
        assert (len(seam.asked), len(sent_keys)) == (2, 1)


def test_lost_connection_says_whether_it_may_have_happened() -> None:
    """Whoever must decide what to do next is told whether the request may have been carried out."""
    for failure, is_unknown in ((LOST, True), (httpx.ConnectError("no"), False)):
        with pytest.raises(errors.ConnectionLost) as lost:
            script(failure).client(retries=0).bank().get()
        assert lost.value.outcome_is_unknown is is_unknown
        assert lost.value.__cause__ is failure


# ---- pauses


def test_pauses_double_and_are_bounded() -> None:
    """Without a word of the service's, the longest pauses are a quarter of a second, doubling up to eight seconds."""
    seam = script(LOST)
    with pytest.raises(errors.ConnectionLost):
        seam.client(retries=8, timeout_seconds=600).bank().get()
    assert seam.clock.slept == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]


@given(jitter=st.lists(st.floats(0, 1, allow_subnormal=False), min_size=5, max_size=5))
def test_jitter_is_full(jitter: list[float]) -> None:
    """Each pause is the drawn share of its longest, so that callers who failed together do not return together."""
    seam, drawn = script(LOST), iter(jitter)
    with pytest.raises(errors.ConnectionLost):
        seam.client(retries=5, jitter=lambda: next(drawn, 0.0)).bank().get()
    assert seam.clock.slept == [share * 0.25 * 2**n for n, share in enumerate(jitter)]


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7),
        ({"retry_after": "Thu, 01 Jan 2026 00:00:09 GMT", "date": "Thu, 01 Jan 2026 00:00:00 GMT"}, 9),
        ({"retry_after": "Thu, 01 Jan 2026 00:00:00 GMT", "date": "Thu, 01 Jan 2026 00:00:09 GMT"}, 0),
        ({"retry_after": "Thu, 01 Jan 2026 00:00:00 GMT"}, 0),
        ({"retry_after": "soon"}, 0),
        ({}, 0),
    ],
)
def test_retry_after_is_heeded(status: int, headers: dict[str, str], seconds: int) -> None:
    """No repeat comes before the service asks for it, in seconds or as a time beside its own; nonsense asks nothing."""
    seam = script(refused(status, "", **headers), FOUND)
    seam.client(jitter=lambda: 0.5).bank().retrieve_memories(scope=SCOPE)
    assert seam.clock.slept == [seconds + 0.125]


def test_retry_after_beyond_the_deadline_is_not_waited_for() -> None:
    """Where the service asks for more time than there is, the caller is told at once, and how long."""
    seam = script(refused(429, "RESOURCE_EXHAUSTED", retry_after="100"))
    with pytest.raises(errors.RateLimited) as limited:
        seam.client().bank().get()
    assert limited.value.retry_after_seconds == 100
    assert (seam.clock.slept, len(seam.asked)) == ([], 1)


# ---- deadlines


def test_deadline_is_over_all_attempts() -> None:
    """A call that keeps failing ends by its deadline, with what the service said last."""
    seam = script(refused(503, "UNAVAILABLE", "busy", retry_after="3"))
    with pytest.raises(errors.Unavailable, match="busy"):
        seam.client(timeout_seconds=10, retries=100, jitter=lambda: 0.0).bank().get()
    assert seam.clock.time <= 1_010
    assert len(seam.asked) == 4


def test_attempt_has_no_more_time_than_is_left() -> None:
    """Connecting, writing and reading have the attempt's time, or what is left of the call's, if that is less."""
    seam = script(FOUND)
    seam.answers[0:0] = [seam.taking(25, LOST), seam.taking(25, LOST)]
    seam.client(jitter=lambda: 0.0).bank().retrieve_memories(scope=SCOPE)
    timeouts = [request.extensions["timeout"] for request in seam.asked]
    assert [timeout["read"] for timeout in timeouts] == [30, 30, 10]
    assert {timeout["connect"] for timeout in timeouts} == {5}


def test_late_reply_is_a_deadline_exceeded() -> None:
    """An attempt that uses up the call's time is told as that, not as a lost connection."""
    seam = script(FOUND)
    seam.answers[:] = [seam.taking(10, httpx.ReadTimeout("late"))]
    with pytest.raises(errors.DeadlineExceeded):
        seam.client(timeout_seconds=10).bank().get()


class Trickle(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body of which each byte takes a second."""

    def __init__(self, clock: Any, body: bytes) -> None:
        self.clock, self.body = clock, body

    def __iter__(self) -> Iterator[bytes]:
        for byte in self.body:
            self.clock.time += 1
            yield bytes([byte])

    async def __aiter__(self) -> Any:
        for chunk in iter(self):
            yield chunk


def test_trickling_reply_cannot_outlast_its_attempt() -> None:
    """A reply that keeps coming a little at a time, so that no read ever times out, is cut off at the deadline."""
    seam = script(FOUND)
    seam.answers[:] = [lambda _: httpx.Response(200, stream=Trickle(seam.clock, b" " * 1_000))]
    with pytest.raises(errors.DeadlineExceeded):
        seam.client(timeout_seconds=20, retries=0).bank().get()
    assert seam.clock.time <= 1_021
    with pytest.raises(errors.DeadlineExceeded):
        asyncio.run(seam.async_client(timeout_seconds=20, retries=0).bank().get())


def test_options_of_one_call() -> None:
    """with_options changes the limits of what is called on its bank, and of nothing else."""
    seam = script(LOST)
    bank = seam.client().bank()
    with pytest.raises(errors.ConnectionLost):
        bank.with_options(retries=1, timeout_seconds=2).get()
    assert (len(seam.asked), seam.asked[0].extensions["timeout"]["read"]) == (2, 2)
    with pytest.raises(errors.ConnectionLost):
        bank.get()
    assert len(seam.asked) == 2 + 5


@pytest.mark.parametrize(
    "wrong", [{"timeout_seconds": 0}, {"timeout_seconds": float("nan")}, {"attempt_seconds": -1}, {"retries": -1}]
)
def test_limits_that_allow_nothing_are_refused(wrong: dict[str, Any]) -> None:
    """Limits under which no call could be made are told when they are set."""
    with pytest.raises(ValueError):
        Streambank(URL, **wrong)
    with pytest.raises(ValueError), Streambank(URL) as client:
        client.bank().with_options(**wrong)


def test_names_that_are_none_are_refused() -> None:
    """A setting or an argument of no such name is a TypeError, as it is of any function."""
    client = script(FOUND).client()
    bank = client.bank()
    for call in (
        lambda: Streambank(URL, retires=3),
        lambda: AsyncStreambank(URL, retires=3),
        lambda: bank.with_options(retires=3),
        lambda: bank.ingest_events(scope=SCOPE, revision_lables={}),
        lambda: bank.create_memory(scope=SCOPE, fact="x", tll="1s"),
        lambda: bank.get_memory(memory="m", revision="1"),
    ):
        with pytest.raises(TypeError):
            call()


# ---- hooks, headers, secrets


def test_hooks_see_every_attempt() -> None:
    """Request hooks may change or replace each attempt's request, response hooks see each response."""
    seen: list[Any] = []

    def sign(request: httpx.Request) -> None:
        request.headers["x-signature"] = str(len(seen))

    def replace(request: httpx.Request) -> httpx.Request:
        return httpx.Request(request.method, request.url, headers={**request.headers, "x-other": "1"})

    hooks = Hooks(on_request=[sign, replace], on_response=[lambda response: seen.append(response.json())])
    seam = script(refused(503, ""), FOUND)
    seam.client(hooks=hooks).bank().retrieve_memories(scope=SCOPE)
    assert [request.headers["x-signature"] for request in seam.asked] == ["0", "1"]
    assert [request.extensions["timeout"]["read"] for request in seam.asked] == [30, 30]
    assert [list(document) for document in seen] == [["error"], ["retrievedMemories"]]


def test_headers_say_who_calls() -> None:
    """The library's version, and the key or the token under the header that is theirs."""
    for settings, header, value in (
        ({"key": "k-1"}, "x-goog-api-key", "k-1"),
        ({"token": "t-1"}, "authorization", "Bearer t-1"),
    ):
        seam = script(FOUND)
        seam.client(**settings).bank().retrieve_memories(scope=SCOPE)
        [request] = seam.asked
        assert request.headers[header] == value
        assert len({"x-goog-api-key", "authorization"} & set(request.headers)) == 1
        assert request.headers["user-agent"].startswith(f"streambank-python/{__version__} httpx/")


def test_secrets_are_not_shown() -> None:
    """No representation and no error has the key or the token in it."""
    for settings in ({"key": "s3cret"}, {"token": "s3cret"}):
        client = script(refused(401, "UNAUTHENTICATED", "who are you?")).client(**settings)
        bank = client.bank()
        with pytest.raises(errors.Unauthenticated) as refusal:
            bank.get()
        shown = [repr(one) for one in (client, bank, bank.caller.sender, refusal.value, client.__dict__, bank.__dict__)]
        assert "s3cret" not in "".join(shown)
    for wrong in ({"key": "s3cret\n"}, {"token": "s3crét"}, {"key": " s3cret"}, {"key": "s3cret", "token": "t"}):
        with pytest.raises(ValueError) as told:
            Streambank(URL, **wrong)
        assert "s3cr" not in str(told.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.example.com",
        "ftp://api.example.com",
        "https://",
        "https://u:p@api.example.com",
        "https://h/?a=1",
        "https://h/#a",
    ],
)
def test_url_that_cannot_be_one_is_refused(url: str) -> None:
    """A base URL without scheme or host, or with what would be lost or shown, is told when the client is made."""
    with pytest.raises(ValueError):
        Streambank(url)


def test_redirect_is_not_followed() -> None:
    """The key goes to no other host than the one that was named."""
    seam = script(httpx.Response(307, headers={"location": "https://elsewhere.example.com/"}))
    with pytest.raises(errors.UnexpectedReply):
        seam.client(key="k").bank().get()
    assert [request.url.host for request in seam.asked] == ["api.example.com"]


def test_endless_reply_is_cut_off() -> None:
    """A reply longer than the service could send is refused before it fills the memory."""
    seam = script(httpx.Response(200, content=b" " * (MAX_REPLY_BYTES + 1)))
    with pytest.raises(errors.UnexpectedReply, match="longer"):
        seam.client().bank().get()


def test_compressed_reply_is_read() -> None:
    """A reply that a proxy compressed says the same."""
    import gzip

    body = gzip.compress(json.dumps({"name": "reasoningEngines/default"}).encode())
    seam = script(httpx.Response(200, headers={"content-encoding": "gzip"}, content=body))
    seam.answers[:] = [lambda _: httpx.Response(200, headers={"content-encoding": "gzip"}, stream=Body(body))]
    assert seam.client().bank().get().id == "default"


class Body(httpx.SyncByteStream):
    """A body as it comes off the wire."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def __iter__(self) -> Iterator[bytes]:
        yield self.body


# ---- both drivers, over sockets


@contextmanager
def breaking_server(breaks: int) -> Iterator[tuple[str, list[bytes]]]:
    """Serve replies of which the first *breaks* end in the middle of their body."""
    asked: list[bytes] = []
    body = b'{"name":"reasoningEngines/default"}'
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)

    def serve(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                while request := connection.recv(65_536):
                    asked.append(request)
                    is_broken = len(asked) <= breaks
                    connection.sendall(head + (body[:10] if is_broken else body))
                    if is_broken:
                        break

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
        listener.shutdown(socket.SHUT_RDWR)


def test_reply_that_breaks_off_is_asked_for_again() -> None:
    """A connection that ends in the middle of a reply is a lost one, waiting and awaiting alike."""
    with breaking_server(2) as (url, asked), Streambank(url, jitter=lambda: 0.0) as client:
        assert client.bank().get().id == "default"
        assert len(asked) == 3

    async def main(url: str) -> str:
        async with AsyncStreambank(url, jitter=lambda: 0.0) as client:
            return (await client.bank().get()).id

    with breaking_server(2) as (url, asked):
        assert asyncio.run(main(url)) == "default"
        assert len(asked) == 3


def test_connection_is_used_again() -> None:
    """Calls after the first need no connection of their own."""
    ports: set[int] = set()

    def note(response: httpx.Response) -> None:
        ports.add(response.extensions["network_stream"].get_extra_info("client_addr")[1])

    with breaking_server(0) as (url, asked), Streambank(url, hooks=Hooks(on_response=[note])) as client:
        for _ in range(3):
            client.bank().get()
        assert (len(asked), len(ports)) == (3, 1)


def test_closed_client_calls_no_more() -> None:
    """What is closed says so when it is called."""
    with script(FOUND).client() as client:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        client.bank().get()

    async def main() -> None:
        async with script(FOUND).async_client() as client:
            pass
        with pytest.raises(RuntimeError, match="closed"):
            await client.bank().get()

    asyncio.run(main())


def test_cancelled_call_gives_its_connection_back() -> None:
    """A task that is cancelled in the middle of a reply leaves a client that works."""

    async def main(url: str) -> str:
        async with AsyncStreambank(url) as client:
            call = asyncio.create_task(client.bank().get())
            await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            return (await client.bank().get()).id

    with breaking_server(0) as (url, _):
        assert asyncio.run(main(url)) == "default"
