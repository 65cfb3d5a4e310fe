"""Every page of the console, checked by axe, light and dark, at the widths of a laptop and of a phone."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from streambank_client import Bank, Event, GenerationRule
from tests.console.conftest import LAPTOP, PHONE, ROOT, opened

pytestmark = pytest.mark.slow
PICTURES = ROOT / "docs" / "pictures" / "console"
ADA = {"user_id": "ada"}
RULE = GenerationRule(event_count=4)
MONDAY = (
    ("user", "I live in Graz and keep three hives of bees."),
    ("user", "I am allergic to peanuts."),
    ("model", "Then I will leave them out. Does your sister still visit?"),
    ("user", "My sister Mia visits me each spring."),
)
FRIDAY = (
    ("user", "I moved to Vienna last week."),
    ("user", "Please forget that I keep bees."),
    ("model", "I will. Is there anything new?"),
    ("user", "I play the cello on Sundays."),
)


@pytest.fixture(scope="module")
def pages(bank: Bank, service) -> dict[str, str]:
    """The address of each page, after a made-up conversation of two windows and a half."""
    for day, turns in (("monday", MONDAY), ("friday", FRIDAY)):
        events = [Event.from_text(words, role=role, event_id=f"{day}-{n}") for n, (role, words) in enumerate(turns, 1)]
        operation = bank.ingest_events(scope=ADA, stream_id="chat", events=events, generation_rule=RULE).wait()
    waiting = Event.from_text("My train leaves at nine.", event_id="sunday-1")
    bank.ingest_events(scope=ADA, stream_id="chat", events=[waiting])
    bank.ingest_events(
        scope={"user_id": "grace", "app": "shop"},
        stream_id="order",
        events=[Event.from_text("Where is my order?", event_id="1")],
        generation_rule=GenerationRule(idle_duration=timedelta(minutes=5)),
    )
    service.wait_until_idle()
    memories = [one.memory for one in bank.retrieve_all_memories(scope=ADA)]
    [vienna] = [one for one in memories if "Vienna" in one.fact]
    who = "scope.user_id=ada"
    return {
        "overview": "",
        "windows": "/windows",
        "memories": "/memories",
        "scope": f"/scope?{who}",
        "memory": f"/memories/{vienna.id}",
        "way": f"/event?{who}&stream=chat&id=friday-1",
        "window": f"/windows/{operation.name.rsplit('/', 1)[-1]}",
        "search": f"/search?{who}&q=Where+do+I+live%3F",
        "try-it": f"/try?{who}&stream=chat",
        "no-scope": "/search",
        "not-there": "/windows/nothing",
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", ["laptop", "phone"])
def test_axe_finds_nothing_serious(browser, console, pages, scheme, width) -> None:
    """No page has a serious or critical fault of WCAG 2.2 AA, and none is wider than its screen."""
    from axe_playwright_python.sync_playwright import Axe

    faults = {}
    with opened(browser, console, color_scheme=scheme) as tab:
        tab.page.set_viewport_size(LAPTOP if width == "laptop" else PHONE)
        for name, address in pages.items():
            page = tab.open(console + address)
            page.wait_for_timeout(300)
            report = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]})
            faults |= {
                f"{name}: {one['id']}": [node["target"] for node in one["nodes"]]
                for one in report.response["violations"]
                if one["impact"] in ("serious", "critical")
            }
            if page.evaluate("() => document.documentElement.scrollWidth > innerWidth"):
                faults[name] = "wider than the screen"
    assert faults == {}


@pytest.mark.skipif(not os.environ.get("STREAMBANK_PICTURES"), reason="only for `make console-pictures`")
@pytest.mark.parametrize("name", ["overview", "scope", "memory", "way", "search", "try-it"])
def test_pictures_are_taken(browser, console, pages, name) -> None:
    """The pictures of docs/console.md show the pages as they are."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with opened(browser, console) as tab:
        page = tab.open(console + pages[name])
        page.wait_for_timeout(500)
        page.screenshot(path=PICTURES / f"{name}.png", full_page=True)
    assert Path(PICTURES / f"{name}.png").stat().st_size < 220_000
