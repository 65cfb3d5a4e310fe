"""The environment in which the functions are measured."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FUNCTION_ENVIRONMENT = {
    "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "shared", ROOT / "client"))),
    "TABLE_NAME": "table",
    "AUTH_MODE": "open",
    "STREAMBANK_MODEL": "bedrock",
    "STATE_MACHINE_ARN": "arn:aws:states:us-east-1:123456789012:stateMachine:generation",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench",
    "POWERTOOLS_LOG_LEVEL": "ERROR",
}
