"""`streambank doctor`: whether each part of a service works, and what cures one that does not."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator

import click
import httpx

from streambank_local.command.connection import Connection, connected
from streambank_local.doctor.checks import Smoke
from streambank_local.doctor.cures import Finding
from streambank_local.doctor.reachability import reachability

CALL_SECONDS = 35.0  # API Gateway waits 30 s for a function


@click.command(
    epilog="\b\nExamples:\n  streambank doctor http://127.0.0.1:8080\n"
    "  streambank doctor URL --token KEY --stack streambank --region eu-central-1\n",
)
@connected
@click.option("--with-schedule", is_flag=True, help="also wait for the schedule: two to four minutes")
@click.option("--stack", help="the stack's name: checks its alarms and quotas too, with your AWS credentials")
@click.option("--region", help="the stack's region, for --stack")
@click.option("--wait-seconds", type=float, default=180.0, show_default=True, help="the most for a generation")
@click.argument("service_url", metavar="[URL]", required=False)
def doctor(
    connection: Connection,
    with_schedule: bool,  # noqa: FBT001
    stack: str | None,
    region: str | None,
    wait_seconds: float,
    service_url: str | None,
) -> int:
    """Check the service at URL, or at --url: reachability, clock, version, key, model, embedder, stream, schedule.

    One event is sent and a memory is made of it, in a scope `smoke` of its own, so the key needs the roles ingest and
    read.
    """
    url = (service_url or connection.url).rstrip("/")
    headers = {"authorization": f"Bearer {connection.token}"}
    findings = []
    with httpx.Client(base_url=url, headers=headers, timeout=CALL_SECONDS) as http:
        for finding in _findings(http, connection.bank_id, wait_seconds, with_schedule=with_schedule):
            findings.append(finding)
            _tell(connection, finding)
    for finding in _of_stack(stack, region) if stack else ():
        findings.append(finding)
        _tell(connection, finding)
    if connection.is_json:
        connection.write({"findings": [one.document() for one in findings]}, [])
    return int(any(not one.works for one in findings))


def _findings(http: httpx.Client, bank: str, wait_seconds: float, *, with_schedule: bool) -> Iterator[Finding]:
    reached = list(reachability(http, time.time()))
    yield from reached
    if all(one.works for one in reached[:1]):
        smoke = Smoke(http, bank, {"smoke": uuid.uuid4().hex}, time.sleep, wait_seconds)
        yield from smoke.findings(with_schedule=with_schedule)


def _of_stack(stack: str, region: str | None) -> Iterator[Finding]:
    # Imported here: boto3 takes a second, and the other checks do not need it.
    from streambank_local.doctor import aws  # noqa: PLC0415

    return aws.findings(stack, region)


def _tell(connection: Connection, finding: Finding) -> None:
    if not connection.is_json:
        print("\n".join(finding.lines()), flush=True)
