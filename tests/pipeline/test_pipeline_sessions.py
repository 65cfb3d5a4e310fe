"""Sessions through the pipeline: merging, racing, expiring, dying half-way, paging."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import AlreadyExists, InvalidArgument, NotFound, Unavailable
from streambank.model import session as model
from streambank.model.session import MAX_STATE_BYTES, SessionEvent, SessionFields
from streambank.pipeline.sessions import sessions as pipeline
from streambank.rules.filtering.order import SortKey
from streambank.store.sessions import Sessions
from streambank.store.table import Table
from streambank.wire.page_room import PAGE_BYTES
from tests import aws
from tests.aws import Killed
from tests.world import START

DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
EVERYTHING = frozenset({"display_name", "state", "labels", "expiry"})


@dataclass
class Proxy:
    """A client that does something before, or dies before or after, one of its writes."""

    client: Any
    meanwhile: Any = None
    dies_at: tuple[int, bool] | None = None
    writes: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        def call(**parameters: Any) -> Any:
            if name in ("get_item", "batch_get_item", "query", "search_vectors"):
                return getattr(self.client, name)(**parameters)
            here, self.dies_at = self.dies_at, None if self.dies_at == (len(self.writes), True) else self.dies_at
            if here == (len(self.writes), False):
                raise Killed(name)
            if self.meanwhile:
                self.meanwhile()
            reply = getattr(self.client, name)(**parameters)
            if here == (len(self.writes), True):
                raise Killed(name)
            self.writes.append(name)
            return reply

        return call


class Service:
    """The pipeline's functions over one table."""

    def __init__(self, world, client=None):
        self.world = world
        self.sessions = Sessions(Table(client or world.client, aws.TABLE, world.retry_policy))

    def _with(self):
        return {"sessions": self.sessions, "retry_policy": self.world.retry_policy, "now": self.world.clock()}

    def create(self, name="s1", user="u1", bank="default", **said):
        return pipeline.create(bank, name, SessionFields(user, **said), **self._with())

    def update(self, name="s1", **said):
        fields = SessionFields(**{"changed": frozenset(said) & EVERYTHING, **said})
        return pipeline.update("default", name, fields, **self._with())

    def append(self, text="hi", name="s1", at=START, author="user", **more):
        content = {"role": author, "parts": [{"text": text}]}
        event = SessionEvent(author, "i", at, **{"content": content, **more})
        return pipeline.append("default", name, event, **self._with())

    def delete(self, name="s1"):
        pipeline.delete("default", name, **self._with())

    def get(self, name="s1"):
        return pipeline.existing("default", name, sessions=self.sessions, now=self.world.clock())

    def listed(self, size=100, after=None, matches=lambda _: True, **more):
        return pipeline.in_bank("default", matches, size, after, sessions=self.sessions, now=self.world.clock(), **more)

    def events(self, size=100, after=None, matches=lambda _: True, **more):
        return pipeline.in_session("default", self.get(), matches, size, after, sessions=self.sessions, **more)

    def turns(self, start=None, end=None):
        now = self.world.clock()
        return pipeline.session_turns("default", "s1", start=start, end=end, sessions=self.sessions, now=now)


@pytest.fixture
def service(world):
    return Service(world)


def pages(read, size, name):
    """Return everything that *read* answers, page by page."""
    found, after = [], None
    while True:
        page, after = read(size=size, after=after)
        assert 0 < len(page) <= size
        found += [getattr(row, name) for row in page]
        if after is None:
            return found


# ---- state


@given(*[st.dictionaries(st.sampled_from("abcd"), st.none() | st.integers(), max_size=4)] * 2)
def test_a_delta_sets_and_removes_and_touches_nothing_else(state, delta):
    """After a merge each key of the delta has its value, or is gone where that is null; the others stay."""
    merged = model.merge_state(state, delta)
    assert {key: merged[key] for key in merged if key in delta} == {k: v for k, v in delta.items() if v is not None}
    assert {key: merged[key] for key in merged if key not in delta} == {
        key: value for key, value in state.items() if key not in delta
    }


def test_events_change_the_state(service):
    """The state of a session is the first one with all deltas in the order of the appends."""
    service.create(state={"a": 1, "b": {"in_ner": None}})
    service.append(actions={"stateDelta": {"a": 2, "c": [None]}})
    service.append(actions={"stateDelta": {"b": None}})
    service.append()
    assert service.get().state == {"a": 2, "c": [None]}


def test_a_state_has_a_limit_that_deltas_keep_too(world, service):
    """An event whose delta would make the state too large is refused, and nothing of it is stored."""
    service.create(state={"a": "x" * (MAX_STATE_BYTES - 100)})
    before = aws.dump(world.client)
    with pytest.raises(InvalidArgument) as refused:
        service.append(actions={"stateDelta": {"b": "x" * 100}})
    assert refused.value.field == "actions.stateDelta"
    assert aws.dump(world.client) == before
    service.append(actions={"stateDelta": {"a": None, "b": "x" * 100}})


# ---- races


