"""Sessions over HTTP: made, continued, listed, found again and deleted."""

from __future__ import annotations

import itertools

import pytest

from tests.journeys.caller import DEFAULT_BANK, Caller, Document, moment

SESSIONS = f"{DEFAULT_BANK}/sessions"
STAMP = "2026-01-01T00:00:00.000001+00:00"
_users = itertools.count(1)


def fresh_user() -> str:
    return f"session-user-{next(_users)}"


def made(caller: Caller, *, bank: str = DEFAULT_BANK, status: int = 200, **fields: object) -> Document:
    """Create a session and return it."""
    name = fields.pop("id", None)
    params = {"sessionId": name} if name else {}
    body = {"userId": fresh_user(), **fields}
    answer = caller.post(f"{bank}/sessions", body, params=params, status=status)
    session: Document = answer["response"] if status == 200 else answer["error"]
    return session


def append(caller: Caller, session: Document, text: str = "hi", *, status: int = 200, **more: object) -> Document:
    """Append an event as Google's SDK does."""
    content = {"parts": [{"text": text}], "role": "user"}
    body = {"author": "user", "invocationId": "1", "timestamp": STAMP, "content": content, **more}
    return caller.post(f"{session['name']}:appendEvent", body, status=status)


def texts(events: Document) -> list[str]:
    return [event["content"]["parts"][0]["text"] for event in events["sessionEvents"]]


def test_session_is_made_in_the_call_that_asks_for_it(caller: Caller) -> None:
    """Creating a session answers with its operation, done; session and operation can be read under their names."""
    body = {"userId": "u", "displayName": "dn", "sessionState": {"a_b": 1, "cD": {"e_f": None}}, "ttl": "86400s"}
    operation = caller.post(SESSIONS, body)
    session = operation["response"]
    assert operation["done"]
    assert operation["name"] == f"{session['name']}/operations/create"
    assert caller.get(operation["name"]) == operation
    assert caller.get(session["name"]) == session
    assert session["name"].rsplit("/", 1)[1].isdigit()
    assert (session["userId"], session["displayName"]) == ("u", "dn")
    assert session["sessionState"] == {"a_b": 1, "cD": {"e_f": None}}
    assert (moment(session["expireTime"]) - moment(session["createTime"])).total_seconds() == 86_400


def test_callers_may_name_their_sessions_once(caller: Caller) -> None:
    """An id of the caller's own is taken for good; another bank has ids of its own."""
    bank = caller.bank()
    session = made(caller, id="My.own_id-1")
    assert session["name"] == f"{SESSIONS}/My.own_id-1"
    taken = made(caller, id="My.own_id-1", status=409)
    assert taken["status"] == "ALREADY_EXISTS"
    other = made(caller, id="My.own_id-1", bank=bank, displayName="other")
    append(caller, other)
    assert "displayName" not in caller.get(session["name"])
    assert texts(caller.get(f"{session['name']}/events")) == []
    refused = made(caller, id="not/one", status=400)
    assert refused["details"][0]["fieldViolations"][0]["field"] == "sessionId"


def test_conversation_is_kept_and_carries_the_state(caller: Caller) -> None:
    """Events are shown as they were appended, and what they say of the state is merged into it."""
    session = made(caller, sessionState={"turn_count": 0, "old": 1})
    raw = {"in_vocation_id": "1", "nested": {"a_b": [None]}}
    delta = {"turn_count": 1, "old": None, "newKey": {"a_b": 1}}
    metadata = {"custom_metadata": {"my_key": 1}, "turn_complete": True}
    assert append(caller, session, rawEvent=raw, actions={"state_delta": delta}, eventMetadata=metadata) == {}
    append(caller, session, "bye", author="agent", content={"parts": [{"text": "bye"}], "role": "model"})
    first, second = caller.get(f"{session['name']}/events")["sessionEvents"]
    assert first["name"].startswith(f"{session['name']}/events/")
    assert first["timestamp"] == "2026-01-01T00:00:00.000001Z"
    assert (first["rawEvent"], first["actions"]) == (raw, {"stateDelta": delta})
    assert first["eventMetadata"] == {"customMetadata": {"my_key": 1}, "turnComplete": True}
    assert second["author"] == "agent"
    now = caller.get(session["name"])
    assert now["sessionState"] == {"turn_count": 1, "newKey": {"a_b": 1}}
    assert moment(now["updateTime"]) >= moment(session["updateTime"])


def test_events_are_paged_filtered_and_ordered(caller: Caller) -> None:
    """A list of events is as appended, or by timestamp, in spans and in pages."""
    session = made(caller)
    for second in (2, 0, 1):
        append(caller, session, str(second), timestamp=f"2026-01-01T00:00:0{second}Z")
    where = f"{session['name']}/events"
    assert texts(caller.get(where)) == ["2", "0", "1"]
    assert texts(caller.get(where, params={"orderBy": "timestamp"})) == ["0", "1", "2"]
    assert texts(caller.get(where, params={"orderBy": "timestamp desc"})) == ["2", "1", "0"]
    span = 'timestamp>="2026-01-01T00:00:01Z" AND timestamp<"2026-01-01T00:00:02Z"'
    assert texts(caller.get(where, params={"filter": span})) == ["1"]
    for order in ({}, {"orderBy": "timestamp"}):
        page = caller.get(where, params={"pageSize": 2, **order})
        rest = caller.get(where, params={"pageSize": 2, "pageToken": page["nextPageToken"], **order})
        assert sorted(texts(page) + texts(rest)) == ["0", "1", "2"]
        assert "nextPageToken" not in rest
    token = {"pageToken": page["nextPageToken"]}
    caller.get(where, params=token, status=400)


