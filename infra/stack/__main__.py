"""`make test-stack`: proves what can be proved without AWS, and says what it could not do."""

import argparse
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from infra.stack import building, linting, roles, runtime
from infra.stack.deployment import Deployment, deploy
from infra.stack.emulator import ministack
from infra.stack.outcome import Outcome, Step, UnmetError, Verdict, failed, passed, prove, summary
from infra.stack.tools import BUILD, ROOT, environment
from tests.bedrock.converse_server import running
from tests.stack.reading_model import ReadingBedrock

DEPLOYED = BUILD / "deployment.json"
JOURNEYS = ROOT / "tests" / "journeys"
# A call takes the emulator's functions a second or two: these go through every function and route, in minutes.
CHOSEN = ("threads", "seed_examples", "banks", "identity", "memories", "operations", "sessions", "refusals")
# What MiniStack does otherwise than API Gateway; the journeys that show it, by how their names begin.
UNEMULATED = {
    "test_journey_refusals.py::test_body_beyond_the_gateway": "it has no limit on the size of a body",
    'test_journey_refusals.py::test_what_is_no_request_is_refused[{"scope": {"user_id": "\\xff': "it mends bytes "
    "that are not UTF-8, where API Gateway hands them on in base64",
}
JOURNEYS_SECONDS = 2_400
_BEDROCK = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"


def main() -> int:
    """Take all steps, print each as it ends, then the summary; return 1 if one failed."""
    asked = _arguments()
    ours = environment({"AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled"})
    os.environ.clear()
    os.environ.update(ours)
    outcomes: list[tuple[Step, Outcome]] = []
    with ExitStack() as running_tools:
        for step in _steps(running_tools, asked):
            print(f"... {step.claim}", flush=True)
            outcomes.append((step, prove(step)))
            print(f"    {outcomes[-1][1].verdict}: {outcomes[-1][1].detail}", flush=True)
    print("\n" + "\n".join(summary(outcomes)))
    return int(any(outcome.verdict is Verdict.FAILED for _, outcome in outcomes))


def _arguments() -> argparse.Namespace:
    asked = argparse.ArgumentParser(prog="python -m infra.stack", description=__doc__)
    asked.add_argument("--sdk", type=Path, help="a script that drives a base URL with Google's SDK, run by .venv-sdk")
    asked.add_argument("--all", action="store_true", help="play all journeys, half an hour of them")
    return asked.parse_args()


def _steps(tools: ExitStack, asked: argparse.Namespace) -> list[Step]:
    stack = _Stack(tools)
    journeys = [JOURNEYS] if asked.all else [_journey(name) for name in CHOSEN]
    return [
        Step("sam validate --lint", linting.sam_validates),
        Step("cfn-lint", linting.cfn_lint_finds_nothing),
        Step("checkov", linting.checkov_finds_what_is_accepted),
        Step("sam build", building.sam_builds),
        Step("sizes and contents", building.artefacts_are_small_and_whole),
        Step("recorded events, runtime emulator", stack.plays_events),
        Step("sam deploy, into MiniStack", stack.deploys),
        Step("roles are judged by MiniStack", stack.judges_roles),
        Step("journeys, concurrency suite, on MiniStack", partial(stack.plays_journeys, journeys)),
        Step("Google's SDK on MiniStack", partial(stack.drives_sdk, asked.sdk)),
    ]


def _journey(name: str) -> Path:
    return JOURNEYS / f"test_journey_{name}.py"


class _Stack:
    """The emulators, the model and the deployment that the later steps share."""

    def __init__(self, tools: ExitStack) -> None:
        self._tools = tools
        self._deployment: Deployment | None = None
        self._bedrock = ""

    def plays_events(self) -> Outcome:
        with running(ReadingBedrock()) as bedrock, ministack({}, BUILD / "runtime.log") as endpoint:
            return runtime.recorded_events_are_answered(endpoint, bedrock.url)

    def deploys(self) -> Outcome:
        building.functions()
        bedrock = self._tools.enter_context(running(ReadingBedrock()))
        # AUTH: roles and their policies are enforced.
        ours = {_BEDROCK: bedrock.url, "AUTH": "true"}
        endpoint = self._tools.enter_context(ministack(ours, BUILD / "ministack.log"))
        self._deployment = deploy(endpoint)
        self._deployment.write(DEPLOYED)
        left_out = ", ".join(self._deployment.left_out)
        return passed(f"with its roles enforced; left out, since MiniStack cannot have them: {left_out}")

    def judges_roles(self) -> Outcome:
        return roles.a_role_without_its_policy_is_refused(self._deployed())

    def plays_journeys(self, tests: list[Path]) -> Outcome:
        """Prove it in one process: the journeys' names for users and chats are fresh within one only."""
        self._deployed()
        report = BUILD / "journeys.xml"
        left_out = [word for name in UNEMULATED for word in ("--deselect", f"tests/journeys/{name}")]
        chosen = ["-m", "not slow", "-p", "no:xdist", f"--junit-xml={report}", *left_out]
        command: list[str | Path] = [sys.executable, "-m", "pytest", *tests, *chosen]
        where = {"STREAMBANK_STACK": str(DEPLOYED)}
        with (BUILD / "journeys.txt").open("w") as out:
            done = subprocess.run(  # noqa: S603  our own tests
                command, cwd=ROOT, env=environment(where), stdout=out, stderr=out, timeout=JOURNEYS_SECONDS, check=False
            )
        told = f"{_told(report)}; {len(UNEMULATED)} left out, since MiniStack differs there"
        return failed(f"{told}; see {out.name}") if done.returncode else passed(told)

    def drives_sdk(self, script: Path | None) -> Outcome:
        deployed = self._deployed()
        python = ROOT / ".venv-sdk" / "bin" / "python"
        if script is None or not python.exists():
            raise UnmetError("it needs .venv-sdk and a script: python -m infra.stack --sdk SCRIPT")
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
            raise UnmetError("nothing is deployed")
        return self._deployment


def _told(report: Path) -> str:
    """Return a line about a test run: how many passed, failed, and why some were skipped."""
    cases = ET.parse(report).getroot().iter("testcase")  # noqa: S314  pytest wrote it a moment ago
    verdicts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for case in cases:
        ends = [child for child in case if child.tag in {"failure", "error", "skipped"}]
        verdicts[ends[0].tag if ends else "passed"] += 1
        reasons.update(child.get("message", "") for child in ends if child.tag == "skipped")
    told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    return told + "".join(f"; {count} because it {reason}" for reason, count in sorted(reasons.items()))


if __name__ == "__main__":
    sys.exit(main())
