"""The state machine and the code name the same things."""

import re

import pytest

from streambank import errors
from streambank.model.window import Attempt
from streambank.pipeline.generation.commit import CommitOutcome
from streambank.pipeline.generation.consolidate import ConsolidateOutcome
from streambank.pipeline.generation.extract import ExtractOutcome
from streambank.pipeline.generation.fail import NO_FAILURES
from streambank.pipeline.jobs.replay import ReplayOutcome
from tests.aws import ASL, template, walk

STATES = ASL["States"]
TASKS = {name: state for name, state in STATES.items() if state["Type"] == "Task"}
# The states of a generation; the machine also runs replays.
STAGES = ("Extract", "Consolidate", "Commit", "Fail")
OUTCOMES = {"Extract": ExtractOutcome, "Consolidate": ConsolidateOutcome, "Commit": CommitOutcome}
# Outcomes that are no success and no failure of the generation: `fail` books them without a try.
PAUSES = {ConsolidateOutcome.ERASING}
PAYLOAD = {"bank": "b", "sid": "s", "win": 1, "att": 0}
FIRST = {"kind": "window", "loop": {"conflicts": 0}}


def _kinds(kind):
    return [kind, *(leaf for below in kind.__subclasses__() for leaf in _kinds(below))]


def choices(task):
    choice = STATES[TASKS[task]["Next"]]
    return {rule["StringEquals"]: rule["Next"] for rule in choice["Choices"]}, choice["Default"]


@pytest.mark.parametrize("task", OUTCOMES)
def test_every_success_is_handled(task):
    """Each outcome of a stage that is no failure has a rule of its own, and no rule names what no stage returns."""
    rules, default = choices(task)
    assert set(rules) == set(OUTCOMES[task]) - PAUSES
    assert default == "Fail"


def test_where_each_success_leads():
    """The stages follow each other, late ones end, and a conflict is counted."""
    assert choices("Extract")[0] == {"extracted": "Consolidate", "late": "Over"}
    assert choices("Consolidate")[0] == {"planned": "Commit", "late": "Over"}
    assert choices("Commit")[0] == {"committed": "Over", "late": "Over", "conflict": "Conflict"}


