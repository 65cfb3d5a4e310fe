"""The command `streambank`, against the whole service."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator

import pytest

from streambank_client.types import Usage
from streambank_local.command.main import cli, main
from streambank_local.command.streams import usage_lines
from streambank_local.service import LocalService

ADA = ("--scope", "user_id=ada")


@pytest.fixture(scope="module")
def service() -> Iterator[LocalService]:
    with LocalService(timer_enabled=False) as service:
        yield service


@pytest.fixture
def run(service, monkeypatch, capsys):
    """Run the command with --json against the service, and return the status and the document that it prints."""
    monkeypatch.setenv("STREAMBANK_URL", service.base_url)
    monkeypatch.setenv("STREAMBANK_TOKEN", "local")

    def run(*arguments: str, typed: str | None = None):
        if typed is not None:
            monkeypatch.setattr(sys, "stdin", Typed(typed))
        status = main([*arguments, "--json"])
        return status, json.loads(capsys.readouterr().out)

    return run


class Typed:
    """Standard input that is no terminal."""

    def __init__(self, text: str) -> None:
        self._lines = iter(text.splitlines(keepends=True))

    def readline(self, *_):
        return next(self._lines, "")

    def isatty(self):
        return False

    def fileno(self):
        raise OSError


def facts(document):
    return [one["fact"] for one in document["memories"]]


def test_a_chat_becomes_memories_that_are_found_and_explained(run, tmp_path):
    """What is typed is remembered, is found by a search, and can be followed from its memory back to its words."""
    status, told = run("chat", *ADA, "--every", "2", typed="I live in Graz.\nI keep bees.\n/quit\n")
    assert status == 0
    assert {one["verdict"] for one in told["verdicts"]} == {"CREATED"}
    assert sorted(facts(run("memories", *ADA)[1])) == ["I keep bees", "I live in Graz"]
    nearest = run("search", "Where do I live?", *ADA)[1]["retrievedMemories"][0]["memory"]
    assert nearest["fact"] == "I live in Graz"


def test_a_search_looks_back(run):
    """A search as of a time before anything was known finds nothing; one as of today says how far it reaches."""
    scope = ("--scope", "user_id=clio")
    run("chat", *scope, "--every", "1", typed="I live in Graz.\n/quit\n")
    now = run("search", "Where?", *scope, "--as-of", "2999-01-01")[1]
    assert [one["memory"]["fact"] for one in now["retrievedMemories"]] == ["I live in Graz"]
    assert now["historyStartTime"] == now["retrievedMemories"][0]["memory"]["eventTime"].replace("Z", "+00:00")
    for option in ("--as-of", "--known-as-of"):
        assert run("search", "Where?", *scope, option, "2020-01-01")[1]["retrievedMemories"] == []


def test_a_file_can_be_sent_twice(run, tmp_path):
    """The messages of a file get the same ids each time: nothing is stored twice."""
    scope = ("--scope", "user_id=grace")
    file = tmp_path / "messages.json"
    file.write_text(
        json.dumps([{"role": "user", "content": "I play the cello."}, {"role": "assistant", "content": "Nice."}])
    )
    status, first = run("ingest", str(file), *scope, "--wait")
    assert (status, first["acceptedEvents"], first["duplicateEvents"]) == (0, 2, 0)
    assert run("ingest", str(file), *scope)[1]["duplicateEvents"] == 2
    assert facts(run("memories", *scope)[1]) == ["I play the cello"]


def test_why_knows_every_stage_of_an_event(run, service, tmp_path):
    """An event that was generated leads to its window, fact and memory; an unknown one is a failure."""
    scope = ("--scope", "user_id=edsger")
    file = tmp_path / "lines.jsonl"
    file.write_text(json.dumps({"role": "user", "content": [{"text": "I ride a tandem."}], "tracking_id": "t1"}) + "\n")
    run("ingest", str(file), *scope, "--wait")
    status, story = run("why", "t1", *scope)
    assert status == 0
    assert [one["fact"] for one in story["memories"]] == ["I ride a tandem"]
    assert story["window"]["state"] == "DONE"
    assert story["detail"]["candidates"][0]["events"][0]["eventId"] == "t1"
    status, story = run("why", "never", *scope)
    assert (status, story["event"]["state"], story["memories"]) == (1, "UNKNOWN", [])


def test_streams_and_usage_are_told(run, service):
    """A chat that waits is a stream with its next trigger; usage has its days."""
    run("chat", "--scope", "user_id=alan", "--every", "5", typed="I run in the morning.\n")
    waiting = [one for one in run("streams")[1]["streams"] if one["scope"] == {"user_id": "alan"}]
    assert [(one["streamId"], one["pendingEvents"]) for one in waiting] == [("chat", 1)]
    assert run("usage")[1]["total"]["modelCalls"] >= 1


def test_usage_tells_what_the_service_for_personal_data_bills():
    """A bank whose texts are sent to the service has a line for it, and no other bank has."""
    cost = {"personalDataCalls": 1200, "personalDataUnits": 3600}
    lines = list(usage_lines(Usage.from_reply({"total": cost, "tokensToday": 0})))
    assert lines[-2] == "personal data: 1,200 calls of the service, 3,600 units of text, not in the estimate"
    assert not any("personal" in line for line in usage_lines(Usage.from_reply({"total": {}, "tokensToday": 0})))


def test_two_scopes_are_searched_together(run, service, capsys):
    """With --also a search ranks the memories of several scopes, and each line says whose it is."""
    run("chat", "--scope", "user_id=eve", "--every", "1", typed="I play the cello.\n")
    run("chat", "--scope", "team=blue", "--every", "1", typed="I play the drums.\n")
    options = ("search", "What do I play?", "--scope", "user_id=eve", "--also", "team=blue")
    found = run(*options)[1]["retrievedMemories"]
    assert [one["memory"]["scope"] for one in found] in (
        [{"user_id": "eve"}, {"team": "blue"}],
        [{"team": "blue"}, {"user_id": "eve"}],
    )
    assert main([*options]) == 0
    assert "team=blue  I play the drums" in capsys.readouterr().out


def test_changes_are_told_and_followed(run, service):
    """What happened to a scope's memories is listed, and a token goes on where the list ended."""
    scope = ("--scope", "user_id=barbara")
    run("chat", *scope, "--every", "2", typed="I keep bees.\nI sail.\n")
    status, told = run("changes", *scope, "--limit", "1")
    assert (status, [one["kind"] for one in told["changes"]]) == (0, ["CREATED"])
    [memory, other] = [one["name"].rsplit("/", 1)[-1] for one in run("memories", *scope)[1]["memories"]]
    run("forget", memory)
    status, more = run("changes", *scope, "--page-token", told["nextPageToken"])
    assert (status, [one["kind"] for one in more["changes"]]) == (0, ["CREATED", "DELETED"])
    assert more["changes"][-1]["memory"].endswith(memory)
    assert {one["memory"].rsplit("/", 1)[-1] for one in (*told["changes"], *more["changes"])} == {memory, other}
    assert run("changes", *scope, "--page-token", more["nextPageToken"])[1]["changes"] == []


