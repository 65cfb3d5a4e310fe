"""What a stream must do, in plain Python: no versions, no index, no conditions, just the rules as they are promised."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

DAY = timedelta(hours=24)
MONTH = timedelta(days=30)


@dataclass
class Answer:
    window: int
    accepted: int
    duplicates: int
    conflicts: list[str]


@dataclass
class Stream:
    """One stream as a caller may expect it to behave."""

    horizon: timedelta
    window: int = 1
    pending: list[tuple[str, datetime]] = field(default_factory=list)
    rule: dict[str, Any] | None = None
    has_seal_reason: bool = False
    anchor: datetime | None = None
    known: dict[str, tuple[int, str, datetime, int]] = field(default_factory=dict)
    sealed: dict[int, list[str]] = field(default_factory=dict)
    order: int = 0
    exists: bool = False

    # ---- when

    def timer_passed(self, now: datetime) -> bool:
        if not self.pending:
            return False
        first, last = self.pending[0][1], self.pending[-1][1]
        dues = [last + DAY, first + MONTH]
        rule = self.rule or {}
        if "idle" in rule:
            dues.append(last + timedelta(seconds=rule["idle"]))
        if "interval" in rule:
            tick = self.anchor
            while tick <= first:
                tick += timedelta(seconds=rule["interval"])
            dues.append(tick)
        return min(dues) <= now

    def must_be_sealed(self, now: datetime) -> bool:
        """Say whether a sweep at *now* seals the window."""
        if not self.pending:
            return False
        return (
            self.has_seal_reason
            or not self.rule
            or len(self.pending) >= self.rule.get("count", 10**9)
            or self.timer_passed(now)
        )

    # ---- what happens

    def seal(self) -> None:
        assert self.pending, "never empty"
        self.sealed[self.window] = [text for text, _ in self.pending]
        self.window += 1
        self.pending, self.has_seal_reason = [], False

    def sweep(self, now: datetime) -> None:
        if self.must_be_sealed(now):
            self.seal()

    def deliver(self, now: datetime) -> None:
        if self.pending and (self.has_seal_reason or self.timer_passed(now)):
            self.seal()

    def ingest(self, now: datetime, events: list[tuple[str | None, str]], rule: dict | None, *, force: bool) -> Answer:
        fresh, duplicates, conflicts, newest = self._deduplicated(now, events)
        effective = rule if rule is not None else self.rule
        stored = (rule or None) if rule is not None else self.rule
        fills = self._fills(len(fresh), effective, force=force)
        flushed = None
        has_effect = bool(fresh) or force or rule is not None
        changes = has_effect and bool(fresh or stored != self.rule or (fills and not self.has_seal_reason))
        if changes and self.pending and (self.has_seal_reason or self.timer_passed(now)):
            flushed = self.window if force else None
            self.seal()
            fills = self._fills(len(fresh), effective, force=force)
        self.exists = self.exists or bool(fresh) or stored is not None
        self.rule = stored
        for event_id, text in fresh:
            self._accept(now, event_id, text)
        self.has_seal_reason = self.has_seal_reason or (has_effect and fills)
        if force and not fresh and self.pending:
            flushed = self.window
        return Answer(self._window_of(fresh, flushed, newest), len(fresh), duplicates, conflicts)

    def _deduplicated(self, now: datetime, events: list[tuple[str | None, str]]):
        fresh, duplicates, conflicts, newest, seen = [], 0, [], None, {}
        for event_id, text in events:
            if event_id is None:
                fresh.append((event_id, text))
                continue
            known = self.known.get(event_id)
            if known and known[2] + self.horizon < now:
                known = None
            first_text = seen.get(event_id, known[1] if known else None)
            if first_text is None:
                seen[event_id] = text
                fresh.append((event_id, text))
                continue
            duplicates += 1
            if first_text != text:
                conflicts += [event_id] if event_id not in conflicts else []
            if known and (newest is None or known[3] > newest[3]):
                newest = known
        return fresh, duplicates, conflicts, newest

    def _fills(self, added: int, effective: dict | None, *, force: bool) -> bool:
        count = len(self.pending) + added
        return bool(count and (force or not effective or count >= effective.get("count", 10**9)))

    def _accept(self, now: datetime, event_id: str | None, text: str) -> None:
        self.order += 1
        self.anchor = self.anchor or now
        self.pending.append((text, now))
        if event_id is not None:
            self.known[event_id] = (self.window, text, now, self.order)

    def _window_of(self, fresh: list, flushed: int | None, newest: tuple | None) -> int:
        if fresh:
            return self.window
        if flushed is not None:
            return flushed
        if newest is not None:
            return newest[0]
        if not self.exists:
            return 0
        return self.window if self.pending else self.window - 1
