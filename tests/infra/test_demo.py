"""The demo: what its conversation holds, and what one run of it finds."""

import io
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from streambank_local.demo import findings, last_screen, report
from streambank_local.demo.api import Api, DemoError
from streambank_local.demo.conversation import MAX_EVENTS_PER_CALL, load
from streambank_local.demo.findings import Findings
from streambank_local.demo.player import EVENT_COUNT, IDLE, OVERLAP, PlayResult, play
from streambank_local.demo.screen import WIDTH, Screen
from streambank_local.service import LocalService

ROOT = Path(__file__).resolve().parents[2]
MAIN = "import sys; from streambank_local.demo.__main__ import main; sys.exit(main())"
CONVERSATION = load()
TURNS = [turn for session in CONVERSATION.sessions for turn in session.turns]
USER_TEXTS = [part["text"] for turn in TURNS if turn.is_user_text for part in turn.content["parts"]]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Run:
    result: PlayResult
    gathered: Findings
    output: str


@pytest.fixture(scope="module", params=[pytest.param("the whole of it", marks=pytest.mark.slow)])
def run() -> Iterator[Run]:
    """The full play, ten seconds of it."""
    with LocalService(timer_enabled=False) as service:
        out, api = io.StringIO(), Api(service.base_url)
        screen = Screen(out)
        result = play(CONVERSATION, api, screen)
        gathered = findings.gather(CONVERSATION, result, api)
        report.show(CONVERSATION, result, gathered, screen)
        yield Run(result, gathered, out.getvalue())
        api.close()


# ---- the conversation


def test_conversation_is_long_enough() -> None:
    """At least 60 events in 5 or 6 sessions over at least four weeks."""
    assert CONVERSATION.event_count >= 60
    assert len(CONVERSATION.sessions) in (5, 6)
    assert CONVERSATION.sessions[-1].offset >= timedelta(weeks=4)


def test_event_ids_are_unique() -> None:
    """No two events of the file have one id: the only repeats are those that the client sends again."""
    assert len({turn.event_id for turn in TURNS}) == len(TURNS)


def test_time_moves_forward_and_pauses_only_between_sessions() -> None:
    """No session is so slow that its idle trigger fires inside it, and each pause is long enough that it fires."""
    offsets = [turn.offset for turn in TURNS]
    assert offsets == sorted(set(offsets))
    for session in CONVERSATION.sessions:
        times = [session.offset, *(turn.offset for turn in session.turns)]
        assert max(after - before for before, after in pairwise(times)) < IDLE
    starts = [session.offset for session in CONVERSATION.sessions]
    assert min(after - before for before, after in pairwise(starts)) > timedelta(days=1)


def test_every_tool_call_has_its_response() -> None:
    """Both kinds of tool traffic are there, a response right after its call."""
    parts = [turn.content["parts"][0] for turn in TURNS]
    calls = [index for index, part in enumerate(parts) if "functionCall" in part]
    assert len(calls) >= 3
    assert [parts[index]["functionCall"]["name"] for index in calls] == [
        parts[index + 1]["functionResponse"]["name"] for index in calls
    ]


def test_conversation_corrects_and_asks_to_forget() -> None:
    """The user corrects an amount and asks that something of an earlier session be forgotten."""
    assert any("Sorry, I meant" in text for text in USER_TEXTS)
    (request,) = [index for index, text in enumerate(USER_TEXTS) if "forget" in text]
    assert CONVERSATION.forgotten_word in USER_TEXTS[request]
    assert any(CONVERSATION.forgotten_word in text for text in USER_TEXTS[:request])


def test_bare_answer_opens_a_window() -> None:
    """The last event of the first window asks, and the first of the second answers in one word."""
    question, answer = TURNS[EVENT_COUNT - 1], TURNS[EVENT_COUNT]
    assert OVERLAP >= 1
    assert question.content == {"role": "model", "parts": [{"text": "What is your dog called?"}]}
    assert answer.content == {"role": "user", "parts": [{"text": "Waffle."}]}


def test_calls_carry_every_turn_once_and_in_order() -> None:
    """A session's calls are small, and together they are the session."""
    for session in CONVERSATION.sessions:
        calls = list(session.calls())
        assert [turn for call in calls for turn in call] == list(session.turns)
        assert all(1 <= len(call) <= MAX_EVENTS_PER_CALL for call in calls)


def test_client_sends_the_end_of_the_session_before_again() -> None:
    """The events that are sent again are the last ones of the session before."""
    for before, after in pairwise(CONVERSATION.sessions):
        assert after.resent
        assert after.resent == before.turns[-len(after.resent) :]


# ---- a run