def racing(world, act, times):
    """Return a service in which *act* happens before each of its first *times* writes."""
    left = [times]

    def meanwhile():
        if left[0]:
            left[0] -= 1
            act(Service(world))

    return Service(world, Proxy(world.client, meanwhile))


def test_events_of_several_writers_are_all_kept(world, service):
    """An append that another one overtakes is repeated on top of it: no event is lost, no number given twice."""
    service.create(state={})
    late = racing(world, lambda other: other.append("fast", actions={"stateDelta": {"fast": 1}}), times=3)
    late.append("slow", actions={"stateDelta": {"slow": 1}})
    found, _ = service.events()
    assert [event.content["parts"][0]["text"] for event in found] == ["fast", "fast", "fast", "slow"]
    assert [event.number for event in found] == list(range(service.get().first + 1, service.get().last + 1))
    assert service.get().state == {"fast": 1, "slow": 1}


def test_a_writer_that_is_always_overtaken_gives_up(world, service):
    """After eight tries the answer is to try again later, and nothing was written."""
    service.create()
    late = racing(world, lambda other: other.append("fast"), times=99)
    with pytest.raises(Unavailable):
        late.append("slow")
    assert len(service.events()[0]) == 8


def test_nothing_is_appended_to_a_deleted_session(world, service):
    """An append that a deletion overtakes finds no session; one that a new session overtook goes into that one."""
    service.create()
    with pytest.raises(NotFound):
        racing(world, lambda other: other.delete(), times=1).append()
    assert aws.dump(world.client) == []

    def anew(other):
        other.delete()
        world.clock.move(seconds=1)
        other.create(user="u2")

    service.create()
    racing(world, anew, times=1).append()
    assert service.get().user_id == "u2"
    assert len(service.events()[0]) == 1


def test_of_two_creations_one_wins(world, service):
    """The id is given once, whoever comes first."""
    late = racing(world, lambda other: other.create(user="fast"), times=1)
    with pytest.raises(AlreadyExists):
        late.create(user="slow")
    assert service.get().user_id == "fast"


def test_two_deletions_both_succeed(world, service):
    """A deletion that another one overtakes anywhere has what it wanted."""
    for times in (1, 2, 3):
        service.create()
        service.append()
        deletions = iter(range(times))

        def once_late(other, deletions=deletions, times=times):
            if next(deletions, None) == times - 1:
                other.delete()

        racing(world, once_late, times=times).delete()
        assert aws.dump(world.client) == []


# ---- ends


def test_a_deleted_session_is_gone_for_every_reader(world, service):
    """After the deletion the table holds nothing of the session, and every call answers that there is none."""
    service.create()
    service.append()
    service.delete()
    assert aws.dump(world.client) == []
    for call in (service.get, service.append, service.update, service.delete, service.turns):
        with pytest.raises(NotFound):
            call()


def test_a_deletion_that_died_is_finished_by_the_next(world, service):
    """Wherever the process dies, nobody sees the session afterwards or all do, and a second try leaves nothing."""
    service.create()
    service.append()
    probe = Proxy(world.client)
    Service(world, probe).delete()
    assert len(probe.writes) == 3
    for at in ((number, after) for number in range(3) for after in (False, True)):
        service.create()
        service.append()
        with pytest.raises(Killed):
            Service(world, Proxy(world.client, dies_at=at)).delete()
        is_untouched = at == (0, False)
        assert [session.id for session in service.listed()[0]] == (["s1"] if is_untouched else [])
        if at != (2, True):
            service.delete()
        assert aws.dump(world.client) == []


def test_a_session_may_be_made_over_remains(world, service):
    """An id is free again once its session has expired or its deletion has begun; nothing old is seen in the new."""
    service.create(expiry=DAY)
    service.append("old")
    with pytest.raises(AlreadyExists):
        service.create()
    world.clock.move(days=1)
    service.create(user="u2", expiry=DAY)
    assert service.events() == ([], None)
    service.append("old")
    with pytest.raises(Killed):
        Service(world, Proxy(world.client, dies_at=(1, False))).delete()
    world.clock.move(seconds=1)
    service.create(user="u3")
    assert service.events() == ([], None)
    assert [item["SK"]["S"] for item in aws.dump(world.client)] == ["X#s1", "S"]


def test_an_end_must_lie_ahead(world, service):
    """What would have expired already is neither made nor changed."""
    for call in (service.create, service.update):
        with pytest.raises(InvalidArgument) as refused:
            call(expiry=START)
        assert refused.value.field == "expireTime"
        if call == service.create:
            service.create()


@pytest.mark.parametrize(("first", "then"), [(DAY, 2 * DAY), (2 * DAY, DAY), (None, DAY), (DAY, None), (DAY, DAY)])
@pytest.mark.parametrize("after", [False, True])
def test_events_never_expire_before_their_session(world, first, then, after):
    """Wherever a change of the end dies, each event stays at least as long as the head; the next one sets all."""

    def ends():
        items = {item["SK"]["S"]: int(item["ttl"]["N"]) if "ttl" in item else 2**60 for item in aws.dump(world.client)}
        return items["S"], [end for key, end in items.items() if key.startswith("E#")]

    service = Service(world)
    service.create(expiry=first)
    for _ in range(3):
        service.append()
    for number in range(2):
        try:
            Service(world, Proxy(world.client, dies_at=(number, after))).update(expiry=then)
        except Killed:
            head, events = ends()
            assert min(events) >= head
    service.update(expiry=then)
    head, events = ends()
    assert set(events) == {head}


