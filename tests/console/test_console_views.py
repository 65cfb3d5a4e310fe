"""What the console's pages show, computed without a browser."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank_client import errors, types
from streambank_client.types import (
    PolicyFinding,
    Revision,
    StreamStatus,
    Usage,
    WindowDetail,
    WindowResponse,
)
from streambank_client.types.operations import OperationMetadata
from streambank_console import paths
from streambank_console.service import CallCount, first_page
from streambank_console.settings import ConsoleSettings
from streambank_console.views import (
    changes,
    jobs,
    labels,
    memories,
    overview,
    policies,
    replay,
    reviews,
    scopes,
    text,
    way,
)
from streambank_console.views.diff import ADDED, REMOVED, SAME, Piece, difference
from streambank_console.views.problems import problem
from streambank_console.views.way import Focus

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
BANK = "projects/p/locations/l/reasoningEngines/default"
pairs = st.dictionaries(st.text(min_size=1, max_size=9), st.text(min_size=1, max_size=9), min_size=1, max_size=5)


def revision(number: int, fact: str) -> Revision:
    return Revision(name=f"{BANK}/memories/m/revisions/{number}", fact=fact, create_time=NOW + timedelta(hours=number))


# ---- texts


@given(st.text())
def test_no_hidden_control_is_left_in_a_text(words):
    """What changes the direction of a text, or cannot be seen, is spelled out; letters and line ends stay."""
    shown = text.visible(words)
    assert not any(one in shown for one in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u200f\u200b\x00\x1b")
    assert text.visible(shown) == shown
    assert text.visible("a\nb\tc") == "a\nb\tc"
    assert text.visible("\u202egnp.exe") == "[U+202E]gnp.exe"


def test_times_are_read_with_their_zone_and_their_distance():
    """A time of this year has day, time and zone; another year is named; how far it is has two units."""
    assert text.moment(NOW - timedelta(minutes=75), NOW, UTC) == text.Moment(
        "Tue 1 Dec, 10:45 UTC", "2026-12-01T10:45:00Z", "1 h 15 min ago"
    )
    assert text.moment(datetime(2025, 1, 2, 3, 4, tzinfo=UTC), NOW, UTC).text == "2 Jan 2025, 03:04 UTC"
    assert text.relative(timedelta(seconds=125)) == "in 2 min 5 s"
    assert text.relative(timedelta(days=2, seconds=5)) == "in 2 d"


@pytest.mark.parametrize(
    ("amount", "words"), [(0, "$0"), (12.5, "$12.50"), (0.01234, "$0.012"), (0.00001, "below $0.0001")]
)
def test_small_amounts_keep_what_counts(amount, words):
    """A cost below a cent is not shown as nothing."""
    assert text.dollars(amount) == words


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_difference_holds_both_texts(before, after):
    """The same and the removed pieces are the text before, the same and the added ones the text after."""
    made = difference(before, after)
    assert "".join(one.text for one in made if one.kind != ADDED) == text.visible(before)
    assert "".join(one.text for one in made if one.kind != REMOVED) == text.visible(after)


# ---- addresses and input


@given(pairs, st.text(min_size=1, max_size=9))
def test_an_address_holds_the_whole_scope(scope, query):
    """A scope of any letters comes back from its address, which has no other fields than those of its page."""
    from urllib.parse import parse_qsl, urlsplit

    address = urlsplit(paths.search("default", scope, query))
    fields = parse_qsl(address.query, keep_blank_values=True, strict_parsing=True)
    assert paths.read_scope(fields) == scope
    assert dict(fields)["q"] == query
    assert address.path == "/banks/default/search"


def test_an_id_never_leads_to_another_page():
    """Slashes, dots and query marks of an id are letters of its address."""
    assert paths.memory("a/b?c", f"{BANK}/memories/m#1") == "/banks/a%2Fb%3Fc/memories/m%231"


def test_a_typed_scope_is_read_or_explained():
    """Pairs are separated by commas; what is no pair, and a key that comes twice, is refused with an example."""
    assert scopes.read_typed_scope(" user_id=ada , app=shop=2 ") == {"user_id": "ada", "app": "shop=2"}
    for typed in ("", "ada", "user_id=", "a=1, a=2"):
        with pytest.raises(ValueError, match="user_id=ada"):
            scopes.read_typed_scope(typed)


def test_words_become_a_filter_and_a_filter_stays():
    """Plain words are looked for in the fact, with their quotes; a filter of the API is sent as it is."""
    assert scopes.as_filter('the "blue" one') == 'fact:"the \\"blue\\" one"'
    assert scopes.as_filter('update_time > "2026-01-01T00:00:00Z"') == 'update_time > "2026-01-01T00:00:00Z"'
    assert scopes.as_filter("  ") is None


# ---- overview


def test_the_chart_of_personal_data_is_there_where_a_service_was_called():
    """Its bars are the units of text that are billed; a bank without such calls has no chart of them."""
    cost = {"personalDataCalls": 2, "personalDataUnits": 9}
    called = Usage.from_reply({"days": [{"date": "2026-11-30", **cost}], "total": cost, "tokensToday": 0})
    plain = Usage.from_reply({"days": [], "total": {}, "tokensToday": 0})
    chart = overview.usage_view(called, date(2026, 12, 1)).charts[-1]
    assert (chart.title, chart.total) == ("Units of text checked for personal data", "9")
    assert [bar.value for bar in chart.bars[-2:]] == ["9", "0"]
    assert len(overview.usage_view(plain, date(2026, 12, 1)).charts) == 3


def test_a_stream_says_what_waits_and_what_comes_next():
    """The row of a stream has its owner, its pending events, its next trigger and the end of its newest window."""
    status = StreamStatus.from_reply(
        {
            "scope": {"user_id": "ada"},
            "streamId": "chat",
            "pendingEvents": 2,
            "nextTrigger": {"kind": "IDLE_DURATION", "time": "2026-12-01T12:05:00Z", "remainingEvents": 1},
            "pendingOperation": f"{BANK}/operations/s-2",
            "lastOperation": f"{BANK}/operations/s-1",
            "lastState": "PARKED",
            "lastFailure": "MODEL_UNAVAILABLE",
        }
    )
    row = overview.stream_row("default", status)
    assert (row.owner, row.pending, row.failure) == ("user_id = ada", 2, "model unavailable")
    assert row.due == overview.Due("closes if idle,", NOW + timedelta(minutes=5), "or after 1 more event")
    assert (row.open_href, row.last_href) == ("/banks/default/windows/s-2", "/banks/default/windows/s-1")
    assert (row.last.text, row.last.tone) == ("parked", "bad")


def test_the_chart_has_a_bar_for_each_day_up_to_the_highest():
    """Thirty days up to today, the highest day full, a day without calls empty, totals of all."""
    usage = Usage.from_reply(
        {
            "days": [{"date": "2026-11-30", "modelCalls": 4, "inputTokens": 900, "outputTokens": 100}],
            "total": {"modelCalls": 4, "inputTokens": 900, "outputTokens": 100, "estimatedCostUsd": 0.5},
            "tokensToday": 0,
            "dailyTokenBudget": 5000,
        }
    )
    view = overview.usage_view(usage, date(2026, 12, 1))
    calls, tokens, cost = view.charts
    assert [bar.share for bar in calls.bars[-3:]] == [0.0, 1.0, 0.0]
    assert (len(calls.bars), calls.bars[0].day) == (30, date(2026, 11, 2))
    assert (calls.total, tokens.total, cost.total) == ("4", "1,000", "$0.50")
    assert view.budget == "0 tokens today of 5,000 allowed a day"


# ---- memories


def test_a_history_tells_what_each_revision_changed():
    """Newest first: a change by its words, a deletion, a restoration; the newest cannot be restored."""
    facts = ["I live in Graz", "I live in Vienna", "", "I live in Vienna"]
    steps = memories.history([revision(number, fact) for number, fact in reversed(list(enumerate(facts, 1)))])
    assert [step.title for step in steps] == ["Restored", "Deleted", "Changed", "Created"]
    assert [step.can_restore for step in steps] == [False, False, True, True]
    assert steps[2].pieces == (Piece(SAME, "I live in "), Piece(REMOVED, "Graz"), Piece(ADDED, "Vienna"))


def test_a_review_shows_what_would_change():
    """A change shows both texts, a deletion the memory alone, and each leads to its memory and its window."""
    times = {"createTime": "2026-12-01T11:00:00Z", "updateTime": "2026-12-01T11:00:00Z"}
    memory = {"name": f"{BANK}/memories/m", "fact": "I live in Graz", "pinned": True, **times}
    assert memories.memory_view("default", types.Memory.from_reply(memory)).is_pinned
    name = {"name": f"{BANK}/memories:reviews/r", "state": "OPEN", "cause": "PINNED", "memories": [memory]}
    more = {"evidenceTime": times["createTime"], "expireTime": times["createTime"], "createTime": times["createTime"]}
    change = {**name, **more, "action": "UPDATE", "fact": "I live in Vienna", "operation": f"{BANK}/operations/w-1"}
    gone = {**name, **more, "action": "DELETE", "extractedFact": "Forget: Graz\u202e"}
    first, second = reviews.review_views("default", [types.Review.from_reply(one) for one in (change, gone)])
    assert first.pieces == (Piece(SAME, "I live in "), Piece(REMOVED, "Graz"), Piece(ADDED, "Vienna"))
    assert (first.title, first.cause) == ("Another text", "because it is pinned")
    assert (first.id, first.source_href.startswith("/banks/default/windows/w-1")) == ("r", True)
    assert second.pieces == (Piece(REMOVED, "I live in Graz"),)
    assert (second.title, second.memories) == ("To be forgotten", (("I live in Graz", "/banks/default/memories/m"),))
    assert "\u202e" not in second.stated


def test_a_history_tells_when_texts_held():
    """What was learnt late is no change of the text before it, a correction is named, and each says when it held."""
    first, late, right = (
        revision(number, fact).model_copy(update=more)
        for number, (fact, more) in enumerate(
            [
                ("I live in Graz", {"event_time": NOW}),
                ("I live in Linz", {"late": True, "event_time": NOW - timedelta(days=9)}),
                ("I live in Wien", {"correction": True, "valid_until": NOW}),
            ],
            1,
        )
    )
    steps = memories.history([right, late, first])
    assert [step.title for step in steps] == ["Corrected", "Held before, learnt later", "Created"]
    assert [step.holds for step in steps] == ["until 2026-12-01", "said 2026-11-22", "said 2026-12-01"]
    assert [step.can_restore for step in steps] == [False, True, True]
    assert Piece(REMOVED, "Graz") in steps[0].pieces


def test_a_profile_is_read_as_words():
    """A profile is shown as its fields, never as JSON, and is not edited as a text."""
    memory = types.Memory.from_reply(
        {
            "name": f"{BANK}/memories/m",
            "createTime": "2026-12-01T11:00:00Z",
            "updateTime": "2026-12-01T11:00:00Z",
            "structuredContent": {"schemaId": "diet", "data": {"allergies": ["peanuts", "soy"], "size": {"cm": 180}}},
        }
    )
    view = memories.memory_view("default", memory)
    assert view.fact == "Profile diet. allergies: peanuts, soy; size: cm 180"
    assert not view.can_edit


# ---- the way of an event


DETAIL = WindowDetail.from_reply(
    {
        "events": [
            {
                "sequence": 5,
                "eventId": "a",
                "eventTime": "2026-12-01T11:00:00Z",
                "content": {"role": "user", "parts": []},
            },
            {
                "sequence": 6,
                "eventTime": "2026-12-01T11:00:00Z",
                "content": {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"secret": 1}}}]},
                "notShown": "TOOL",
            },
        ],
        "candidates": [
            {
                "number": 1,
                "fact": "I live in Vienna",
                "events": [{"sequence": 5}],
                "change": "CHANGES",
                "verdicts": [{"verdict": "UPDATED", "memory": f"{BANK}/memories/m", "reason": "contradicts a memory"}],
            },
            {
                "number": 2,
                "fact": "I like tea",
                "events": [],
                "verdicts": [{"verdict": "REJECTED", "reason": "unsaid"}],
            },
        ],
        "scope": {"user_id": "ada"},
        "streamId": "chat",
        "forgottenEvents": 1,
        "omittedCandidates": 3,
    }
)
METADATA = OperationMetadata.from_reply(
    {
        "state": "DONE",
        "window": 2,
        "trigger": "EVENT_COUNT",
        "genericMetadata": {"createTime": "2026-12-01T11:00:00Z", "updateTime": "2026-12-01T11:00:02.500Z"},
        "coverage": {"events": 2, "covered": 1, "notCovered": {"TOOL": 1}},
        "modelCalls": 2,
        "inputTokens": 1200,
        "outputTokens": 30,
        "estimatedCostUsd": 0.002,
    }
)


def test_changes_are_told_newest_first():
    """A change leads to its memory, its scope and its window; an erasure names the scope alone; a kind has words."""
    name, scope = f"{BANK}/memories/m", {"user_id": "ada"}
    made = {"id": "1", "changeTime": "2026-12-01T11:00:00Z", "kind": "CREATED", "memory": name, "scope": scope}
    gone = {"id": "2", "changeTime": "2026-12-01T11:05:00Z", "kind": "ERASED", "scope": scope}
    feed = [types.MemoryChange.from_reply({**made, "operation": f"{BANK}/operations/w-1"})]
    view = changes.changes_view("default", [*feed, types.MemoryChange.from_reply(gone)])
    assert [(row.kind.text, row.memory) for row in view.rows] == [("erased", ""), ("created", "m")]
    assert view.rows[1].source_href.startswith("/banks/default/windows/w-1")
    assert (view.rows[1].memory_href, view.rows[0].memory_href) == ("/banks/default/memories/m", "")
    assert not view.has_more
    assert changes.changes_view("default", feed * (changes.MOST_ROWS + 1)).has_more
    assert changes.recent_filter(NOW).startswith('change_time>="')


def test_a_job_tells_how_far_it_has_come():
    """A job under way, one that is done and one that failed are told apart, each with its counts."""
    started = {"startTime": "2026-12-01T11:00:00Z"}
    running, done = (
        OperationMetadata.from_reply({**started, "state": state, "exported": {"memories": 1200, "sessionEvents": 3}})
        for state in ("EXPORTING", "DONE")
    )
    name = f"{BANK}/operations/export-2"
    rows = [jobs.job_row(name, *more) for more in ((running, ""), (done, ""), (done, "the manifest is gone"))]
    assert [row.state.text for row in rows] == ["exporting", "done", "failed"]
    assert (rows[0].id, rows[0].title, rows[0].progress) == ("export-2", "Export", "1,200 memories, 3 session events")
    assert rows[2].failure == "the manifest is gone"


def configured(**config: object) -> types.BankResource:
    return types.BankResource.from_reply({"name": BANK, "contextSpec": {"memoryBankConfig": config}})


def test_a_bank_tells_what_it_keeps_out():
    """Each rule has its name, what it looks for and what it does; a pattern is shown as it is, without controls."""
    rules = [
        {"detector": "CREDENTIALS", "action": "REDACT"},
        {"pattern": "\\bE-\\d{4}\u202e", "action": "REFUSE"},
        {"name": "MEDICAL", "pattern": "allerg", "action": "TAG"},
    ]
    view = policies.policies_view(configured(contentPolicy={"rules": rules}))
    assert [(row.name, row.detector, row.pattern, row.action.text) for row in view.rules] == [
        ("CREDENTIALS", "keys, tokens and passwords", "", "removed"),
        ("PATTERN_1", "", "\\bE-\\d{4}[U+202E]", "refused"),
        ("MEDICAL", "", "allerg", "tagged"),
    ]


def test_a_bank_tells_what_waits_for_a_review():
    """The actions and the topics of the policy are in words; without a policy only pins wait."""
    topics = [{"managedMemoryTopic": "USER_PREFERENCES"}, {"customMemoryTopicLabel": "health"}]
    view = policies.policies_view(configured(reviewPolicy={"actions": ["UPDATED", "DELETED"], "topics": topics}))
    assert "changes of the topics user preferences, health, if memories are updated, deleted" in view.reviews
    every = policies.policies_view(configured(reviewPolicy={"actions": ["CREATED"]}))
    assert "all generated changes, if memories are created" in every.reviews
    for plain in (configured(), configured(reviewPolicy={}), types.BankResource.from_reply({"name": BANK})):
        assert policies.policies_view(plain) == policies.PoliciesView((), policies.NO_REVIEWS)


def test_a_way_joins_turns_facts_and_memories():
    """The event that is looked for is marked with its facts and its memory; costs and counts are in words."""
    response = WindowResponse.from_reply(
        {
            "generatedMemories": [
                {
                    "memory": {"name": f"{BANK}/memories/m"},
                    "action": "UPDATED",
                    "previousRevision": f"{BANK}/memories/m/revisions/1",
                }
            ]
        }
    )
    [(name, (verdict, previous))] = way.touched(DETAIL, response).items()
    history = [revision(2, "I live in Vienna"), revision(1, "I live in Graz")]
    focus = Focus(event=5)
    view = way.way(
        "default", METADATA, DETAIL, [way.memory_change("default", name, verdict, previous, history, focus)], focus
    )
    assert [one.focus for one in view.turns] == [True, False]
    assert [one.focus for one in view.candidates] == [True, False]
    [memory] = view.memories
    assert (memory.focus, memory.candidates, memory.note) == (True, (1,), "")
    assert memory.pieces == difference("I live in Graz", "I live in Vienna")
    assert dict(view.facts) == {
        "Read by the model": "1 of 2 events",
        "Model calls": "2",
        "Tokens": "1,200 in, 30 out",
        "Estimated cost": "$0.002",
        "From close to end": "2.5 s",
    }
    assert view.closed == "it held enough events"
    assert (view.stream, view.owner, view.owner_href) == (
        "chat",
        "user_id = ada",
        "/banks/default/scope?scope.user_id=ada",
    )
    assert view.notes == ("1 event was cited by a deleted memory.", "3 facts had no room here.")


def test_a_part_that_is_no_text_is_named_and_not_dumped():
    """A tool's call is named without its arguments, an event without text is called so."""
    shown = way.way("default", METADATA, DETAIL, [], Focus())
    assert [one.text for one in shown.turns] == ["(no text)", "(calls the tool look)"]
    assert shown.turns[1].omission == "a tool's call or its result"


