"""Chat histories under kills, races and time: one version whole, always, and nothing left behind."""

import itertools
from datetime import timedelta

import pytest
from botocore.exceptions import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st

from streambank.errors import OutOfReach, PreconditionFailed, Unavailable
from streambank.model import ids
from streambank.model.chat import ANYTHING, ChatDraft, Expectation
from streambank.pipeline.sessions import chat_history
from streambank.store.chat_histories import ChatHistories
from tests import aws
from tests.aws import Killed
from tests.pipeline.test_pipeline_faults import Killer, _armed, _clear
from tests.world import World

CHUNK = 500
SMALL, LARGE, LARGER, OTHER = "small", "large", "larger", "other"
LETTERS = {SMALL: 1, LARGE: 30, LARGER: 60, OTHER: 31}


@pytest.fixture(scope="module")
def client():
    with aws.dynamodb() as client:
        yield client


class Chats:
    """Conversations of one bank; a history is known by the name of its content."""

    def __init__(self, client):
        _clear(client)
        self.world = World(client)
        self.world.histories = ChatHistories(self.world.table, chunk_bytes=CHUNK)
        self.versions = itertools.count()

    @property
    def context(self):
        return {"histories": self.world.histories, "retry_policy": self.world.retry_policy, "now": self.world.clock()}

    def store(self, content, expected=ANYTHING, *, name="c", ttl=None):
        """Store one of the contents and return the version that it has."""
        draft = ChatDraft(messages_of(content), content, ttl)
        version = f"v{next(self.versions)}"
        history = draft.at(self.world.clock(), conversation_id=name, version=version)
        chat_history.store("default", history, expected, **self.context)
        return version

    def delete(self, expected=ANYTHING, *, name="c"):
        chat_history.delete("default", name, expected, **self.context)

    def load(self, name="c"):
        """Return the name of the content, whole or not at all."""
        found = chat_history.load("default", name, **self.context)
        if found is None:
            return None
        assert found.messages == messages_of(found.format), "a mixture"
        return found.format

    def rest(self):
        """Let the sweep alone do what is left to do, and check that nothing lies about."""
        self.world.clock.move(minutes=3)
        report = self.world.sweep()
        assert not report.faults, report.faults
        items = aws.dump(self.world.client)
        versions = {item["ver"]["S"] for item in items if item["SK"]["S"] == "H"}
        chunks = {item["SK"]["S"].split("#")[1] for item in items if item["SK"]["S"].startswith("C#")}
        assert chunks <= versions, "chunks that no pointer speaks of"
        assert not [item for item in items if item["SK"]["S"].startswith("O#")], "notes that are never taken away"
        registered = {item["SK"]["S"][2:] for item in items if item["PK"]["S"].startswith("K#")}
        pointed = {item["PK"]["S"].split("#")[2] for item in items if item["SK"]["S"] == "H"}
        assert registered == pointed, "what a bank's end walks is what there is"


def messages_of(content):
    return tuple({"n": n, "text": ids.digest(content, str(n))} for n in range(LETTERS[content]))


CHANGES = [(old, new) for old in (None, SMALL, LARGE) for new in (SMALL, LARGER, None) if (old, new) != (None, None)]


def changed(chats, old, new, disturb):
    """Put *old* in place and change it to *new*, disturbed by what *disturb* arms; tell whether it answered."""
    if old:
        chats.store(old)
    disarm = disturb()
    try:
        chats.store(new) if new else chats.delete()
    except Killed:
        return False
    finally:
        disarm()
    return True


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_kill_after_some_calls_leaves_the_old_or_the_new_history_whole(client, old, new):
    """Killed after some AWS calls, a history is the old or the new one, and the sweep alone clears the rest."""
    _kill_until_the_change_ends(client, old, new, itertools.product(range(0, 30, 4), [True]))


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_kill_at_any_call_leaves_the_old_or_the_new_history_whole(client, old, new):
    """The same before and after every AWS call."""
    _kill_until_the_change_ends(client, old, new, itertools.product(range(30), (False, True)))


