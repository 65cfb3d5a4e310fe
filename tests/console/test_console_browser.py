"""The console in a browser: from what is typed to what is remembered, corrected, forgotten and gone."""

from __future__ import annotations

import re

import pytest

from streambank_client import Bank, Event, GenerationRule, Streambank
from tests.console.conftest import Tab, opened, started

pytestmark = pytest.mark.slow

HOSTILE = (
    "<script>document.title='owned'</script> <img src=x onerror=\"document.title='owned'\"> "
    "[link](javascript:alert(1)) `${document.title='owned'}` {{constructor.constructor('alert(1)')()}} "
    '" onmouseover="alert(1)" </textarea><!-- **bold** \u202egnp.exe\u202c \u0007 I like tea.'
)


def say(tab: Tab, *messages: str) -> None:
    for message in messages:
        tab.page.get_by_label("Message").fill(message)
        tab.page.get_by_label("Message").press("Enter")
        tab.page.locator(".turn", has_text=message).wait_for()


def test_a_conversation_is_remembered_explained_corrected_and_forgotten(tab: Tab, console: str, bank: Bank) -> None:
    """What is typed is counted down to its memory, whose way is shown; it is corrected, restored, forgotten, erased."""
    page = tab.open(f"{console}/try?scope.user_id=iris")
    say(tab, "I live in Graz.", "My dog is called Rex.")
    page.locator(".window", has_text=re.compile("closes if idle,\\s*in 4 min")).wait_for()
    page.get_by_role("button", name="+5 min").click()
    page.locator(".side .fact", has_text="I live in Graz").wait_for()

    page.locator(".turn", has_text="Graz").get_by_role("link", name="way").click()
    tab.ready()
    assert page.locator(".node.focus").all_inner_texts()[0].startswith("user")
    assert "no new event came for the idle time" in page.inner_text("#content")
    page.locator("svg.lines path.focus").nth(1).wait_for(state="attached")
    page.locator(".lane", has_text="Remembered").get_by_role("link").first.click()

    page.get_by_role("button", name="Correct it").click()
    page.get_by_label("Fact").fill("I live in Vienna")
    page.get_by_role("button", name="Save").click()
    page.locator(".timeline ins", has_text="Vienna").wait_for()
    assert page.locator(".timeline del").all_inner_texts() == ["Graz"]
    page.get_by_role("button", name="Restore this").click()
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    page.locator(".big", has_text="I live in Graz").wait_for()
    page.get_by_role("button", name="Forget it").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    page.get_by_text("This memory is deleted.").wait_for()

    page = tab.open(f"{console}/scope?scope.user_id=iris")
    assert page.locator(".memories .fact").all_inner_texts() == ["My dog is called Rex"]
    page.get_by_label("A word of the memories").fill("rex")
    page.get_by_role("button", name="Show what would be forgotten").click()
    page.get_by_role("dialog").get_by_text("My dog is called Rex").wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    page.get_by_text("Nothing is remembered here.").wait_for()
    page.get_by_role("button", name="Count what would be erased").click()
    page.get_by_role("dialog").get_by_text("2 events").wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Erase for good").click()
    page.wait_for_load_state()
    page.get_by_text("The scope is erased.").wait_for()
    assert bank.erase_scope(scope={"user_id": "iris"}, dry_run=True).result().would_erase.get("events", 0) == 0


def test_a_hostile_event_does_nothing(tab: Tab, console: str, bank: Bank) -> None:
    """Markup, templates, attributes and controls of an event are letters on every page that shows it."""
    scope = {"user_id": HOSTILE[:80]}
    bank.create_memory(scope=scope, fact=HOSTILE, metadata={"<b>": HOSTILE[:200]}).result()
    event = Event.from_text(HOSTILE, event_id=HOSTILE[:300])
    operation = bank.ingest_events(scope=scope, stream_id=HOSTILE[:60], events=[event], force_flush=True).wait()
    bank.ingest_events(scope=scope, stream_id=HOSTILE[:60], events=[Event.from_text(HOSTILE)])
    [memory] = [one.memory for one in bank.retrieve_all_memories(scope=scope) if one.memory.fact == HOSTILE]
    from streambank_console import paths

    for address in (
        paths.overview("default"),
        paths.windows("default"),
        paths.memories("default"),
        paths.scope("default", scope),
        paths.memory("default", memory.name),
        paths.window("default", operation.name),
        paths.event("default", scope, HOSTILE[:60], HOSTILE[:300]),
        paths.search("default", scope, HOSTILE),
        paths.try_it("default", scope, HOSTILE[:60]),
    ):
        page = tab.open(console.removesuffix("/banks/default") + address)
        assert "owned" not in page.title()
        assert page.locator("#content script, #content img, #content b, #content [onmouseover]").count() == 0
        assert "\u202e" not in page.inner_text("#content")
    assert "[U+202E]gnp.exe" in tab.open(f"{console}/memories").inner_text("#content")


