"""Takes a reminder in, ripe at once or due later."""

import json
import time
from typing import Any

import sample_wiring

_table = sample_wiring.table()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    request = json.loads(event.get("body") or "{}")
    time.sleep(request.get("seconds_to_work", 0))
    delay = request.get("delay", 0)
    due = {"G1PK": "DUE#3", "G1SK": int(sample_wiring.now()) + delay} if delay else {}
    item = {"PK": event["pathParameters"]["name"], "SK": "HEAD", "ripe": 0 if delay else 1, "blob": b"\x00\xff"}
    _table.put_item(Item=item | due)
    left = str(context.get_remaining_time_in_millis())
    return {"statusCode": 201, "body": json.dumps({"due": due.get("G1SK")}), "headers": {"X-Left": left}}
