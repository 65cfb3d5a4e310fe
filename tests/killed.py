"""Local mode in a process that is killed while others ingest."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx

from tests.journeys.caller import DEFAULT_BANK, VERSION, said

ROOT = Path(__file__).resolve().parents[1]
RUN = "import sys; from streambank_local.__main__ import main; sys.exit(main())"
WAITS = {"idle_duration": "600s"}


class Process:
    """Local mode in a process of its own."""

    def __init__(self, data: Path) -> None:
        command = [sys.executable, "-c", RUN, "--port", "0", "--data", str(data)]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert str(data) in self.process.stdout.readline()
        ready = self.process.stdout.readline()
        assert ready.endswith(f"Ctrl-C stops it; the data stay in {data}.\n")
        self.url = next(word for word in ready.split() if word.startswith("http")).rstrip(",")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()


class Sender(threading.Thread):
    """Ingests into a stream of its own until the service is gone, and notes what was acknowledged."""

    def __init__(self, url: str, name: str, first: int) -> None:
        super().__init__()
        self.url, self.name, self.number = url, name, first
        self.acknowledged: list[str] = []
        self.sent: list[str] = []

    def body(self, event_ids: list[str]) -> Any:
        # Every third stream is generated at once, so that executions run when the process ends.
        rule = {} if self.name.endswith("0") else WAITS
        events = [said(f"I own the bicycle {event_id}.", event_id) for event_id in event_ids]
        return {
            "streamId": self.name,
            "scope": {"user_id": self.name},
            "directContentsSource": {"events": events},
            "generationTriggerConfig": {"generation_rule": rule},
        }

    def run(self) -> None:
        headers = {"authorization": "Bearer local"}
        with httpx.Client(base_url=self.url, headers=headers, timeout=30) as client:
            while True:
                self.number += 1
                event_id = f"{self.name}-{self.number}"
                self.sent.append(event_id)
                try:
                    reply = client.post(f"{VERSION}/{DEFAULT_BANK}/memories:ingestEvents", json=self.body([event_id]))
                except httpx.HTTPError:
                    return
                if reply.status_code == 200:
                    self.acknowledged.append(event_id)


def ingest_until_killed(data: Path, seconds: float, round_: int) -> list[Sender]:
    process = Process(data)
    senders = [Sender(process.url, f"stream-{round_}-{number}", 0) for number in range(6)]
    try:
        for sender in senders:
            sender.start()
        time.sleep(seconds)
    finally:
        process.kill()
        for sender in senders:
            sender.join()
    return senders