def test_forgetting_and_erasing(run, service, capsys, monkeypatch):
    """One memory goes by its id; an erasure counts first, is refused without a yes, and then takes the rest."""
    scope = ("--scope", "user_id=tim")
    run("chat", *scope, "--every", "2", typed="I have a dog.\nI am a nurse.\n")
    memories = run("memories", *scope)[1]["memories"]
    assert run("forget", memories[0]["name"].rsplit("/", 1)[-1])[0] == 0
    assert len(run("memories", *scope)[1]["memories"]) == 1
    assert run("erase", *scope, "--dry-run")[1]["wouldErase"]["memories"] == 2  # also what a rollback needs
    monkeypatch.setattr(sys, "stdin", Typed("n\n"))
    assert main(["erase", *scope]) != 0
    assert len(run("memories", *scope)[1]["memories"]) == 1
    capsys.readouterr()
    status, erased = run("erase", *scope, "--yes")
    assert (status, erased["erased"]["memories"]) == (0, 2)
    assert run("memories", *scope)[1]["memories"] == []


def test_a_scope_is_moved(run):
    """It is counted first, and then the target has the memories."""
    run("chat", "--scope", "user_id=visitor-7", "--every", "1", typed="I have a cat.\n")
    ends = ("--scope", "user_id=visitor-7", "--to", "user_id=una")
    assert run("move", *ends, "--dry-run")[1]["wouldMove"]["memories"] == 1
    status, done = run("move", *ends)
    assert (status, done["moved"]["memories"]) == (0, 1)
    assert facts(run("memories", "--scope", "user_id=una")[1]) == ["I have a cat"]
    assert run("memories", "--scope", "user_id=visitor-7")[1]["memories"] == []