def _kill_until_the_change_ends(client, old, new, points):
    for at, after in points:
        chats, killer = Chats(client), Killer(at, after)
        is_done = changed(chats, old, new, lambda killer=killer, chats=chats: _armed(chats.world.client, killer))
        is_over, killer.at = killer.at is not None, None
        found = chats.load()
        assert found == new if is_done else found in (old, new)
        chats.rest()
        assert chats.load() == found
        chats.store(LARGE)
        chats.rest()
        assert chats.load() == LARGE
        if is_over:
            assert is_done
            assert at > 0
            return
    raise AssertionError("a change never ends")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(SMALL, LARGE, marks=pytest.mark.slow),
        (LARGE, LARGER),
        pytest.param(LARGE, SMALL, marks=pytest.mark.slow),
        pytest.param(LARGE, None, marks=pytest.mark.slow),
    ],
)
def test_a_kill_while_the_sweep_clears_is_made_good_by_the_next(client, old, new):
    """Killed at any call of a clearing, the next sweep ends it, and what is read stays whole."""
    for at in range(30):
        chats, killer = Chats(client), Killer()
        chats.store(old)
        disarm = _armed(client, killer)
        killer.at, killer.after = _calls_of_turn(chats, new), True
        with pytest.raises(Killed):
            chats.store(new) if new else chats.delete()
        killer.calls, killer.at = 0, at
        chats.world.clock.move(minutes=3)
        try:
            chats.world.sweep()
        except Killed:
            pass
        finally:
            disarm()
        is_over, killer.at = killer.at is not None, None
        assert chats.load() == new
        chats.rest()
        if is_over:
            return
    raise AssertionError("a sweep never ends")


