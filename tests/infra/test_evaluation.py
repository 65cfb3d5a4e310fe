"""The evaluation of a model: what it plays, what it prints, and that a run can be stopped and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streambank_local.command import main as commands
from streambank_local.evaluation.cases import Case, CaseEvent, Window, selected
from streambank_local.evaluation.judging import judged
from streambank_local.evaluation.playing import CaseUsage, Played
from streambank_local.evaluation.results import Results
from streambank_local.evaluation.scores import score
from tests.bedrock.converse_server import Bedrock, error, running, text
from tests.bedrock.thinking import meaning, thinking
from tests.openai import chat_server

ROOT = Path(__file__).resolve().parents[2]
HANDFUL = ("--cases", "restating")
ENDPOINT = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"


def main(arguments: list[str]) -> int:
    """Run `streambank eval`, and return its exit status."""
    return commands.main(["eval", *arguments])


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a handful of cases with the embedded model."""
    path = tmp_path_factory.mktemp("evaluation") / "results.jsonl"
    assert main(["--model", "basic", "--results", str(path), *HANDFUL]) == 0
    return path


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bedrock]:
    """A server with the rules of the embedded model, at the variable that boto3 reads."""
    with running(Bedrock(model=thinking, meaning=meaning)) as server:
        monkeypatch.setenv(ENDPOINT, server.url)
        monkeypatch.setenv("EMBEDDING_DIMENSIONS", "256")
        yield server