def test_a_memory_is_pinned_and_its_review_is_decided(run, service):
    """A pinned memory is changed by an accepted review alone; a rejected one changes nothing."""
    scope = ("--scope", "user_id=pia")
    for text in ("My favorite color is blue.", "My favorite color is green."):
        run("chat", *scope, "--every", "1", typed=f"{text}\n/quit\n")
        service.wait_until_idle()
        [memory] = run("memories", *scope)[1]["memories"]
        assert run("pin", memory["name"].rsplit("/", 1)[-1])[1]["memories"][0]["pinned"] is True
    assert memory["fact"] == "My favorite color is blue"
    [review] = run("reviews", *scope)[1]["reviews"]
    assert run("reviews")[1]["reviews"] == [review]
    assert run("accept", review["name"])[1]["reviews"][0]["state"] == "ACCEPTED"
    assert facts(run("memories", *scope)[1]) == ["My favorite color is green"]
    run("chat", *scope, "--every", "1", typed="My favorite color is red.\n/quit\n")
    service.wait_until_idle()
    [review] = run("reviews", *scope)[1]["reviews"]
    assert run("reject", review["name"].rsplit("/", 1)[-1])[1]["reviews"][0]["state"] == "REJECTED"
    assert run("reviews", *scope)[1]["reviews"] == []
    assert run("unpin", memory["name"])[1]["memories"][0]["pinned"] is False
    assert facts(run("memories", *scope)[1]) == ["My favorite color is green"]


def test_an_export_is_imported(run, service):
    """The source that an export names is what an import takes; the memories are there already."""
    run("chat", "--scope", "user_id=ken", "--every", "1", typed="I sail.\n")
    status, exported = run("export", "--scope", "user_id=ken")
    assert (status, exported["exported"]["memories"]) == (0, 1)
    status, imported = run("import", exported["source"])
    assert (status, imported["imported"]["memoriesKept"]) == (0, 1)


def test_a_bank_is_reindexed(run, service):
    """The command waits for the end and says how many memories got a new vector, and how many needed none."""
    run("chat", "--scope", "user_id=kim", "--every", "1", typed="I ride a horse.\n")
    status, done = run("reindex", "--wait-seconds", "60")
    assert (status, done["reindexed"], done["failed"]) == (0, 0, 0)
    assert done["kept"] >= 1


def test_a_configuration_is_tried_by_a_replay(run, service, capsys, tmp_path):
    """A window and a bank are judged again, and both answers are shown; the status says whether they differ."""
    scope = ("--scope", "user_id=joan")
    run("chat", *scope, "--every", "1", typed="I have two cats.\n")
    [memory] = run("memories", *scope)[1]["memories"]
    operation = memory["sources"][0]["operation"]
    status, same = run("replay", operation)
    assert (status, [one["fact"] for one in same["recorded"]]) == (0, [one["fact"] for one in same["replayed"]])
    custom = tmp_path / "custom.json"
    custom.write_text('{"disableNaturalLanguageMemories": true}')
    options = ("--windows", "5", *scope, "--customization", str(custom))
    status, other = run("replay", *options)
    assert (status, other["summary"]["different"]) == (1, 1)
    assert main(["replay", operation, "--customization", str(custom)]) == 1
    assert main(["replay", *options]) == 1
    shown = capsys.readouterr().out
    assert "CREATED    I have two cats" in shown
    assert "  - I have two cats" in shown


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["nonsense"], 2, "nonsense"),
        (["memories", "--nonsense"], 2, "--nonsense"),
        (["search", "q"], 2, "--scope"),
        (["search", "q", "--scope", "ada"], 2, "user_id=ada"),
        (["search", "q", *ADA, "--also", "team"], 2, "user_id=ada"),
        (["search", "q", *ADA, "--also", "team=a,team=b"], 2, "names a key twice"),
        (["memories", "--token", "wrong"], 1, "--token"),
        (["memories", "--url", "http://127.0.0.1:{port}"], 1, "127.0.0.1"),
        (["memories", "--url", "nonsense"], 2, "nonsense"),
        (["memories", "--bank", "no-such-bank"], 1, "no-such-bank"),
        (["ingest", "/no/such/file", *ADA], 2, "/no/such/file"),
        (["forget", "no-such-memory"], 1, "no-such-memory"),
        (["replay"], 2, "--windows"),
        (["replay", "o-1", *ADA], 2, "--windows"),
        (["replay", "o-1", "--customization", __file__], 2, "not JSON"),
        (["keys", "create", "--role", "read"], 1, "--auth keys"),
        (["keys", "create", "--role", "read", "--days", "3"], 2, "--table"),
    ],
)
def test_a_failure_is_one_line(service, monkeypatch, capsys, arguments, status, words):
    """A wrong argument, an unknown command, a wrong token, a service that is away: one line, no traceback."""
    monkeypatch.setenv("STREAMBANK_URL", service.base_url)
    assert main([one.format(port=closed_port()) for one in arguments]) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("streambank: ")
    assert words in printed.err
    assert printed.err.count("\n") == 1
    assert "Traceback" not in printed.err