def test_its_first_session_is_played_and_told() -> None:
    """Every event of it is accepted once, a memory of it is there, and the report is written."""
    beginning = replace(CONVERSATION, sessions=CONVERSATION.sessions[:1])
    with LocalService(timer_enabled=False) as service:
        out, api = io.StringIO(), Api(service.base_url)
        screen = Screen(out)
        played = play(beginning, api, screen)
        found = findings.gather(beginning, played, api)
        report.show(beginning, played, found, screen)
        api.close()
    assert (played.accepted, played.duplicates) == (beginning.event_count, 0)
    assert found.memories
    shown = " ".join(out.getvalue().split())
    assert found.memories[0]["fact"] in shown
    assert 'Ilva "I play the cello on Sunday mornings. Loudly!" created I play the cello on Sunday mornings' in shown


def test_run_keeps_every_promise(run: Run) -> None:
    """All checks of the demo pass."""
    assert findings.problems(CONVERSATION, run.result, run.gathered) == []


def test_duplicates_dropped_are_the_events_sent_again(run: Run) -> None:
    """Every event is accepted once, and nothing else is dropped."""
    assert run.result.accepted == CONVERSATION.event_count
    assert run.result.duplicates == CONVERSATION.resent_count > 0
    assert run.result.sent == run.result.accepted + run.result.duplicates


def test_windows_are_sealed_by_count_and_by_silence(run: Run) -> None:
    """Both conditions of the rule fire, and each window has one generation."""
    windows = [window["metadata"] for window in run.result.windows]
    assert {window["trigger"] for window in windows} == {"EVENT_COUNT", "IDLE_DURATION"}
    assert [window["window"] for window in windows] == list(range(1, len(windows) + 1))
    assert len(run.result.generations) == len(windows)
    assert not run.result.open_operations


def test_job_has_a_history(run: Run) -> None:
    """One memory follows three jobs, and each revision names its session."""
    revisions = run.gathered.revisions[run.gathered.most_revised]
    assert [word in one["fact"] for one, word in zip(revisions, ("head", "school", "Lucas"), strict=True)] == [True] * 3
    assert [one["labels"]["session"] for one in revisions] == ["Settled", "A new job", "Hello"]


def test_changes_of_mind_leave_one_memory_each(run: Run) -> None:
    """A replaced fact is no longer remembered beside the new one."""
    facts = [memory["fact"] for memory in run.gathered.memories]
    for new, old in (
        ("Antwerp", "Ghent"),
        ("hate flying", "love flying"),
        ("aisle", "I prefer window"),
        ("green tea", "I drink black coffee"),
        ("900", "600"),
    ):
        assert any(new in fact for fact in facts), new
        assert not any(old in fact for fact in facts), old


def test_bare_answer_is_understood_through_the_overlap(run: Run) -> None:
    """The question's window was over when the answer came."""
    assert "My dog is called Waffle" in {memory["fact"] for memory in run.gathered.memories}


def test_questions_are_answered_by_the_right_memory(run: Run) -> None:
    """The top hit of each similarity search holds the answer, and distances rise."""
    assert len(run.gathered.question_results) == 3
    for answer in run.gathered.question_results:
        assert answer.is_correct, answer
        distances = [hit["distance"] for hit in answer.hits]
        assert distances == sorted(distances)


def test_what_was_to_be_forgotten_is_gone(run: Run) -> None:
    """It was remembered, it was deleted, and no memory contains it any more."""
    (forgotten,) = run.gathered.deleted
    assert CONVERSATION.forgotten_word in forgotten.fact
    assert forgotten.is_gone
    assert not any(CONVERSATION.forgotten_word in memory["fact"] for memory in run.gathered.memories)


def test_output_is_plain_and_fits(run: Run) -> None:
    """Off a terminal there are neither colours nor carriage returns, and 80 columns are enough."""
    assert "\033" not in run.output
    assert "\r" not in run.output
    assert max(map(len, run.output.splitlines())) <= WIDTH
    assert all(session.title in run.output for session in CONVERSATION.sessions)


def test_last_screen_holds_the_whole_point(run: Run) -> None:
    """24 lines are enough for the words, the memories, the questions, and the answers without memory and with it."""
    out = io.StringIO()
    last_screen.show(CONVERSATION, run.result, run.gathered, Screen(out))
    lines = out.getvalue().strip().splitlines()
    # Below it there are an empty line, two lines with the next step, and the shell's prompt.
    assert len(lines) <= 24 - 4
    assert run.output.endswith(out.getvalue())
    text = " ".join(out.getvalue().split())
    assert all(
        part in text for part in ("Guess what! I work as", "head nurse at the", "Juniper: What is your dog called?")
    )
    assert text.count("I do not know.") == len(CONVERSATION.questions)
    assert "deleted on day 17" in text
    assert not re.search(r"\d\.\d", text)


def test_words_stand_beside_what_is_remembered_of_them(run: Run) -> None:
    """The answer to each question, and the deleted memory, come with the turns that they cite."""
    cited = [[turn.event_id for turn in one.turns] for one in run.gathered.question_results]
    assert cited == [["settled-01"], ["hello-12", "hello-13"], ["hello-07"]]
    assert [turn.event_id for turn in run.gathered.deleted[0].turns] == ["trip-09"]


