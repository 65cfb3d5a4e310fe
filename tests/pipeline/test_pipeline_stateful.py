"""I1 to I7 against a plain-Python oracle: random calls, repeats, dropped records, ticks, deaths and clock moves."""

from contextlib import ExitStack
from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from streambank.model.operation import OperationState
from streambank.model.window import WindowState
from streambank.pipeline.generation.redrive import redrive
from streambank.pipeline.memories.deletion import delete_memory
from streambank.rules import triggers
from streambank.store.streams import RetentionPolicy
from tests import aws, oracle
from tests.world import SCOPE, World, event

HORIZON = timedelta(days=2)
STREAMS = ("a", "b")
RULES = st.one_of(
    st.none(),
    st.just({}),
    st.fixed_dictionaries({}, optional={"count": st.integers(1, 5), "idle": st.sampled_from([60, 300])}).filter(bool),
    st.fixed_dictionaries({"interval": st.sampled_from([120, 600])}, optional={"count": st.integers(2, 5)}),
)
EVENT_IDS = st.one_of(st.none(), st.sampled_from([f"e{n}" for n in range(12)]))
CALLS = st.lists(st.tuples(EVENT_IDS, st.integers(0, 1)), max_size=6)


def wire_rule(said: dict) -> dict:
    names = {"count": "eventCount", "idle": "idleDuration", "interval": "fixedInterval"}
    return {names[key]: value if key == "count" else f"{value}s" for key, value in said.items()}