def test_an_event_says_what_a_policy_found():
    """The rule, how often it matched, and what it did: the text is gone, and is shown nowhere."""
    found = [
        PolicyFinding(rule="CARDS", action="REDACT", count=2),
        PolicyFinding(rule="MEDICAL", action="TAG", count=1),
    ]
    event = DETAIL.events[0].model_copy(update={"content_policy": found})
    assert way.turn(event, Focus()).policy == "CARDS (2 removed), MEDICAL (1 tagged)"
    assert labels.learning("DISABLED") != labels.learning("ENABLED")


@pytest.mark.parametrize(
    ("verdict", "previous", "facts", "texts", "note"),
    [
        ("CREATED", "", ["a", "b"], ("", "a"), "It has changed since."),
        ("UPDATED", "1", ["a", "b", "c"], ("a", "b"), "It has changed since."),
        ("UPDATED", "1", ["a", "a"], ("a", "a"), "The words stayed the same."),
        ("DELETED", "1", ["a", ""], ("a", ""), ""),
        ("UNCHANGED", "", ["a"], ("a", "a"), "The words stayed the same."),
        ("CREATED", "", [], ("", ""), "This memory is deleted, or its history has expired."),
    ],
)
def test_a_memory_is_shown_before_and_after_its_window(verdict, previous, facts, texts, note):
    """The revision before the window and the one that it made are compared, whatever came later."""
    history = [revision(number, fact) for number, fact in reversed(list(enumerate(facts, 1)))] or None
    change = way.memory_change("default", f"{BANK}/memories/m", verdict, previous, history, Focus())
    assert change.pieces == difference(*texts)
    assert change.note == note