def test_a_hidden_tab_asks_nothing(tab: Tab, console: str, service) -> None:
    """While nobody looks at the page it is not loaded again; once someone does, it is."""
    page = tab.open(console)
    hide = "hidden => { Object.defineProperty(document, 'hidden', {value: hidden, configurable: true});"
    hide += " document.dispatchEvent(new Event('visibilitychange')); }"
    page.evaluate(hide, True)
    page.wait_for_timeout(1_000)
    before = service.counters()["invocations"]
    page.wait_for_timeout(11_000)
    assert service.counters()["invocations"] == before
    page.evaluate(hide, False)
    page.wait_for_timeout(3_000)
    assert service.counters()["invocations"] != before


def test_a_search_leads_to_what_matched(tab: Tab, console: str, bank: Bank) -> None:
    """A query typed into the page ranks memories and pending events, and each leads on."""
    scope = {"user_id": "sam"}
    bank.create_memory(scope=scope, fact="I am allergic to peanuts").result()
    train = Event.from_text("My train leaves at nine.", event_id="t")
    bank.ingest_events(scope=scope, events=[train], generation_rule=GenerationRule(event_count=9))
    page = tab.open(f"{console}/search?scope.user_id=sam")
    page.get_by_label("Query").fill("Which allergy? Peanuts?")
    page.get_by_label("Query").press("Enter")
    page.locator(".rows tbody tr").first.wait_for()
    assert "peanuts" in page.locator(".rows tbody tr").first.inner_text()
    page.get_by_role("link", name="My train leaves").click()
    page.get_by_text("The window is open.").wait_for()


def test_a_window_is_replayed(tab: Tab, console: str, bank: Bank) -> None:
    """From its page a window is judged again, and both answers are shown side by side."""
    scope = {"user_id": "rae"}
    begun = bank.ingest_events(scope=scope, events=[Event.from_text("I keep bees.", event_id="b")], force_flush=True)
    bank.wait_operation(operation=begun.name)
    page = tab.open(f"{console}/windows/{begun.name.rsplit('/', 1)[-1]}")
    page.get_by_role("button", name="Replay").click()
    page.get_by_role("dialog").get_by_role("button", name="Replay").click()
    page.get_by_role("dialog").get_by_text("Verdicts of both answers").wait_for(state="attached")
    assert page.get_by_role("dialog").get_by_text("I keep bees").count() == 2


def test_the_overview_shows_the_policies(tab: Tab, console: str, service) -> None:
    """The rules of the content policy and what waits for a review are on the overview of their bank, as texts."""
    with Streambank(service.base_url, token="local") as client:
        config = {
            "contentPolicy": {"rules": [{"name": "HIVES", "pattern": "<b>hive</b>", "action": "REFUSE"}]},
            "reviewPolicy": {"actions": ["DELETED"]},
        }
        made = client.create_bank(config=config).result()
        page = tab.open(f"{console.rsplit('/', 1)[0]}/{made.id}")
        part = page.locator("section", has_text="What is kept out")
        assert "<b>hive</b>" in part.inner_text()
        assert "if memories are deleted" in part.inner_text()
        client.bank(made.id).delete(force=True)
    assert "The bank has no content policy." in tab.open(console).inner_text("#content")


def test_the_keyboard_is_enough(tab: Tab, console: str) -> None:
    """Two keys go to a page, a slash to the scope field, and no key acts while someone types."""
    page = tab.open(console)
    page.keyboard.press("g")
    page.keyboard.press("w")
    page.wait_for_url("**/windows")
    tab.ready()
    page.keyboard.press("/")
    page.keyboard.type("user_id=gw")
    page.keyboard.press("Enter")
    page.wait_for_url("**/scope?scope.user_id=gw")
    page.get_by_text("Nothing is remembered here.").wait_for()


def test_a_wrong_token_is_explained_and_shown_nowhere(browser, service) -> None:
    """The pages say what to do; the token is in no page, no storage, no cookie and no line of the console."""
    token = "token-of-a-test-3f9a"
    with started(service.base_url, token) as (address, process):
        with opened(browser, address) as tab:
            for place in ("", "/scope?scope.user_id=ada", "/try?scope.user_id=ada", "/windows"):
                page = tab.open(f"{address}/banks/default{place}")
                page.get_by_text("The service does not know this token.").first.wait_for()
                stored = page.evaluate(
                    "() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
                )
                assert token not in page.content() + stored
            assert page.context.cookies() == []
        process.terminate()
        assert token not in process.stdout.read()


def test_a_service_that_is_away_is_explained(browser) -> None:
    """Where no service answers, each page says how to start one."""
    with started("http://127.0.0.1:9") as (address, _), opened(browser, address) as tab:
        page = tab.open(f"{address}/banks/default/windows")
        assert "streambank serve" in page.inner_text(".problem")