class Service(RuleBasedStateMachine):
    """The real pipelines beside the oracle; both must answer alike at every step."""

    @initialize()
    def start(self) -> None:
        self.open = ExitStack()
        self.world = World(
            self.open.enter_context(aws.dynamodb()), retention_policy=RetentionPolicy(timedelta(days=45), HORIZON)
        )
        self.oracles = {name: oracle.Stream(HORIZON) for name in STREAMS}
        self.operations = {}
        self.serial = 0
        self.calls = []
        self.said_at = {}
        self.deleted_at = {}

    # ---- what callers do

    @rule(stream=st.sampled_from(STREAMS), call=CALLS, said=RULES, force=st.booleans())
    def ingest(self, stream, call, said, force) -> None:
        """Every call: accepted, duplicates, conflicts and the operation are the oracle's (I1, I3, I4)."""
        events = [(event_id, self._text(event_id, version)) for event_id, version in call]
        self._send(stream, events, said, force=force)

    @rule(back=st.integers(1, 5))
    def send_again(self, back) -> None:
        """A call that is sent again word for word, as after a lost reply."""
        if len(self.calls) >= back:
            self._send(*self.calls[-back][:3], force=self.calls[-back][3])

    def _text(self, event_id, version) -> str:
        if event_id is None:
            self.serial += 1
            return f"anonymous {self.serial}"
        return f"{event_id} version {version}"

    def _send(self, stream, events, said, *, force) -> None:
        self.calls.append((stream, events, said, force))
        self.said_at |= {text: self.world.clock() for _, text in events}
        fields = {"streamId": stream, "forceFlush": force}
        if said is not None:
            fields["rule"] = wire_rule(said)
        got = self.world.ingest(*(event(text, event_id) for event_id, text in events), **fields)
        expected = self.oracles[stream].ingest(self.world.clock(), events, said, force=force)
        assert (got.accepted, got.duplicates, sorted(got.conflicts), got.operation.id.window) == (
            expected.accepted,
            expected.duplicates,
            sorted(expected.conflicts),
            expected.window,
        )
        self.operations[got.operation.id] = stream

    @rule(choice=st.integers(0, 99))
    def delete(self, choice) -> None:
        """A memory is deleted, whatever of what was said before is still under way (I11): the same, if possible."""
        memories = self.world.memories.of_scope("default", SCOPE, now=self.world.clock())
        under_way = {text for one in self.oracles.values() for text, _ in one.pending}
        again = [one for one in memories if one.fact in under_way] or memories
        if again:
            memory = sorted(again, key=lambda one: one.fact)[choice % len(again)]
            stores = {"memories": self.world.memories, "retry_policy": self.world.retry_policy}
            now, secret = self.world.clock(), self.world.id_secret
            delete_memory("default", memory.id, id_secret=secret, now=now, **stores)
            self.deleted_at[memory.fact] = now

    # ---- what AWS does, or fails to do

    @rule(seconds=st.sampled_from([1, 30, 60, 61, 120, 299, 300, 3600, 86_399, 86_400, 200_000]))
    def time_passes(self, seconds) -> None:
        self.world.clock.move(seconds=seconds)

    @rule()
    def tick(self) -> None:
        """A sweep seals just what is due, and nothing else (I5)."""
        report = self.world.sweep()
        assert not report.faults
        for stream in self.oracles.values():
            stream.sweep(self.world.clock())

    @rule(lucky=st.sets(st.sampled_from(STREAMS)), repeats=st.integers(1, 2))
    def records_arrive(self, lucky, repeats) -> None:
        """Records of some streams arrive, some twice; those of the others are lost."""
        for _ in range(repeats):
            for item in aws.dump(self.world.client):
                if item["SK"]["S"].startswith(("HEAD", "W#")) and item["str"]["S"] in lucky:
                    self.world.react(item["PK"]["S"], item["SK"]["S"])
        for stream in lucky:
            self.oracles[stream].deliver(self.world.clock())

    @rule()
    def executions_run(self) -> None:
        self.world.run()

    @rule()
    def executions_die(self) -> None:
        self.world.executions.die()

    # ---- what must hold

    @invariant()
    def windows_are_the_oracles(self) -> None:
        """Each accepted event is in exactly one window; windows are sealed when the oracle says so (I2, I5)."""
        for name, expected in getattr(self, "oracles", {}).items():
            head = self._head(name)
            if head is None:
                assert not expected.pending
                continue
            assert (head.window, head.count, head.seal_reason is not None) == (
                expected.window,
                len(expected.pending),
                expected.has_seal_reason,
            )
            due = triggers.next_due(head, head.rule)
            assert not head.count or head.due <= due.at, "cnt > 0 => G1SK <= true due"

    def _head(self, name):
        from streambank.model.ids import stream_key

        return self.world.streams.head("default", stream_key(SCOPE, name))

    def teardown(self) -> None:
        """After all: let only the sweep work, redrive what is parked, and nothing is lost or doubled (I2, I6)."""
        if not hasattr(self, "world"):
            return
        try:
            self._come_to_an_end()
            self._check_everything()
        finally:
            self.open.close()

    def _come_to_an_end(self) -> None:
        for _ in range(4):
            self.world.finish()
            parked = [op for op in self.operations if op.window and self._is_parked(op)]
            parked += [op for op in self._all_windows() if self._is_parked(op)]
            for operation in dict.fromkeys(parked):
                redrive(
                    "default",
                    operation,
                    context=self.world.redriving,
                )
            if not parked:
                return
        raise AssertionError("windows stay parked")

    def _all_windows(self):
        from streambank.model.ids import OperationId, stream_key

        for name in STREAMS:
            head = self._head(name)
            for number in range(1, head.window if head else 1):
                yield OperationId(stream_key(SCOPE, name), number)

    def _is_parked(self, operation) -> bool:
        return self.world.operation(operation).state is OperationState.PARKED

    def _check_everything(self) -> None:
        for name, expected in self.oracles.items():
            if expected.pending:
                expected.seal()
            self._check_windows(name, expected)
        said = {text for one in self.oracles.values() for texts in one.sealed.values() for text in texts}
        facts = self.world.facts()
        deleted = {text for text, at in self.deleted_at.items() if self.said_at[text] <= at}
        # An event whose id a deleted memory cited may be read no more, whatever it says.
        ids = {text.partition(" version")[0] for text in self.deleted_at}
        untouched = {text for text in said if text.partition(" version")[0] not in ids}
        assert len(facts) == len(set(facts)), "nothing is remembered twice"
        assert untouched <= set(facts) <= said, "each thing that was said is remembered"
        live = {memory.id for memory in self.world.memories.of_scope("default", SCOPE, now=self.world.clock())}
        assert self.world.live_by_feed() == live, "who reads the change feed alone knows what there is"
        assert not deleted & set(facts), "what was deleted is brought back by nothing that was said before"

    def _check_windows(self, name, expected) -> None:
        from streambank.model.ids import stream_key

        for number, texts in expected.sealed.items():
            window = self.world.windows.get("default", stream_key(SCOPE, name), number)
            assert window.state is WindowState.DONE
            events = self.world.windows.events(window)
            assert [stored.event.parts[0]["text"] for stored in events] == texts
            verdicts = len(self.world.plans.verdicts(window))
            assert verdicts == len(texts) or (verdicts < len(texts) and self.deleted_at), "each candidate has a verdict"


def run(examples: int, steps: int) -> None:
    run_state_machine_as_test(
        Service,
        settings=settings(
            settings.get_profile("streambank"), max_examples=examples, stateful_step_count=steps, print_blob=False
        ),
    )


def test_random_histories_agree_with_the_oracle():
    """I1 to I7 hold in random histories of calls, repeats, lost records, ticks, deaths and clock moves."""
    run(examples=8, steps=20)


@pytest.mark.slow
def test_many_long_histories_agree_with_the_oracle():
    """The same, for a few hundred longer histories."""
    run(examples=300, steps=50)