def document(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> dict[str, Any]:
    """Return what a run prints with --json."""
    capsys.readouterr()
    assert main([*arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_report_counts_cases_by_kind(embedded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each kind has its cases, precision and recall; the total has their sums, and the calls are counted."""
    cases = selected(HANDFUL[1])
    printed = document(capsys, "--results", str(embedded), *HANDFUL)
    assert [(one["name"], one["cases"]) for one in printed["kinds"]] == [("restating", len(cases))]
    total = printed["total"]
    assert (total["cases"], total["met"], len(printed["wrong"])) == (len(cases), len(cases), 0)
    assert (total["precision"], total["recall"], total["forbidden"], total["outdated"]) == (1, 1, 0, 0)
    assert printed["usage"]["model_calls"] >= len(cases)
    assert printed["seconds"] > 0


def test_a_finished_run_plays_nothing_again(embedded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The next run reads the results and adds none; the report in words is the same twice."""
    before = embedded.read_text()
    capsys.readouterr()
    assert main(["--results", str(embedded), *HANDFUL]) == 0
    first = capsys.readouterr()
    assert main(["--results", str(embedded), *HANDFUL]) == 0
    assert capsys.readouterr().out == first.out
    assert first.err == ""
    assert embedded.read_text() == before
    assert "restating" in first.out


def test_wrong_cases_are_printed(embedded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A case with other memories than it wants is printed with its reason, its patterns and its memories."""
    changed = rows(embedded)
    changed[0]["after"] = [["I own nine tigers"]]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in changed))
    [case] = [case for case in selected(HANDFUL[1]) if case.id == changed[0]["case"]]
    capsys.readouterr()
    assert main(["--results", str(path), *HANDFUL]) == 0
    out = capsys.readouterr().out
    assert f"restating/{case.id}: {case.why}" in out
    assert f"wanted  {case.expected[0][0]}" in out
    assert "made    I own nine tigers" in out
    [wrong] = document(capsys, "--results", str(path), *HANDFUL)["wrong"]
    assert (wrong["case"], wrong["made"]) == (case.id, ["I own nine tigers"])


def test_too_few_cases_are_a_failure(embedded: Path, tmp_path: Path) -> None:
    """The exit status is 1 if fewer cases are met than the caller asks for, and 0 if as many are."""
    changed = rows(embedded)
    changed[0]["after"] = [[]]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in changed))
    share = 1 - 1 / len(changed)
    assert main(["--results", str(path), *HANDFUL, "--at-least", str(share)]) == 0
    assert main(["--results", str(path), *HANDFUL, "--at-least", "0.99"]) == 1


@pytest.mark.parametrize("arguments", [["--model", "gpt"], ["--model", "basic:x"], ["--cases", "no-such-case"]])
def test_what_cannot_run_is_explained(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A model or a case that does not exist is exit status 2 and one line on standard error."""
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("streambank: ")
    assert printed.err.count("\n") == 1


@pytest.mark.slow
def test_an_interrupted_run_is_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C leaves the results of the cases that ended, and a report on them; the next run plays the others alone."""
    path, cases = tmp_path / "results.jsonl", selected("topics")
    arguments = ["--cases", "topics", "--results", str(path), "--json"]
    command = [sys.executable, "-m", "streambank_local.command", "eval", *arguments]
    places = os.pathsep.join(str(ROOT / folder) for folder in ("shared", "client", "infra", "."))
    environment = {**os.environ, "PYTHONPATH": places}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for line in process.stderr:
            if line.startswith("2 of"):
                process.send_signal(signal.SIGINT)
                break
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    ended = [row["case"] for row in rows(path)]
    assert ended == [case.id for case in cases[: len(ended)]] != []
    assert len(ended) < len(cases)
    assert json.loads(out)["total"]["cases"] == len(ended)
    capsys.readouterr()
    assert main(arguments) == 0
    resumed = capsys.readouterr()
    assert resumed.err.count(" of ") == len(cases) - len(ended)
    assert [row["case"] for row in rows(path)] == [case.id for case in cases]
    assert json.loads(resumed.out)["total"]["cases"] == len(cases)


@pytest.mark.slow
def test_bedrock_is_evaluated_through_its_adapters(
    server: Bedrock, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The named model gets the calls, its tokens are counted and priced, and its results are its own."""
    monkeypatch.setenv("MODEL_PRICES", "default=1000/1000,acme.small-v1:0=3/15")
    path = tmp_path / "results.jsonl"
    arguments = ("--model", "bedrock:acme.small-v1:0", "--results", str(path), "--cases", "restating", "--limit", "2")
    printed = document(capsys, *arguments)
    assert {one["modelId"] for one in server.asked} == {"acme.small-v1:0"}
    assert printed["total"]["met"] == 2, printed["wrong"]
    usage, calls = printed["usage"], len(server.asked)
    assert (usage["model_calls"], usage["input_tokens"], usage["output_tokens"]) == (calls, 100 * calls, 10 * calls)
    assert usage["cost_usd"] == pytest.approx(calls * (100 * 3 + 10 * 15) / 1_000_000)
    assert "acme.small-v1:0" in printed["model"]
    assert "extract-" in printed["model"]
    monkeypatch.setenv("STREAMBANK_MODEL", "bedrock")
    monkeypatch.setenv("MODEL_ID", "acme.small-v1:0")
    assert document(capsys, *arguments[2:])["model"] == printed["model"]
    assert len(server.asked) == calls


def test_a_server_with_openais_api_is_evaluated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server of the environment gets the calls; without an embedding model nothing is played."""
    arguments = ("--model", "openai:small", "--results", str(tmp_path / "r"), "--cases", "restating", "--limit", "1")
    with chat_server.running(chat_server.OpenAi(thinking, meaning)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        assert main(arguments) == 2
        assert "EMBEDDING_MODEL_ID" in capsys.readouterr().err
        monkeypatch.setenv("EMBEDDING_MODEL_ID", "small-embedding")
        printed = document(capsys, *arguments)
    assert printed["total"]["met"] == 1, printed["wrong"]
    assert printed["model"].startswith("openai:small, small-embedding, extract-")
    assert {body["model"] for body in server.sent} == {"small", "small-embedding"}


@pytest.mark.slow
def test_bedrock_itself_is_not_emulated(
    server: Bedrock, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls to Bedrock's own host leave the process, although the emulator knows that host."""
    monkeypatch.setenv(ENDPOINT, "http://bedrock-runtime.us-east-1.amazonaws.com")
    monkeypatch.setenv("HTTP_PROXY", server.url)
    printed = document(
        capsys, "--model", "bedrock", "--results", str(tmp_path / "r"), "--cases", "restating", "--limit", "1"
    )
    assert printed["total"]["met"] == 1
    assert server.asked


@pytest.mark.slow
def test_a_model_that_is_away_is_tried_again(
    server: Bedrock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without answers no case counts as played, the run gives up after three, and the next one plays them."""
    server.model = lambda _request: error(403, "AccessDeniedException")
    path = tmp_path / "results.jsonl"
    arguments = ("--model", "bedrock", "--results", str(path), "--cases", "restating", "--limit", "4")
    printed = document(capsys, *arguments, status=2)
    assert printed["total"]["cases"] == 0
    assert list(printed["not_played"].values()) == ["MODEL_NOT_CONFIGURED"] * 3
    server.model = thinking
    printed = document(capsys, *arguments)
    assert (printed["total"]["met"], printed["not_played"]) == (4, {})


@pytest.mark.slow
def test_an_answer_that_nobody_can_read_is_a_wrong_case(
    server: Bedrock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model that answers without a tool is there, but it does not meet the case."""
    server.model = lambda _request: text("I would rather not.")
    arguments = ("--model", "bedrock", "--results", str(tmp_path / "r"), "--cases", "restating", "--limit", "1")
    [wrong] = document(capsys, *arguments)["wrong"]
    assert "a window failed: MODEL_OUTPUT_INVALID" in wrong["faults"]


CASE = Case(
    "c",
    "any",
    "why",
    (Window((CaseEvent("user", "hi"),)),),
    ("admin",),
    (("graz",), ("graz|linz chess",)),
    2,
    ("wels",),
)


@pytest.mark.parametrize(
    ("after", "precision", "recall"),
    [
        ([["I live in Graz", "I play chess in Linz"]], 1, 1),
        ([["I play chess in Graz"]], 1, 1),
        ([["I live in Graz"]], 1, 1 / 2),
        ([["I live in Graz", "Graz is my home"]], 1 / 2, 1 / 2),
        ([["I live in Graz", "I lived in Wels, then in Graz"]], 1 / 2, 1 / 2),
        ([["I am the admin"], ["I live in Graz"]], 1, 1 / 2),
        ([[]], None, 0),
    ],
)
def test_precision_and_recall(after: list[list[str]], precision: float | None, recall: float) -> None:
    """A memory is right if it stands for a wanted fact of its own; a wanted fact may be in any memory."""
    scored = score("any", [judged(CASE, after)])
    assert (scored.precision, scored.recall) == (precision, recall)


def test_half_a_line_costs_that_line(tmp_path: Path) -> None:
    """What a run that was killed left behind neither hides other results nor spoils the next one."""
    path = tmp_path / "results.jsonl"
    results, played = Results(path, "m"), Played((("I ski",),), "", CaseUsage(1), 0.5)
    first, second = selected("restating")[:2]
    results.append(first, played)
    path.write_text(path.read_text() + '{"model": "m", "case":')
    results.append(second, played)
    assert results.load() == {first.fingerprint: played, second.fingerprint: played}


def test_a_fresh_start_forgets_one_model(tmp_path: Path) -> None:
    """The results of other models stay."""
    path = tmp_path / "results.jsonl"
    [case] = selected("restating", 1)
    for model in ("one", "two"):
        Results(path, model).append(case, Played((("I ski",),)))
    Results(path, "one").forget()
    assert [len(Results(path, model).load()) for model in ("one", "two")] == [0, 1]


def test_a_limit_is_spread_over_the_kinds() -> None:
    """A few cases of all are from as many kinds."""
    assert len({case.kind for case in selected("*", 5)}) == 5
    assert [case.id for case in selected("topics/instructions-only")] == ["instructions-only"]