@pytest.mark.parametrize("kind", _kinds(errors.GenerationError), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("task", OUTCOMES)
def test_every_failure_reaches_fail(task, kind):
    """No outcome of a generation's error is mistaken for a success, and each has a name of its own."""
    assert kind.outcome not in choices(task)[0]
    assert (kind.outcome in NO_FAILURES) == (kind is errors.BudgetPaused)
    outcomes = [one.outcome for one in _kinds(errors.GenerationError)]
    assert outcomes.count(kind.outcome) == 1


def test_pauses_are_no_failures():
    """What is neither success nor failure is booked without a try."""
    assert set(NO_FAILURES) >= PAUSES


@pytest.mark.parametrize("name", STAGES)
def test_only_the_attempt_travels_in(name):
    """A state is given the attempt and nothing else: events stay in the table, where erase reaches them."""
    given = TASKS[name]["Parameters"]["Payload"]
    attempt = {"bank.$": "$.bank", "sid.$": "$.sid", "win.$": "$.win", "att.$": "$.att"}
    assert given == attempt | ({"outcome.$": "$.result.outcome"} if name == "Fail" else {})
    assert len(attempt) == len(Attempt.__dataclass_fields__)


@pytest.mark.parametrize("name", OUTCOMES)
def test_only_the_outcome_travels_out(name):
    """Of a state's result only the outcome is kept, and whatever it raises leads to `fail` by its name alone."""
    state = TASKS[name]
    assert state["ResultSelector"] == {"outcome.$": "$.Payload.outcome"}
    assert state["ResultPath"] == "$.result"
    [caught] = state["Catch"]
    assert (caught["ErrorEquals"], caught["Next"], caught["ResultPath"]) == (["States.ALL"], "Crashed", "$.error")
    assert STATES["Crashed"]["Parameters"] == {"outcome.$": "$.error.Error"}
    assert STATES["Crashed"]["Next"] == "Fail"


@pytest.mark.parametrize("name", OUTCOMES)
def test_what_lambda_itself_fails_at_is_tried_again(name):
    """A stage is repeated after each error that AWS names as Lambda's own (Step Functions developer guide)."""
    repeated = {error for rule in TASKS[name]["Retry"] for error in rule["ErrorEquals"]}
    own = ("ClientExecutionTimeoutException", "ServiceException", "AWSLambdaException", "SdkClientException")
    assert repeated == {f"Lambda.{error}" for error in (*own, "TooManyRequestsException")}


@pytest.mark.parametrize("name", TASKS)
def test_tasks_name_functions_of_the_template(name):
    """Each placeholder is filled by the template with the function of that name."""
    [placeholder] = re.findall(r"\$\{(\w+)\}", TASKS[name]["Parameters"]["FunctionName"])
    machine = template()["Resources"]["Generation"]["Properties"]
    assert placeholder == name
    assert machine["DefinitionSubstitutions"][placeholder] == f"{name}.Arn"
    assert template()["Resources"][name]["Properties"]["Handler"] == f"{name.lower()}.handler"
    assert machine["DefinitionUri"] == "infra/generation.asl.json"


def test_every_next_state_exists_and_the_machine_ends():
    """No transition leads nowhere, and an execution that hangs is ended from outside."""
    for state in STATES.values():
        targets = [state.get("Next"), state.get("Default")]
        targets += [rule["Next"] for key in ("Choices", "Catch") for rule in state.get(key, [])]
        assert {target for target in targets if target} <= set(STATES)
    assert ASL["StartAt"] in STATES
    assert ASL["TimeoutSeconds"] > 0
    assert [name for name, state in STATES.items() if state["Type"] == "Succeed"] == ["Over"]


def test_only_a_conflict_waits():
    """Backoff lives in the window's due time, where the service's clock rules it; a conflict waits one second."""
    [(name, state)] = [(name, state) for name, state in STATES.items() if state["Type"] == "Wait"]
    assert (name, state["Seconds"], state["Next"]) == ("Pause", 1, "Consolidate")
    for name in OUTCOMES:
        assert not any("States.ALL" in retry["ErrorEquals"] for retry in TASKS[name]["Retry"])


def waits(name):
    """Return the longest that a stage waits for a place before each try, in seconds."""
    retry = TASKS[name]["Retry"][0]
    return [min(retry["MaxDelaySeconds"], retry["IntervalSeconds"] * 2**n) for n in range(retry["MaxAttempts"])]


@pytest.mark.parametrize("name", TASKS)
def test_a_stage_waits_minutes_for_a_place(name):
    """Where concurrency is limited on purpose a burst of windows waits; not even then is it a failure."""
    throttled, broken = TASKS[name]["Retry"]
    assert throttled["ErrorEquals"] == ["Lambda.TooManyRequestsException"]
    assert "Lambda.TooManyRequestsException" not in broken["ErrorEquals"]
    assert throttled["ErrorEquals"][0] in NO_FAILURES
    assert (throttled["MaxAttempts"], throttled["BackoffRate"], throttled["JitterStrategy"]) == (12, 2, "FULL")
    assert sum(waits(name)) > 300


def test_an_execution_outlives_its_stages():
    """The machine ends what hangs, never what still waits or works: both waits and all three functions fit into it."""
    functions = [template()["Resources"][name]["Properties"]["Timeout"] for name in OUTCOMES]
    assert sum(functions) + sum(sum(waits(name)) for name in STAGES) < ASL["TimeoutSeconds"]


def played(**outcomes):
    """Walk the machine with stages that return, in order, what *outcomes* say; return the states and fail's input."""
    failed = []

    def stage(name):
        def task(payload):
            assert payload == PAYLOAD
            said = outcomes[name].pop(0)
            if isinstance(said, Exception):
                raise said
            return {"outcome": said}

        return task

    def fail(payload):
        failed.append(payload["outcome"])
        return {"outcome": "failed"}

    path = walk(PAYLOAD | FIRST, {name: stage(name) for name in OUTCOMES} | {"Fail": fail})
    return [state for state in path if state in TASKS], failed


def test_a_generation_passes_through_three_states():
    """Extract, consolidate, commit, over."""
    path, failed = played(Extract=["extracted"], Consolidate=["planned"], Commit=["committed"])
    assert (path, failed) == (["Extract", "Consolidate", "Commit"], [])


def test_no_place_is_no_failure_of_the_window():
    """What Lambda had no place for reaches fail by the name that it books without a try."""
    no_place = type("Lambda.TooManyRequestsException", (Exception,), {})()
    path, failed = played(Extract=[no_place])
    assert path == ["Extract", "Fail"]
    assert set(failed) <= set(NO_FAILURES)


def test_a_fault_of_lambda_is_no_failure_of_the_window():
    """What Lambda itself could not carry out takes no try either."""
    broken = type("Lambda.ServiceException", (Exception,), {})()
    assert set(played(Extract=[broken])[1]) <= set(NO_FAILURES)


def test_a_conflict_is_planned_again():
    """A scope that changed is consolidated again, without another extraction."""
    path, failed = played(Extract=["extracted"], Consolidate=["planned"] * 2, Commit=["conflict", "committed"])
    assert path == ["Extract", "Consolidate", "Commit", "Consolidate", "Commit"]
    assert failed == []


def test_a_scope_that_stays_busy_ends_the_loop():
    """After thirty conflicts the window waits in the table under a name of its own, and no try is counted."""
    path, failed = played(Extract=["extracted"], Consolidate=["planned"] * 31, Commit=["conflict"] * 31)
    assert path == ["Extract", *["Consolidate", "Commit"] * 31, "Fail"]
    assert failed == ["SCOPE_BUSY"]
    assert set(failed) <= set(NO_FAILURES)


@pytest.mark.parametrize(
    ("outcomes", "booked"),
    [
        ({"Extract": ["MODEL_UNAVAILABLE"]}, "MODEL_UNAVAILABLE"),
        ({"Extract": ["extracted"], "Consolidate": ["ERASING"]}, "ERASING"),
        ({"Extract": ["extracted"], "Consolidate": ["planned"], "Commit": [KeyError("secret")]}, "KeyError"),
        ({"Extract": [errors.OutOfReach("Throttled")]}, "OutOfReach"),
    ],
)
def test_what_fails_is_booked_by_its_name(outcomes, booked):
    """An outcome, or the name of what was raised, is all that `fail` is told."""
    assert played(**outcomes)[1] == [booked]


@pytest.mark.parametrize("late", [{"Extract": ["late"]}, {"Extract": ["extracted"], "Consolidate": ["late"]}])
def test_a_late_attempt_just_ends(late):
    """An attempt that lost its window books nothing."""
    assert played(**late)[1] == []


def replayed(*outcomes):
    """Walk the machine with a run of a replay that returns, in order, *outcomes*; return the tasks on the way."""
    said = list(outcomes)

    def run(payload):
        assert payload == {"bank": "b", "replay": "replay-1", "run": 2}
        one = said.pop(0)
        if isinstance(one, Exception):
            raise one
        return {"outcome": one}

    path = walk({"bank": "b", "replay": "replay-1", "run": 2, "kind": "replay"}, {"Replay": run})
    assert said == []
    return [state for state in path if state in TASKS]


def test_a_replay_goes_on_while_there_is_more():
    """A run that has windows left is called again, and nothing else of the machine is passed through."""
    assert replayed("more", "more", "replayed") == ["Replay"] * 3
    assert replayed("late") == ["Replay"]


def test_a_replay_that_raises_ends_its_execution():
    """The sweep starts another run of it; the error's cause does not travel on."""
    assert replayed(errors.OutOfReach("Throttled")) == ["Replay"]


def test_every_outcome_of_a_replay_is_handled():
    """The machine names no outcome that a run does not return."""
    rules, default = choices("Replay")
    assert set(rules) <= set(ReplayOutcome)
    assert default == "Over"