def test_an_update_changes_what_it_names(service):
    """Fields that are not named stay, and a session never becomes another user's."""
    made = service.create(state={"a": 1}, labels={"k": "v"}, display_name="d")
    changed = service.update(display_name="new")
    assert changed == replace(made, display_name="new", version=2)
    assert service.update(user_id="u1", labels={}).labels == {}
    with pytest.raises(InvalidArgument) as refused:
        service.update(user_id="u2")
    assert refused.value.field == "userId"


# ---- lists


def crowd(world, service):
    for number in range(12):
        world.clock.move(milliseconds=number % 2)
        service.create(f"s{number:02}", user=f"u{number % 3}", state={"n": number})
    world.clock.move(seconds=1)
    service.append(name="s03")


@pytest.mark.parametrize("size", [1, 5, 12, 100])
def test_lists_lose_and_repeat_nothing(world, service, size):
    """Pages of any size, in any order, of all sessions or one user's, make the whole list."""
    crowd(world, service)
    everyone = list(service.listed()[0])
    assert everyone[0].id == "s03"
    for key in (SortKey("update_time", True), SortKey("update_time"), SortKey("create_time", True)):
        expected = sorted(
            ((s.created if key.field == "create_time" else s.updated, s.id) for s in everyone), reverse=key.descending
        )
        found = pages(lambda key=key, **page: service.listed(order=key, **page), size, "id")
        assert found == [name for _, name in expected]
        mine = pages(lambda key=key, **page: service.listed(order=key, user_id="u1", **page), size, "id")
        assert mine == [name for _, name in expected if int(name[1:]) % 3 == 1]
    even = pages(lambda **page: service.listed(matches=lambda s: s.state["n"] % 2 == 0, **page), min(size, 6), "id")
    assert even == [session.id for session in everyone if session.state["n"] % 2 == 0]


def test_a_page_is_cut_before_it_outgrows_a_reply(service):
    """Heavy sessions and events make short pages, and even one that is heavier than a page is shown."""
    for number in range(9):
        service.create(f"big{number}")
    sizes, after = [], None
    while not sizes or after:
        page, after = service.listed(after=after, weigh=lambda _: PAGE_BYTES // 6)
        sizes.append(len(page))
    assert sizes == [6, 3]
    service.create()
    for _ in range(7):
        service.append("z")
    page, end = service.events(weigh=lambda _: 2 * PAGE_BYTES)
    assert (len(page), end) == (1, page[-1].number)
    page, end = service.events(weigh=lambda _: PAGE_BYTES // 5)
    assert (len(page), end) == (5, page[-1].number)
    assert len(service.events(after=end)[0]) == 2


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_events_are_listed_as_appended_or_by_their_times(service, size):
    """Without an order the appends decide, with one the events' own times, ties by append."""
    service.create()
    for offset in (3, 1, 2, 1, 0):
        service.append(str(offset), at=START + offset * SECOND)
    numbers = [event.number - service.get().first for event in service.events()[0]]
    assert numbers == [1, 2, 3, 4, 5]
    first = service.get().first

    def order(**options):
        return [number - first for number in pages(lambda **page: service.events(**options, **page), size, "number")]

    assert order() == numbers
    assert order(order=SortKey("timestamp")) == [5, 2, 4, 3, 1]
    assert order(order=SortKey("timestamp", True)) == [1, 3, 4, 2, 5]
    assert order(matches=lambda event: event.timestamp > START) == [1, 2, 3, 4]


# ---- generation


def test_turns_are_the_events_with_content_in_a_span(service):
    """The start is inside, the end is not; roles are the contents', or else the authors'."""
    service.create()
    service.append("0", at=START)
    service.append("1", at=START + SECOND, author="agent", content={"role": "model", "parts": [{"text": "1"}]})
    service.append("2", at=START + 2 * SECOND, author="agent", content={"parts": [{"text": "2"}]})
    for content in (None, {}, {"role": "user", "parts": []}):
        service.append(at=START + SECOND, content=content)
    service.append("3", at=START + 3 * SECOND, content={"role": "tool", "parts": [{"text": "3"}]})
    session, turns = service.turns()
    assert session == service.get()
    assert [(turn.role, turn.parts[0]["text"]) for turn in turns] == [
        ("user", "0"),
        ("model", "1"),
        ("model", "2"),
        ("user", "3"),
    ]
    assert [turn.event_id for turn in turns] == [str(session.first + n) for n in (1, 2, 3, 7)]
    assert turns[1].time == START + SECOND
    assert [turn.parts[0]["text"] for turn in service.turns(START + SECOND, START + 3 * SECOND)[1]] == ["1", "2"]
