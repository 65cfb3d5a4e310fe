"""`make test-stack`: proves what can be proved without AWS, and reports what it had to skip."""

import argparse
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from infra.stack import building, linting, restoring, roles, runtime, upgrade
from infra.stack.deployment import Deployment, deploy
from infra.stack.emulator import ministack
from infra.stack.outcome import Outcome, RequirementError, Status, Step, failed, passed, prove, summary
from infra.stack.smoke import SMOKE_SCOPE, broken, smoke
from infra.stack.tools import BUILD, ROOT, environment
from tests.bedrock.converse_server import running
from tests.stack.reading_model import ReadingBedrock

DEPLOYED = BUILD / "deployment.json"
JOURNEYS = ROOT / "tests" / "journeys"
# A call of the emulator's functions takes a second or two; these journeys use every function and route, in minutes.
CHOSEN = ("threads", "seed_examples", "banks", "identity", "memories", "operations", "sessions", "refusals")
# Where MiniStack differs from API Gateway: the prefixes of the journeys that depend on it, with the reasons.
UNEMULATED = {
    "test_journey_refusals.py::test_body_beyond_the_gateway": "it has no limit on the size of a body",
    'test_journey_refusals.py::test_what_is_no_request_is_refused[{"scope": {"user_id": "\\xff': "it replaces bytes "
    "that are not UTF-8, while API Gateway passes them on in base64",
    "test_journey_refusals.py::test_a_method_that_a_path_does_not_have_is_405[OPTIONS": "it answers OPTIONS itself",
}
JOURNEYS_SECONDS = 2_400
_BEDROCK = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"


def main() -> int:
    """Run all steps, print each outcome, then the summary; return 1 if one failed."""
    options = _parse()
    variables = environment({"AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled"})
    os.environ.clear()
    os.environ.update(variables)
    outcomes: list[tuple[Step, Outcome]] = []
    with ExitStack() as running_tools:
        for step in _steps(running_tools, options):
            print(f"... {step.claim}", flush=True)
            outcomes.append((step, prove(step)))
            print(f"    {outcomes[-1][1].status}: {outcomes[-1][1].detail}", flush=True)
    print("\n" + "\n".join(summary(outcomes)))
    return int(any(outcome.status is Status.FAILED for _, outcome in outcomes))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m infra.stack", description=__doc__)
    parser.add_argument("--sdk", type=Path, help="a script that calls a base URL with Google's SDK, run by .venv-sdk")
    parser.add_argument("--all", action="store_true", help="run all journeys, which takes half an hour")
    return parser.parse_args()


def _steps(tools: ExitStack, options: argparse.Namespace) -> list[Step]:
    stack = _Stack(tools)
    journeys = [JOURNEYS] if options.all else [_journey(name) for name in CHOSEN]
    return [
        Step("sam validate --lint", linting.sam_validates),
        Step("cfn-lint", linting.cfn_lint_finds_nothing),
        Step("checkov", linting.checkov_finds_what_is_accepted),
        Step("sam build", building.sam_builds),
        Step("sizes and contents", building.artefacts_are_small_and_whole),
        Step("recorded events, runtime emulator", stack.run_events),
        Step("sam deploy, into MiniStack", stack.deploy_template),
        Step("roles are enforced by MiniStack", stack.check_roles),
        Step("vector index, local mode's and MiniStack's", stack.compare_vectors),
        Step("smoke test, on MiniStack", stack.run_smoke),
        Step("two stacks side by side, on MiniStack", stack.deploy_second),
        Step("upgrade under traffic, on MiniStack", stack.upgrade),
        Step("journeys, concurrency suite, on MiniStack", partial(stack.run_journeys, journeys)),
        Step("Google's SDK on MiniStack", partial(stack.run_sdk, options.sdk)),
        Step("restoring the table, on MiniStack", stack.restore),
    ]


def _journey(name: str) -> Path:
    return JOURNEYS / f"test_journey_{name}.py"


