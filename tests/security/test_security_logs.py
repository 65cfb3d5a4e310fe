"""Logs: one line is one JSON object, and holds nothing of what was said."""

import ast
import json
from pathlib import Path

import pytest

import functions
from streambank import telemetry
from streambank.errors import OutOfReach
from streambank.model.window import Attempt
from tests import logs

FUNCTIONS = Path(functions.__path__[0])
# Those that hold text of events or a model's answer in their hands, and whose faults Lambda itself would log.
READERS_OF_TEXT = ("extract", "consolidate", "commit")
SAID = "I am Ada of 1 Analytical Way"
HOSTILE = [
    'x", "level": "CRITICAL", "message": "forged',
    'a\n{"level": "ERROR", "message": "forged"}',
    "a\r\nb\u2028c\u2029d\x85e",
    "\x1b[2J\x1b]0;owned\x07",
    "\x00\x08\x7f",
    "\ud800",
    "}" * 50,
]


@pytest.fixture
def lines():
    """What the service's logger writes, as it writes it."""
    with logs.written() as stream:
        yield lambda: stream.getvalue().removesuffix("\n").split("\n")


@pytest.mark.parametrize("text", HOSTILE)
def test_a_log_line_stays_one_line(lines, text):
    """Whatever a name or a model's failure is made of, it is a string in one line's JSON, in plain ASCII."""
    telemetry.failed(Attempt(text, text, 1, 1), text, is_parked=False, failures=1)
    [line] = lines()
    assert line.isascii()
    assert min(line) >= " "
    found = json.loads(line)
    assert (found["bank"], found["operation"], found["outcome"]) == (text, f"{text}-1", text)
    assert (found["level"], found["message"]) == ("WARNING", telemetry.GENERATION_FAILED)


class SaysIt(Exception):
    def __str__(self):
        return SAID


def raised(fault):
    try:
        raise fault from ValueError(SAID)
    except Exception as caught:
        return caught


def test_a_fault_is_logged_without_what_it_says(lines):
    """Type and places: neither the message nor that of the fault behind it."""
    telemetry.log_fault(raised(SaysIt()))
    [line] = lines()
    assert SAID not in line
    assert json.loads(line)["fault"] == "SaysIt"
    assert any("test_security_logs.py" in place for place in json.loads(line)["places"])


@pytest.mark.parametrize(
    "fault", [SaysIt(), KeyError(SAID), UnicodeEncodeError("utf-8", SAID, 0, 1, SAID), OutOfReach("x")]
)
def test_a_crash_keeps_its_name_and_nothing_else(lines, fault):
    """What Lambda logs and the state machine books is the fault's name: no message, no cause, no argument."""
    with pytest.raises(telemetry.Crash) as crash, telemetry.redact_exceptions():
        raise raised(fault)
    assert type(crash.value).__name__ == type(fault).__name__
    assert (str(crash.value), crash.value.args) == ("", ())
    assert crash.value.__cause__ is None
    assert crash.value.__suppress_context__
    assert SAID not in "".join(lines())


def test_nothing_changes_where_nothing_fails(lines):
    """A function that ends well returns what it returned, and logs nothing of its own."""

    @telemetry.redact_exceptions()
    def answer():
        return 42

    assert (answer(), answer()) == (42, 42)
    assert lines() == [""]


def decorators(path):
    [handler] = [
        node
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name == "handler"
    ]
    return [ast.unparse(one) for one in handler.decorator_list]


@pytest.mark.parametrize("name", READERS_OF_TEXT)
def test_no_function_that_reads_text_lets_lambda_quote_it(name):
    """The functions of a generation are wrapped; the two that answer callers have their own last line."""
    assert decorators(FUNCTIONS / f"{name}.py") == ["telemetry.redact_exceptions()"]


def log_calls():
    """Every call of a logger in what is deployed, with the file that it stands in."""
    root = Path(telemetry.__file__).parent
    for path in [*root.rglob("*.py"), *FUNCTIONS.glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            named = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if (
                named == "print"
                or named.split(".")[0] in {"LOGGER", "warnings", "logging", "_log", "log"}
                or named == "telemetry.stage_ended"
            ):
                yield path, named, node


def test_one_module_logs_and_its_messages_are_names():
    """Only telemetry writes to the log, and what it writes is a constant with fields beside it."""
    calls = list(log_calls())
    elsewhere = {
        (path.name, named)
        for path, named, _ in calls
        if path.name != "telemetry.py" and named != "telemetry.stage_ended"
    }
    assert elsewhere == set()
    ours = [node.args[0] for path, named, node in calls if path.name == "telemetry.py" and "LOGGER." in named]
    assert {ast.unparse(message) for message in ours if not is_named(message)} == {"stage"}
    stages = [node.args[0] for _, named, node in calls if named == "telemetry.stage_ended"]
    assert len(stages) == len(READERS_OF_TEXT)
    assert all(map(is_named, stages))


def is_named(node):
    """Tell whether a message is a constant of telemetry's."""
    return (getattr(node, "id", None) or getattr(node, "attr", "")).isupper()