@pytest.mark.parametrize(
    "text", ["{", "[1, 2]", "[]", "[" * 100_000, '{"messages": 3}', "hello", "\xff", '{"role": "user"}\n{']
)
def test_a_file_that_cannot_be_read_is_named(service, monkeypatch, capsys, tmp_path, text):
    """What is no list of messages is one line that names the file, and nothing is sent."""
    monkeypatch.setenv("STREAMBANK_URL", service.base_url)
    file = tmp_path / "file"
    file.write_bytes(text.encode("latin-1"))
    assert main(["ingest", str(file), "--scope", "user_id=nobody"]) == 1
    printed = capsys.readouterr()
    assert str(file) in printed.err
    assert printed.err.strip().count("\n") == 0


class Interrupted(Typed):
    """A terminal where Ctrl-C is pressed."""

    def readline(self, *_):
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("stdin", "arguments", "status", "words"),
    [
        (Interrupted(""), ["chat"], 130, "interrupted"),
        (Interrupted(""), ["erase"], 1, "nothing was erased"),
        (Typed("n\n"), ["erase"], 1, "nothing was erased"),
        (Typed(""), ["erase"], 1, "nothing was erased"),
        (None, ["erase"], 1, "nothing was erased"),
        (None, ["chat"], 0, ""),
    ],
)
def test_input_that_ends_early_is_no_traceback(service, monkeypatch, capsys, stdin, arguments, status, words):
    """Ctrl-C, a no, an end of the input, an input that is closed: the last line says what it comes to."""
    monkeypatch.setenv("STREAMBANK_URL", service.base_url)
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main([*arguments, "--scope", "user_id=nobody"]) == status
    last = capsys.readouterr().err.split("\n")[-2:]
    assert words in last[0]
    assert last == [last[0], ""] or not words


def commands():
    """Yield every command with the path to it."""
    for name, command in cli.commands.items():
        yield [name], command
        for inner, one in getattr(command, "commands", {}).items():
            yield [name, inner], one


@pytest.mark.parametrize("path", [path for path, _ in commands()], ids=" ".join)
def test_help_has_an_example(capsys, path):
    """The help of each command ends with an example that the command itself accepts as its name."""
    assert main([*path, "--help"]) == 0
    text = capsys.readouterr().out
    assert path == ["keys"] or f"streambank {' '.join(path)}" in text.partition("Example")[2]


def test_completion_is_there(monkeypatch, capsys):
    """A shell gets a script that completes commands and options."""
    monkeypatch.setenv("_STREAMBANK_COMPLETE", "bash_source")
    with pytest.raises(SystemExit):
        main([])
    assert "_streambank_completion" in capsys.readouterr().out


def test_a_policy_and_a_consent_are_shown_and_set(run, service):
    """A bank without rules says so and has nothing to apply; the consent of a scope is shown, and set, and shown."""
    assert run("policy") == (0, {"rules": []})
    scope = ("--scope", "user_id=no")
    assert run("consent", *scope)[1]["learning"] == "ENABLED"
    status, told = run("consent", *scope, "--learning", "disabled")
    assert (status, told["learning"]) == (0, "DISABLED")
    assert run("consent", *scope)[1]["learning"] == "DISABLED"
    assert run("consent", *scope, "--learning", "enabled")[1]["learning"] == "ENABLED"