# ---- failing


def broken(run: Run, **changes: object) -> list[str]:
    return findings.problems(CONVERSATION, run.result, replace(run.gathered, **changes))


def test_demo_does_not_call_a_failure_a_success(run: Run) -> None:
    """Each failed check is reported in one line."""
    wrong = replace(run.gathered.question_results[0], hits=())
    invented = replace(run.gathered.question_results[0], turns=())
    left = ({"name": "m", "fact": f"I see a {CONVERSATION.forgotten_word}"},)
    readable = replace(run.gathered.deleted[0], is_gone=False)
    assert broken(run, memories=()) == ["nothing is remembered"]
    assert broken(run, revisions={}) == ["no memory was revised"]
    assert "is not answered" in broken(run, question_results=(wrong,))[0]
    assert "cites nothing that was said" in broken(run, question_results=(invented,))[0]
    assert "still remembered" in broken(run, memories=left)[0]
    assert "was deleted" in broken(run, deleted=())[0]
    assert broken(run, deleted=(readable,)) == ["a deleted memory can still be read"]


def test_lost_events_are_reported(run: Run) -> None:
    """Numbers that do not add up are a failure."""
    less = PlayResult(run.result.started, accepted=1, duplicates=1)
    problems = findings.problems(CONVERSATION, less, run.gathered)
    assert [line.split(" ")[0] for line in problems] == ["1", "1", "the"]


def parked() -> Api:
    """An API whose only operation is parked."""

    class Parked(Api):
        def __init__(self) -> None: ...

        def now(self) -> datetime:
            return datetime(2026, 1, 1, tzinfo=UTC)

        def advance(self, by: timedelta) -> None: ...

        def ingest(self, body: dict[str, object]) -> dict[str, object]:
            return {"name": "o-1", "metadata": {"acceptedEvents": 1, "duplicateEvents": 0}}

        def get(self, name: str) -> dict[str, object]:
            return {"name": name, "done": True, "error": {"message": "parked"}}

    return Parked()


def test_parked_operation_ends_the_demo() -> None:
    """A window that could not be generated is no success."""
    with pytest.raises(DemoError, match="operation o-1: parked"):
        play(CONVERSATION, parked(), Screen(io.StringIO()))


def test_unreachable_service_is_reported() -> None:
    """No answer at all is a failure of the demo, not a traceback."""
    api = Api("http://127.0.0.1:9")
    with pytest.raises(DemoError, match="got no reply"):
        api.now()
    api.close()


# ---- the screen and the command


def test_bar_moves_on_a_terminal_only() -> None:
    """A line pushes the bar down and does not break it."""
    out = Terminal()
    screen = Screen(out)
    screen.progress(1, 2)
    screen.line("above")
    screen.end_progress()
    bar = f"[{'#' * 20}{'.' * 20}] 1 of 2 events"
    assert out.getvalue() == f"\r\033[K{bar}\r\033[Kabove\n{bar}\r\033[K"


def test_screen_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text and tables are wrapped at the terminal's width, up to 100 characters; cells stand alone on a narrow one."""
    for columns, widest in (("50", 50), ("90", 90), ("300", 100)):
        monkeypatch.setenv("COLUMNS", columns)
        out = Terminal()
        monkeypatch.setenv("NO_COLOR", "1")
        screen = Screen(out)
        screen.heading("words " * 9)
        screen.item("words " * 60)
        screen.table(("One", "Two"), [("words " * 30, "words " * 30)], (20, 60))
        screen.progress(1, 2)
        assert widest - 5 <= max(map(len, out.getvalue().splitlines())) <= widest
        assert ("Two: words" in out.getvalue()) == (columns == "50")


def test_colours_only_repeat_what_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its colours the output is the plain text, letter for letter."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    plain, coloured = io.StringIO(), Terminal()
    for out in (plain, coloured):
        screen = Screen(out)
        screen.heading("Title")
        screen.item("an item", style="dim")
        screen.table(("One", "Two"), [("a", "b")], (20, 60))
    assert "\033[" in coloured.getvalue()
    assert re.sub(r"\033\[\d+m", "", coloured.getvalue()) == plain.getvalue()


def started(code: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_interrupt_ends_cleanly() -> None:
    """Ctrl-C is status 130 and no traceback."""
    process = started(MAIN)
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)][1].startswith("Starting")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "Interrupted.\n", "")


@pytest.mark.parametrize("module", ["httpx", "moto"])
def test_missing_module_is_reported_in_one_line(module: str) -> None:
    """What is not installed is named, with the way to install it."""
    process = started(f"import sys; sys.modules[{module!r}] = None\n" + MAIN)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert err.count("\n") == 1
    assert module in err
    assert "make setup" in err
