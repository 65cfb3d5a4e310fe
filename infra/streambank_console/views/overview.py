"""What the overview shows: banks, streams, windows that need a person, and usage by day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from streambank_client.types import BankResource, Cost, StreamStatus, Usage
from streambank_client.types.operations import NextTrigger, OperationMetadata
from streambank_console import paths
from streambank_console.views import labels, text
from streambank_console.views.labels import Badge

CHART_DAYS = 30


@dataclass(frozen=True, slots=True)
class BankRow:
    """A bank to choose."""

    id: str
    name: str
    href: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Due:
    """What happens next, and when; *remaining* says how many more events would make it happen sooner."""

    name: str
    at: datetime
    remaining: str = ""


@dataclass(frozen=True, slots=True)
class StreamRow:
    """A stream: whose it is, what waits, what fires next, how its newest window ended."""

    owner: str
    owner_href: str
    stream: str
    pending: int
    due: Due | None
    open_href: str
    last: Badge | None
    last_href: str
    failure: str


@dataclass(frozen=True, slots=True)
class WindowRow:
    """A window in a list."""

    id: str
    href: str
    number: int
    state: Badge
    updated: datetime | None
    events: str
    closed: str
    verdicts: str
    failure: str
    can_redrive: bool


@dataclass(frozen=True, slots=True)
class StateCount:
    """How many windows are in a state, and where they are listed."""

    badge: Badge
    number: str
    href: str


@dataclass(frozen=True, slots=True)
class WindowsView:
    """The windows by state, and those that may need a person."""

    counts: tuple[StateCount, ...]
    note: str
    rows: tuple[WindowRow, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A day of the chart: *share* of the highest bar, 0 to 1, and its value in words."""

    day: date
    share: float
    value: str


@dataclass(frozen=True, slots=True)
class Chart:
    """One measure by day, with its total."""

    title: str
    total: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class UsageView:
    """The charts, and today's tokens of the budget."""

    charts: tuple[Chart, ...]
    budget: str
    is_empty: bool


def bank_rows(banks: Sequence[BankResource], current: str) -> tuple[BankRow, ...]:
    """Return the banks, the current one first if the list does not have it."""
    ids = [one.id for one in banks]
    rows = [BankRow(one.id, one.display_name or one.id, paths.overview(one.id), one.id == current) for one in banks]
    if current not in ids:
        rows.insert(0, BankRow(current, current, paths.overview(current), is_current=True))
    return tuple(rows)


def stream_row(bank: str, one: StreamStatus) -> StreamRow:
    """Return the row of a stream."""
    return StreamRow(
        owner=text.scope_label(one.scope),
        owner_href=paths.scope(bank, one.scope),
        stream=text.visible(one.stream_id),
        pending=one.pending_events,
        due=due(one.next_trigger),
        open_href=paths.window(bank, one.pending_operation) if one.pending_operation else "",
        last=labels.state(one.last_state) if one.last_state else None,
        last_href=paths.window(bank, one.last_operation) if one.last_operation else "",
        failure=text.words_of(one.last_failure or ""),
    )


def due(trigger: NextTrigger | None) -> Due | None:
    """Return what a trigger does next."""
    if trigger is None:
        return None
    remaining = trigger.remaining_events
    sooner = f"or after {text.count(remaining, 'more event')}" if remaining else ""
    return Due(labels.next_step(trigger.kind), trigger.time, sooner)


def window_row(bank: str, name: str, metadata: OperationMetadata) -> WindowRow:
    """Return the row of a window."""
    generic = metadata.generic_metadata
    total = metadata.coverage.events if metadata.coverage else metadata.pending_events
    return WindowRow(
        id=paths.last_part(name),
        href=paths.window(bank, name),
        number=metadata.window or 0,
        state=labels.state(metadata.state),
        updated=generic.update_time if generic else None,
        events="" if total is None else text.count(total, "event"),
        closed=labels.closed_because(metadata.trigger) if metadata.trigger else "",
        verdicts=verdict_counts(metadata),
        failure=failure_text(metadata),
        can_redrive=metadata.state == "PARKED",
    )


def windows_view(bank: str, rows: Sequence[WindowRow], *, has_more: bool) -> WindowsView:
    """Return the windows by state, and those of *rows* that may need a person."""
    counts = Counter(one.state for one in rows)
    by_state = tuple(
        StateCount(badge, f"{counts[badge]:,}", paths.windows(bank, state))
        for state in labels.STATES
        if counts[badge := labels.state(state)]
    )
    note = f"Counted are the first {len(rows):,} windows." if has_more else ""
    return WindowsView(by_state, note, tuple(one for one in rows if one.state.tone in ("warn", "bad")))


def verdict_counts(metadata: OperationMetadata) -> str:
    """Return how many facts had which verdict, in words."""
    counts = metadata.verdict_counts.items()
    return ", ".join(f"{number:,} {labels.verdict(name.upper()).text}" for name, number in counts if number)


def failure_text(metadata: OperationMetadata) -> str:
    """Return why the generation failed, with the provider's own name for it."""
    parts = [text.words_of(metadata.failure or ""), text.visible(metadata.provider_error or "")]
    return ": ".join(part for part in parts if part)


def usage_view(usage: Usage, today: date) -> UsageView:
    """Return the charts of the last 30 days up to *today*."""
    by_day = {one.date: one for one in usage.days}
    days = [today - timedelta(days=back) for back in range(CHART_DAYS - 1, -1, -1)]
    budget = usage.daily_token_budget
    used = f"{usage.tokens_today:,} tokens today"
    return UsageView(
        charts=(
            _chart("Model calls", usage.total.model_calls, [(day, _calls(by_day.get(day))) for day in days]),
            _chart("Tokens", _tokens(usage.total), [(day, _tokens(by_day.get(day))) for day in days]),
            _cost_chart(usage.total, [(day, by_day.get(day)) for day in days]),
            *_personal_data_charts(usage.total, [(day, by_day.get(day)) for day in days]),
        ),
        budget=used + (f" of {budget:,} allowed a day" if budget is not None else ", without a limit"),
        is_empty=not usage.days,
    )


def _calls(cost: Cost | None) -> int:
    return cost.model_calls if cost else 0


def _tokens(cost: Cost | None) -> int:
    return cost.input_tokens + cost.output_tokens + cost.embedding_tokens if cost else 0


def _chart(title: str, total: int, values: Sequence[tuple[date, int]]) -> Chart:
    highest = max((value for _, value in values), default=0) or 1
    return Chart(title, f"{total:,}", tuple(Bar(day, value / highest, f"{value:,}") for day, value in values))


def _personal_data_charts(total: Cost, days: Sequence[tuple[date, Cost | None]]) -> list[Chart]:
    """Return the chart of what the service for personal data bills; none where no service was called."""
    if not total.personal_data_calls:
        return []
    values = [(day, cost.personal_data_units if cost else 0) for day, cost in days]
    return [_chart("Units of text checked for personal data", total.personal_data_units, values)]


def _cost_chart(total: Cost, days: Sequence[tuple[date, Cost | None]]) -> Chart:
    values = [(day, cost.estimated_cost_usd if cost else 0.0) for day, cost in days]
    highest = max((value for _, value in values), default=0.0) or 1.0
    bars = tuple(Bar(day, value / highest, text.dollars(value)) for day, value in values)
    return Chart("Estimated cost", text.dollars(total.estimated_cost_usd), bars)
