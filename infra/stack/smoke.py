"""The smoke test's checks against a deployment in the emulator."""

import time
from collections.abc import Mapping

import httpx

from infra.stack.deployment import Deployment
from streambank_local.doctor.checks import QUESTION, Smoke
from streambank_local.doctor.cures import Finding

BANK = "default"
# A generation takes seconds, and minutes on a machine that does other things at the same time.
WAIT_SECONDS = 600.0
# The scope of the first smoke test; restoring looks for its memory.
SMOKE_SCOPE = {"smoke": "stack"}


def smoke(deployed: Deployment, scope: Mapping[str, str], *, with_schedule: bool) -> list[Finding]:
    """Run the checks that a deployer runs: an event in, a memory out; perhaps a window for the sweep."""
    with calling(deployed) as http:
        return list(Smoke(http, BANK, scope, time.sleep, WAIT_SECONDS).findings(with_schedule=with_schedule))


def facts(deployed: Deployment, scope: Mapping[str, str]) -> list[str]:
    """Return what a search finds of the memories that the smoke test made in *scope*."""
    body = {
        "scope": {**scope, "smoke_stream": "now"},
        "similaritySearchParams": {"searchQuery": QUESTION, "topK": 3},
    }
    with calling(deployed) as http:
        reply = http.post(f"/v1/memoryBanks/{BANK}/memories:retrieve", json=body)
        reply.raise_for_status()
    return [row["memory"]["fact"] for row in reply.json().get("retrievedMemories", [])]


def broken(findings: list[Finding]) -> str:
    """Return what does not work, with its cure; empty if everything works."""
    return "; ".join(line for finding in findings if not finding.works for line in finding.lines())


def calling(deployed: Deployment) -> httpx.Client:
    """Return a client with the deployment's key."""
    return httpx.Client(base_url=deployed.url, headers={"authorization": f"Bearer {deployed.key}"}, timeout=60)