# ---- errors and the token


def test_every_error_of_the_client_says_what_to_do():
    """Each class of the client's errors has a title and a cure; the token is in none."""
    kinds = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.StreambankError)]
    for kind in kinds:
        error = kind.__new__(kind)
        one = problem(error, "http://127.0.0.1:8080")
        assert one.title.endswith(".")
        assert one.title != "Something went wrong in the console."
    assert "streambank serve" in problem(errors.ConnectionLost.__new__(errors.ConnectionLost), "u").cure


def test_the_token_is_in_no_representation():
    """What is logged or raised of the settings does not hold the token; a key and a token are told apart."""
    settings = ConsoleSettings(url="http://127.0.0.1:8080", token="sb_secret")
    assert "secret" not in repr(settings)
    assert (settings.api_key, settings.bearer) == ("sb_secret", None)
    assert ConsoleSettings(url="u", token="local").bearer == "local"


# ---- what a page costs


def test_time_that_requests_share_counts_once():
    """Two requests at the same time, and one after a pause, took the time in which any was under way."""
    counted = CallCount()
    for begins, now in ((True, 10.0), (True, 10.5), (False, 11.0), (False, 12.0), (True, 20.0), (False, 20.25)):
        (counted.begin if begins else counted.end)(now)
    assert (counted.requests, counted.seconds(30.0)) == (3, 2.25)
    counted.begin(40.0)
    assert counted.seconds(41.0) == 3.25


