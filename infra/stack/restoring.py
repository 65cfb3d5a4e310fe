"""Restoring the table, as docs/operating.md describes it."""

import re
from datetime import UTC, datetime

from infra.stack.deployment import NAME, Deployment, DeploymentError, client, command_line, outputs, update
from infra.stack.outcome import Outcome, failed, passed
from infra.stack.smoke import SMOKE_SCOPE, broken, facts, smoke
from infra.stack.tools import REGION, ROOT

RESTORED = "streambank-restored"
PAGE = ROOT / "docs" / "operating.md"
HEADING = "## Restoring the table"


def a_restored_table_takes_over(deployed: Deployment) -> Outcome:
    """Prove that the page's two commands bring the memories back, and that the stack works on with the new table.

    MiniStack restores the present state whatever the time is, so nothing is written between the two.
    """
    before = facts(deployed, SMOKE_SCOPE)
    table = deployed.outputs["TableName"]
    switch = _restore(deployed, table)
    update(deployed.endpoint, NAME, *switch)
    after = facts(deployed, SMOKE_SCOPE)
    used = outputs(deployed.endpoint, NAME)["TableName"]
    kept = client("dynamodb", deployed.endpoint).describe_table(TableName=table)["Table"]["TableStatus"]
    if not before or (before, RESTORED, "ACTIVE") != (after, used, kept):
        return failed(f"facts {before}, then {after}; the stack uses {used}; its old table is {kept}")
    findings = smoke(deployed, {"smoke": "restored"}, with_schedule=False)
    wrong = broken(findings)
    return failed(wrong) if wrong else passed("memories and keys as before; new events become memories")


def commands() -> list[str]:
    """Return the commands of the page's section, in order."""
    section = PAGE.read_text().partition(HEADING)[2].partition("\n## ")[0]
    return re.findall(r"^    (\S.*)$", section, re.MULTILINE)


def _restore(deployed: Deployment, table: str) -> list[str]:
    """Run the page's first command, and return the parameters of the second, which it printed."""
    words = commands()[0].split()
    given = {"REGION": REGION, "TABLE": table, "RESTORED": RESTORED}
    words = [given.get(word, word) for word in words]
    words[words.index("--at") + 1] = datetime.now(UTC).isoformat(timespec="seconds")
    status, output = command_line(deployed.endpoint, words)
    if status:
        raise DeploymentError(output)
    return output.strip().splitlines()[-1].partition("--parameter-overrides ")[2].split()
