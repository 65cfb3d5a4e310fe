"""A batch of memories that takes too long."""

from datetime import datetime, timedelta
from typing import Any

from tests.api.routes import NOW, Api

SCOPE = {"user_id": "1"}


class SlowClock:
    """Goes on by a second with each look at it."""

    def __init__(self) -> None:
        self.looks = 0

    def now(self) -> datetime:
        self.looks += 1
        return NOW + timedelta(seconds=self.looks)


def test_the_rest_of_a_slow_batch_is_told_to_be_sent_again(api: Api, emulator: Any) -> None:
    """After 15 s each request that is left has the error 503; those before are done, and sending all again ends it."""
    requests = [{"memory": {"scope": SCOPE, "fact": f"Has {number} bees."}} for number in range(30)]
    slow = Api(emulator, SlowClock())
    results = slow.call("POST", "/default/memories:batchCreate", {"requests": requests})["results"]
    codes = [one.get("error", {}).get("code") for one in results]
    done = codes.count(None)
    assert 1 <= done < 30
    assert codes == [None] * done + [503] * (30 - done)
    stored = api.call("GET", "/default/memories")["memories"]
    assert {one["fact"] for one in stored} == {f"Has {number} bees." for number in range(done)}