def test_a_list_is_turned_page_by_page_and_each_is_requested_once():
    """Turning reads what is needed and one item more, which tells whether others follow; back reads nothing."""
    reads = []

    async def numbers():
        for number in range(7):
            reads.append(number)
            yield number

    async def turn() -> None:
        pager = await first_page(numbers(), 3)
        assert (pager.rows, pager.has_next, pager.span, len(reads)) == ([0, 1, 2], True, "1 to 3", 4)
        await pager.turn_to(2)
        assert (pager.rows, pager.has_next, pager.span) == ([6], False, "7 to 7")
        await pager.turn_to(1)
        assert (pager.rows, len(reads)) == ([3, 4, 5], 7)

    asyncio.run(turn())


def test_windows_are_counted_by_state_and_those_in_need_are_listed():
    """Windows that are parked, paused or retried are rows, the others are only counted; a part of all is called so."""
    rows = [
        overview.window_row("default", f"{BANK}/operations/s-{number}", OperationMetadata(state=state, window=number))
        for number, state in enumerate(["PARKED", "DONE", "DONE", "RETRYING", "BUFFERING"])
    ]
    view = overview.windows_view("default", rows, has_more=True)
    counts = {one.badge.text: one.number for one in view.counts}
    assert counts == {"open": "1", "retrying": "1", "parked": "1", "done": "2"}
    assert [one.number for one in view.rows] == [0, 3]
    assert [one.can_redrive for one in view.rows] == [True, False]
    assert view.note == "Counted are the first 5 windows."


