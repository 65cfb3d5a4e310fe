"""A second stack beside the first, and an upgrade of the first while calls come in."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from infra.stack.building import LAYER
from infra.stack.deployment import NAME, Deployment, deploy, update
from infra.stack.outcome import Outcome, failed, passed
from infra.stack.smoke import WAIT_SECONDS, calling

SECOND = "streambank-second"
PAUSE_SECONDS = 0.5
NO_REPLY = 0
_REPEATED = {NO_REPLY, httpx.codes.BAD_GATEWAY}
_PATH = "/v1/memoryBanks/default/memories:ingestEvents"


def two_stacks_lie_side_by_side(first: Deployment) -> Outcome:
    """Prove that a second stack of the account is created, and that neither sees the other's data."""
    second = deploy(first.endpoint, SECOND)
    shared = {name for name, value in first.outputs.items() if second.outputs.get(name) == value}
    with calling(second) as http:
        status = http.get("/v1/memoryBanks/default").status_code
        # A key of the first stack is none of the second.
        foreign = http.get("/v1/memoryBanks/default", headers={"authorization": f"Bearer {first.key}"}).status_code
    if shared or (status, foreign) != (200, 401):
        return failed(f"outputs in common: {sorted(shared)}; own key: {status}, the other stack's: {foreign}")
    return passed("a second stack with outputs, data and keys of its own")


def an_upgrade_loses_no_call(deployed: Deployment) -> Outcome:
    """Prove that a new layer and a new parameter are deployed while calls come in, and that no event is lost.

    A call that gets 502 or no reply is repeated, as a client does: MiniStack kills a busy function when it changes.
    """
    statuses: Counter[int] = Counter()
    is_over = threading.Event()
    caller = threading.Thread(target=_call_until, args=(deployed, is_over, statuses))
    caller.start()
    try:
        with _changed_layer():
            update(deployed.endpoint, NAME, "LogLevel=WARNING")
    finally:
        is_over.set()
        caller.join()
    events = statuses[httpx.codes.OK]
    covered = _flush(deployed)
    if not events or set(statuses) - {httpx.codes.OK, *_REPEATED} or covered != events + 1:
        return failed(f"replies {dict(statuses)}; {covered} of {events + 1} events are in the window")
    repeats = statuses.total() - events
    return passed(f"{events} calls during the upgrade, {repeats} of them repeated; all of their events are generated")


@contextmanager
def _changed_layer() -> Iterator[None]:
    """Give the built layer another content, as a release does."""
    mark: Path = LAYER / "streambank" / "release.txt"
    mark.write_text("another release")
    try:
        yield
    finally:
        mark.unlink()


def _call_until(deployed: Deployment, is_over: threading.Event, statuses: Counter[int]) -> None:
    with calling(deployed) as http:
        while not is_over.wait(PAUSE_SECONDS):
            event_id = f"e{statuses[httpx.codes.OK]}"  # the same again after a failure
            statuses[_status(http, _body(event_id))] += 1


def _status(http: httpx.Client, body: dict[str, object]) -> int:
    """Send an event, and return the status of the reply, or NO_REPLY."""
    try:
        return http.post(_PATH, json=body).status_code
    except httpx.TransportError:
        return NO_REPLY


def _flush(deployed: Deployment) -> int:
    """Seal the window, wait for its end, and return how many events it covers."""
    with calling(deployed) as http:
        name = http.post(_PATH, json=_body("last") | {"forceFlush": True}).json()["name"]
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            metadata = http.get(f"/v1/{name}").json()["metadata"]
            if metadata["state"] == "DONE":
                covered: int = metadata["coverage"]["covered"]
                return covered
            time.sleep(PAUSE_SECONDS)
    return 0


def _body(event_id: str) -> dict[str, object]:
    content = {"role": "user", "parts": [{"text": f"My number {event_id} is a bee."}]}
    return {
        "scope": {"user_id": "upgrade"},
        "streamId": "upgrade",
        "generationTriggerConfig": {"generationRule": {"eventCount": 500}},
        "directContentsSource": {"events": [{"eventId": event_id, "content": content}]},
    }