class _Stack:
    """The emulators, the model and the deployment that the later steps share."""

    def __init__(self, tools: ExitStack) -> None:
        self._tools = tools
        self._deployment: Deployment | None = None
        self._bedrock = ""

    def run_events(self) -> Outcome:
        with running(ReadingBedrock()) as bedrock, ministack({}, BUILD / "runtime.log") as endpoint:
            return runtime.recorded_events_succeed(endpoint, bedrock.url)

    def deploy_template(self) -> Outcome:
        building.functions()
        bedrock = self._tools.enter_context(running(ReadingBedrock()))
        # AUTH: roles and their policies are enforced.
        variables = {_BEDROCK: bedrock.url, "AUTH": "true"}
        endpoint = self._tools.enter_context(ministack(variables, BUILD / "ministack.log"))
        self._deployment = deploy(endpoint)
        self._deployment.write(DEPLOYED)
        left_out = ", ".join(self._deployment.left_out)
        return passed(f"with its roles enforced; left out, because MiniStack cannot create them: {left_out}")

    def check_roles(self) -> Outcome:
        return roles.a_role_without_its_policy_is_refused(self._deployed())

    def run_smoke(self) -> Outcome:
        findings = smoke(self._deployed(), SMOKE_SCOPE, with_schedule=True)
        wrong = broken(findings)
        return failed(wrong) if wrong else passed(", ".join(finding.part for finding in findings))

    def deploy_second(self) -> Outcome:
        return upgrade.two_stacks_lie_side_by_side(self._deployed())

    def upgrade(self) -> Outcome:
        return upgrade.an_upgrade_loses_no_call(self._deployed())

    def restore(self) -> Outcome:
        return restoring.a_restored_table_takes_over(self._deployed())

    def compare_vectors(self) -> Outcome:
        """Run the tests of local mode's vector index against MiniStack's."""
        return self._run_tests("vectors", [ROOT / "tests" / "stack" / "test_vector_index.py"])

    def run_journeys(self, tests: list[Path]) -> Outcome:
        left_out = [word for name in UNEMULATED for word in ("--deselect", f"tests/journeys/{name}")]
        outcome = self._run_tests("journeys", tests, left_out)
        return replace(outcome, detail=f"{outcome.detail}; {len(UNEMULATED)} left out, because MiniStack differs there")

    def _run_tests(self, name: str, tests: list[Path], options: Sequence[str] = ()) -> Outcome:
        """Run *tests* in one process: the journeys' names of users and chats are unique only within one."""
        self._deployed()
        report = BUILD / f"{name}.xml"
        chosen = ["-m", "not slow", "-p", "no:xdist", f"--junit-xml={report}", *options]
        command: list[str | Path] = [sys.executable, "-m", "pytest", *tests, *chosen]
        variables = {"STREAMBANK_STACK": str(DEPLOYED)}
        with (BUILD / f"{name}.txt").open("w") as out:
            done = subprocess.run(  # noqa: S603  our own tests
                command,
                cwd=ROOT,
                env=environment(variables),
                stdout=out,
                stderr=out,
                timeout=JOURNEYS_SECONDS,
                check=False,
            )
        line = _summary_of(report)
        return failed(f"{line}; see {out.name}") if done.returncode else passed(line)

    def run_sdk(self, script: Path | None) -> Outcome:
        deployed = self._deployed()
        python = ROOT / ".venv-sdk" / "bin" / "python"
        if script is None or not python.exists():
            raise RequirementError("it needs .venv-sdk and a script: python -m infra.stack --sdk SCRIPT")
        done = subprocess.run(  # noqa: S603  the caller's own script
            [python, script, deployed.url, "--token", deployed.key],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=JOURNEYS_SECONDS,
            check=False,
        )
        (BUILD / "sdk.txt").write_text(done.stdout + done.stderr)
        last = done.stdout.strip().splitlines()[-1:]
        return failed(f"{last}; see build/stack/sdk.txt") if done.returncode else passed(" ".join(last))

    def _deployed(self) -> Deployment:
        if self._deployment is None:
            raise RequirementError("nothing is deployed")
        return self._deployment


def _summary_of(report: Path) -> str:
    """Return a line about a test run: how many passed, failed, and why some were skipped."""
    cases = ET.parse(report).getroot().iter("testcase")  # noqa: S314  pytest wrote it a moment ago
    statuses: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for case in cases:
        ends = [child for child in case if child.tag in {"failure", "error", "skipped"}]
        statuses[ends[0].tag if ends else "passed"] += 1
        reasons.update(child.get("message", "") for child in ends if child.tag == "skipped")
    line = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    return line + "".join(f"; {count} because it {reason}" for reason, count in sorted(reasons.items()))


if __name__ == "__main__":
    sys.exit(main())