def test_a_replay_is_shown_beside_what_was_recorded():
    """A fact of both answers is one row, one of a single answer is beside nothing; costs and notes are in words."""
    response = types.ReplayResponse.from_reply(
        {
            "memoriesFrom": "NOW",
            "missingMemories": 1,
            "recorded": [
                {"fact": "I like tea", "verdict": "CREATED", "text": "I like tea"},
                {"fact": "I run", "verdict": "UPDATED", "reason": "changed", "text": "I run daily"},
            ],
            "replayed": [
                {"fact": "I run", "verdict": "UNCHANGED", "reason": "restated"},
                {"fact": "I \u202eski", "verdict": "CREATED"},
            ],
            "recordedCost": {"model": "a", "inputTokens": 10, "outputTokens": 2, "estimatedCostUsd": 0},
            "replayedCost": {"inputTokens": 1, "outputTokens": 0, "estimatedCostUsd": 0.5},
        }
    )
    view = replay.compared(response)
    shown = [tuple(side and (side.badge.text, side.text) for side in (one.recorded, one.replayed)) for one in view.rows]
    assert shown == [
        (("created", "I like tea"), None),
        (("updated", "I run daily"), ("unchanged", "I run")),
        (None, ("created", "I [U+202E]ski")),
    ]
    assert view.costs == (("Recorded", "a, 12 tokens, $0"), ("Replayed", "1 token, $0.50"))
    assert len(view.notes) == 2
    done = way.way("default", OperationMetadata(state="DONE", window=1), WindowDetail(), (), Focus())
    assert (done.can_replay, done.can_redrive) == (True, False)