def test_sessions_are_listed_newest_first(caller: Caller) -> None:
    """A bank's sessions come by their last change, or as asked; filters find a user's, and pages make the whole."""
    bank = caller.bank()
    sessions = []
    for number in range(5):
        sessions.append(made(caller, bank=bank, userId=f"u{number % 2}", labels={"n": str(number)}))
        caller.pass_unseen(seconds=1)
    append(caller, sessions[1])
    names = [session["name"] for session in sessions]

    def listed(**query: object) -> list[str]:
        found, token = [], ""
        while token is not None:
            page = caller.get(f"{bank}/sessions", params={**query, **({"pageToken": token} if token else {})})
            found += [session["name"] for session in page["sessions"]]
            token = page.get("nextPageToken")
        return found

    newest = [names[1], names[4], names[3], names[2], names[0]]
    assert listed() == listed(pageSize=2) == listed(pageSize=1, orderBy="update_time desc") == newest
    assert listed(orderBy="createTime", pageSize=2) == names
    assert listed(filter='user_id="u1"', pageSize=1) == [names[1], names[3]]
    assert listed(filter='labels.n="4" OR labels.n="0"') == [names[4], names[0]]
    assert listed(filter='user_id="nobody"') == []
    refused = caller.get(f"{bank}/sessions", params={"filter": "nonsense ~~ 1"}, status=400)
    assert refused["error"]["status"] == "INVALID_ARGUMENT"


def test_update_changes_what_its_mask_names(caller: Caller) -> None:
    """An update answers with the session itself, changed in what the mask names and nowhere else."""
    session = made(caller, displayName="old", sessionState={"a": 1}, labels={"k": "v"})
    body = {"displayName": "new", "sessionState": {"b": 2}, "labels": {}}
    changed = caller.call("PATCH", session["name"], body, params={"updateMask": "display_name,sessionState"})
    assert (changed["displayName"], changed["sessionState"], changed["labels"]) == ("new", {"b": 2}, {"k": "v"})
    assert caller.get(session["name"]) == changed
    assert "displayName" not in caller.call("PATCH", session["name"], {}, params={"updateMask": "displayName"})
    refused = caller.call("PATCH", session["name"], {"userId": "other"}, status=400)
    assert "userId" in refused["error"]["message"]


@pytest.mark.slow
def test_deleted_session_leaves_nothing(caller: Caller) -> None:
    """When a deletion has answered, the session, its events and its items are gone; its operation says so."""
    session = made(caller)
    append(caller, session)
    caller.get(f"{session['name']}/operations/delete", status=404)
    operation = caller.delete(session["name"])
    assert (operation["done"], operation["response"]) == (True, {})
    assert caller.get(operation["name"]) == operation
    partition = f"X#default#{session['name'].rsplit('/', 1)[1]}"
    assert caller.items(partition) == []
    for path in (session["name"], f"{session['name']}/events", f"{session['name']}/operations/create"):
        assert caller.get(path, status=404)["error"]["status"] == "NOT_FOUND"
    append(caller, session, status=404)
    caller.delete(session["name"], status=404)


def test_expired_session_is_gone_and_its_id_free(caller: Caller) -> None:
    """From its end on a session is in no answer, and another one may have its id."""
    user = fresh_user()
    session = made(caller, id="brief", userId=user, ttl="3600s")
    append(caller, session)
    query = {"filter": f'user_id="{user}"'}
    assert len(caller.get(SESSIONS, params=query)["sessions"]) == 1
    caller.pass_unseen(seconds=3_600)
    caller.get(session["name"], status=404)
    append(caller, session, status=404)
    assert caller.get(SESSIONS, params=query)["sessions"] == []
    again = made(caller, id="brief")
    assert caller.get(f"{again['name']}/events")["sessionEvents"] == []


@pytest.mark.slow
def test_bank_takes_its_sessions_with_it(caller: Caller) -> None:
    """A bank that holds a session is not empty, and when it is deleted by force its sessions go."""
    bank = caller.bank()
    session = made(caller, bank=bank)
    append(caller, session)
    caller.delete(bank, status=400)
    caller.delete(bank, {"force": True})
    caller.get(session["name"], status=404)
    caller.advance(seconds=120)
    identity = bank.rsplit("/", 1)[1]
    assert not [item for item in caller.items() if identity in item["PK"]["S"]]


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (SESSIONS, {}, "userId"),
        (SESSIONS, {"userId": "u", "session_states": {}}, "session_states"),
        (SESSIONS, {"userId": "u", "expireTime": "2020-01-01T00:00:00Z"}, "expireTime"),
        (f"{SESSIONS}/1:appendEvent", {"invocationId": "1", "timestamp": STAMP}, "author"),
        (f"{SESSIONS}/1:appendEvent", {"author": "user", "text": "hi"}, "text"),
    ],
)
def test_refusals_name_the_field(caller: Caller, path: str, body: Document, field: str) -> None:
    """A call that breaks a rule is refused with 400 in Google's shape, naming the field as the caller spelled it."""
    error = caller.post(path, body, status=400)["error"]
    assert error["status"] == "INVALID_ARGUMENT"
    assert error["details"][0]["fieldViolations"][0]["field"] == field


def test_sessions_of_no_bank_are_not_found(caller: Caller) -> None:
    """Every call under a bank that does not exist answers 404."""
    nowhere = f"{DEFAULT_BANK.rsplit('/', 1)[0]}/1234/sessions"
    caller.get(nowhere, status=404)
    caller.post(nowhere, {"userId": "u"}, status=404)
    caller.get(f"{nowhere}/1", status=404)
    caller.delete(f"{nowhere}/1", status=404)
    caller.get(f"{nowhere}/1/operations/delete", status=404)
