"""`make test-stack` itself: a step that cannot be done is no success, and one that breaks keeps no other waiting."""

from pathlib import Path

import httpx
import pytest

from infra import restore
from infra.stack import building, restoring, upgrade
from infra.stack.__main__ import _summary_of
from infra.stack.outcome import RequirementError, Status, Step, failed, passed, prove, skipped, summary
from infra.stack.runtime import EXPECTED
from infra.stack.tools import environment
from tests.functions.declared import FUNCTIONS


def unmet():
    raise RequirementError("no Python 3.13")


def broken():
    raise RuntimeError("oh")


def test_what_a_step_lacks_is_a_skip():
    """A missing tool is reported, and is neither a success nor a failure."""
    assert prove(Step("x", unmet)) == skipped("no Python 3.13")


def test_a_step_that_breaks_has_failed():
    """Every exception of a step is its failure."""
    assert prove(Step("x", broken)) == failed("RuntimeError: oh")


def test_the_summary_counts_every_verdict():
    """The last line counts passed, failed and skipped steps; each step has one line."""
    outcomes = [(Step("one", broken), passed("fine")), (Step("two", unmet), skipped("no Python 3.13"))]
    lines = summary(outcomes)
    assert lines[-1] == "1 passed, 0 failed, 1 skipped"
    assert [Status.SKIPPED in line for line in lines[:2]] == [False, True]


def test_every_function_has_an_expected_answer():
    """No function of the template is left out where recorded events are played."""
    assert set(EXPECTED) == set(FUNCTIONS)


def test_no_tool_receives_the_callers_account(monkeypatch):
    """Credentials and profiles of the caller's own never reach a tool."""
    monkeypatch.setenv("AWS_PROFILE", "mine")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "mine")
    assert "mine" not in environment().values()


def test_native_modules_are_looked_for_on_both_processors():
    """A module's twin has the other processor in its name, whichever way round."""
    arm, intel = Path("a/_x.cpython-313-aarch64-linux-gnu.so"), Path("a/_x.cpython-313-x86_64-linux-gnu.so")
    assert (building._counterpart(arm), building._counterpart(intel)) == (intel, arm)


def test_reasons_of_skipped_journeys_are_summary_of(tmp_path):
    """A summary of a test run names why tests were skipped, and how many each time."""
    skip = '<testcase><skipped message="needs a clock"/></testcase>'
    (tmp_path / "run.xml").write_text(f"<testsuites><testsuite><testcase/>{skip}{skip}</testsuite></testsuites>")
    assert _summary_of(tmp_path / "run.xml") == "1 passed, 2 skipped; 2 because it needs a clock"


def test_restoring_runs_the_pages_own_commands():
    """The page has a command that restores and one that switches; every word that the step replaces is in the first."""
    first, second = restoring.commands()
    parser = restore._parser()
    options = {word for word in first.split() if word.startswith("--")}
    assert {"--region", "--table", "--to", "--at"} == options <= set(parser.format_help().replace(",", " ").split())
    assert {"REGION", "TABLE", "RESTORED"} <= set(first.split())
    assert second.startswith("sam deploy --parameter-overrides RestoredTable=RESTORED RestoredTableStreamArn=")


def no_reply(request):
    raise httpx.ReadTimeout("slow", request=request)


@pytest.mark.parametrize(("answer", "status"), [(no_reply, upgrade.NO_REPLY), (lambda _: httpx.Response(502), 502)])
def test_a_call_without_a_reply_does_not_end_the_traffic(answer, status):
    """While a stack is upgraded a call may end in silence; it is counted, and is no exception."""
    with httpx.Client(base_url="http://test", transport=httpx.MockTransport(answer)) as http:
        assert upgrade._status(http, {}) == status
