"""CPU time, as a multiple of a reference that is measured beside it."""

from __future__ import annotations

import compileall
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from aws_lambda_powertools import Logger

from benchmarks.environment import FUNCTION_ENVIRONMENT, ROOT
from benchmarks.stub import ingest_handler

RUNS = 7
FLOOR = "from aws_lambda_powertools import Logger; import boto3; Logger(); boto3.client('dynamodb')"
FUNCTIONS = ("ingest", "api", "on_stream", "on_schedule", "extract", "consolidate", "commit", "fail")
# The most that a function may cost at its start, as a multiple of the floor.
LIMITS = {"ingest": 1.25, "api": 2.0}
CALLS = 300


def process_seconds(code: str) -> float:
    """Return the CPU of a Python process that runs *code*."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, **FUNCTION_ENVIRONMENT})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def start_report() -> list[str]:
    """Return the CPU of starting each function: medians of seven processes, each beside a process of the floor.

    The speed of a shared machine drifts, so ratios are taken pair by pair.
    """
    compileall.compile_dir(str(ROOT / "shared"), quiet=2)
    compileall.compile_dir(str(ROOT / "functions"), quiet=2)
    bare = statistics.median(process_seconds(FLOOR) / process_seconds("pass") for _ in range(RUNS))
    lines = [f"{'':24}{'x bare Python':>14}{'x Logger and a client':>23}", f"{'floor':24}{bare:>14.1f}{1:>23.2f}"]
    for name in FUNCTIONS:
        code = f"import functions.{name}"
        ratio = statistics.median(process_seconds(code) / process_seconds(FLOOR) for _ in range(RUNS))
        lines.append(f"{name:24}{ratio * bare:>14.1f}{ratio:>23.2f}{_limit_note(ratio, LIMITS.get(name))}")
    return lines


def _limit_note(ratio: float, limit: float | None) -> str:
    if limit is None:
        return ""
    return f"  (limit {limit})" if ratio <= limit else f"  OVER THE LIMIT of {limit}"


def _cpu(call: Callable[[], Any]) -> float:
    begun = time.process_time()
    for _ in range(CALLS):
        call()
    return (time.process_time() - begun) / CALLS


def handler_report() -> list[str]:
    """Return the CPU of a call of the ingest handler beside a handler that returns at once.

    DynamoDB's replies are fixed and need no emulator: what is measured is the handler's own work and boto3's
    serialising.
    """
    logger = Logger(service="bench", level="ERROR")

    @logger.inject_lambda_context
    def bare(event: dict[str, Any], context: Any) -> dict[str, Any]:
        return {"statusCode": 200, "body": json.dumps({"name": json.loads(event["body"])["streamId"]})}

    lines = [f"{'':24}{'x bare handler':>14}"]
    for size in (1, 10, 97):
        handler, event, context = ingest_handler(size)
        floor = statistics.median(_cpu(lambda e=event, c=context: bare(e, c)) for _ in range(RUNS))
        ours = statistics.median(_cpu(lambda h=handler, e=event, c=context: h(e, c)) for _ in range(3))
        lines.append(f"{size:>4} events a call       {ours / floor:>14.1f}")
    return lines