def _calls_of_turn(chats, new):
    """Return which call turns the pointer: one reading, then a note and its chunks where there are any."""
    if new in (None, SMALL):
        return 1
    from streambank.store import text

    return 2 + -(-len(text.compressed(messages_of(new))) // CHUNK)


class Meddler:
    """Lets somebody else act at one AWS call of another's, once."""

    def __init__(self, client, at, act):
        self.client, self.at, self.act, self.calls = client, at, act, 0

    def __call__(self):
        self.client.meta.events.register("before-call.dynamodb", self._seen)
        return lambda: self.client.meta.events.unregister("before-call.dynamodb", self._seen)

    def _seen(self, **_):
        self.calls += 1
        if self.calls == self.at + 1:
            self.act()


@pytest.mark.parametrize("new", [SMALL, LARGER, None])
def test_a_reading_that_races_a_turn_is_of_one_version(client, new):
    """Whoever stores or deletes between any two calls of a reading, it shows the old history or the new one, whole."""
    for at in range(20):
        chats = Chats(client)
        chats.store(LARGE)
        meddler = Meddler(client, at, lambda chats=chats: chats.store(new) if new else chats.delete())
        disarm = meddler()
        try:
            assert chats.load() in (LARGE, new)
        finally:
            disarm()
        if meddler.calls <= at:
            assert at > 1
            return
        assert chats.load() == new
    raise AssertionError("a reading never ends")


RACES = [*itertools.product([None, LARGE], [SMALL, LARGER], [OTHER, None]), (LARGE, None, OTHER)]


@pytest.mark.parametrize(("old", "mine", "theirs"), RACES)
def test_writers_that_race_leave_one_of_their_versions(client, old, mine, theirs):
    """Whoever else stores or deletes between any two calls of a change, the last one to write wins, whole."""
    for at in range(40):
        chats = Chats(client)
        meddler = Meddler(client, at, lambda chats=chats: chats.store(theirs) if theirs else chats.delete())
        assert changed(chats, old, mine, meddler)
        assert chats.load() in (mine, theirs)
        chats.rest()
        if meddler.calls <= at:
            assert at > 1
            return
    raise AssertionError("a store never ends")


@pytest.mark.parametrize("theirs", [OTHER, None])
def test_a_lost_update_is_refused_at_any_call(client, theirs):
    """With If-Match nobody's store is overwritten: whenever another one comes between, ours is refused."""
    for at in range(40):
        chats = Chats(client)
        version = chats.store(LARGE)
        meddler = Meddler(client, at, lambda chats=chats: chats.store(theirs) if theirs else chats.delete())
        disarm = meddler()
        try:
            chats.store(LARGER, Expectation(must_exist=True, version=version))
        except PreconditionFailed:
            assert chats.load() == theirs
        else:
            # Ours came first: they wrote after the turn, if they did at all.
            assert chats.load() == (theirs if meddler.calls > at else LARGER)
        finally:
            disarm()
        chats.rest()
        if meddler.calls <= at:
            assert at > 3
            return
    raise AssertionError("a store never ends")


def test_a_write_whose_reply_was_lost_is_no_conflict(client):
    """A store that finds its own version in the table has succeeded, also under an expectation."""
    chats = Chats(client)
    version = chats.store(SMALL)
    lost = []

    def lose(model, **_):
        if model.name == "PutItem" and not lost:
            lost.append(model.name)
            error = {"Error": {"Code": "ConditionalCheckFailedException", "Message": "the first send came through"}}
            raise ClientError(error, "PutItem")

    client.meta.events.register("after-call.dynamodb", lose)
    try:
        second = chats.store(SMALL, Expectation(must_exist=True, version=version))
    finally:
        client.meta.events.unregister("after-call.dynamodb", lose)
    assert lost
    chats.store(SMALL, Expectation(must_exist=True, version=second))


def test_a_store_that_cannot_clear_has_succeeded(client):
    """What is left of the old version is the sweep's; the caller is not told of a failure that changes nothing."""
    chats = Chats(client)
    chats.store(LARGE)

    def failing(model, **_):
        if model.name == "BatchWriteItem":
            raise OutOfReach("scripted")

    client.meta.events.register("before-call.dynamodb", failing)
    try:
        chats.store(SMALL)
    finally:
        client.meta.events.unregister("before-call.dynamodb", failing)
    assert chats.load() == SMALL
    chats.rest()


def test_a_history_that_is_replaced_without_end_is_unavailable(client):
    """A reading that is overtaken each time gives up and says so; it never shows a part."""
    chats = Chats(client)
    chats.store(LARGE)
    contents = itertools.cycle([LARGER, LARGE])
    busy = []

    def replaced(model, **_):
        if model.name == "BatchGetItem" and not busy:
            busy.append(1)
            chats.store(next(contents))
            busy.clear()

    client.meta.events.register("before-call.dynamodb", replaced)
    try:
        with pytest.raises(Unavailable):
            chats.load()
    finally:
        client.meta.events.unregister("before-call.dynamodb", replaced)


# ---- time and expectations


def test_an_expired_history_is_unknown_at_once(client):
    """From its end on a history is in no reading and meets no expectation, though its items linger (I9)."""
    chats = Chats(client)
    version = chats.store(LARGE, ttl=timedelta(hours=1))
    chats.world.clock.move(seconds=3_599)
    assert chats.load() == LARGE
    chats.world.clock.move(seconds=1)
    assert chats.load() is None
    for expected in (Expectation(must_exist=True), Expectation(must_exist=True, version=version)):
        with pytest.raises(PreconditionFailed):
            chats.store(SMALL, expected)
    chats.store(SMALL, Expectation(must_be_absent=True))
    assert chats.load() == SMALL
    chats.rest()
    assert not [item for item in aws.dump(client) if "ttl" in item], "a new history takes no end from an old one"


def test_a_version_is_never_given_twice(client):
    """Who read a conversation that was deleted and made anew since is refused."""
    chats = Chats(client)
    version = chats.store(SMALL)
    chats.delete()
    chats.store(SMALL)
    for act in (lambda expected: chats.store(LARGE, expected), chats.delete):
        with pytest.raises(PreconditionFailed):
            act(Expectation(must_exist=True, version=version))
    assert chats.load() == SMALL


def test_an_unknown_conversation_is_deleted_already(client):
    """Deleting twice is deleting once, unless something was to be there."""
    chats = Chats(client)
    chats.delete()
    with pytest.raises(PreconditionFailed):
        chats.delete(Expectation(must_exist=True))
    assert aws.dump(client) == []


_names = st.sampled_from(["a", "b"])
_steps = st.one_of(
    st.tuples(st.just("store"), _names, st.sampled_from([SMALL, LARGE, LARGER]), st.sampled_from([None, 60, 600])),
    st.tuples(st.just("delete"), _names),
    st.tuples(st.just("wait"), st.integers(1, 400)),
)


@settings(max_examples=25)
@given(st.lists(_steps, max_size=12))
def test_histories_are_a_map_whose_entries_expire(client, steps):
    """Whatever is stored, deleted and waited for, each conversation is what was stored last, until its end."""
    chats, known = Chats(client), {}
    start = chats.world.clock()
    for kind, *given_ in steps:
        if kind == "store":
            name, content, seconds = given_
            chats.store(content, name=name, ttl=seconds and timedelta(seconds=seconds))
            known[name] = content, seconds and chats.world.clock() + timedelta(seconds=seconds)
        elif kind == "delete":
            chats.delete(name=given_[0])
            known.pop(given_[0], None)
        else:
            chats.world.clock.move(seconds=given_[0])
        for name in ("a", "b"):
            content, end = known.get(name, (None, None))
            assert chats.load(name) == (content if end is None or end > chats.world.clock() else None)
    assert chats.world.clock() >= start
    chats.rest()
