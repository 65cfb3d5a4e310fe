"""`streambank eval`: how well a model remembers, on the gold set."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streambank_local.evaluation.cases import selected
from streambank_local.installation import missing_modules

if TYPE_CHECKING:
    from streambank_local.evaluation.evaluate import Run

TOO_FEW, CANNOT_RUN, INTERRUPTED = 1, 2, 130


@click.command(
    "eval",
    epilog="\b\nExamples:\n  streambank eval\n  streambank eval --model openai:qwen3:8b --limit 20\n\n"
    "The variables of the environment are those of a deployment's functions; docs/models.md explains them.",
)
@click.option("--model", help="basic, bedrock, openai, bedrock:ID or openai:ID (default: STREAMBANK_MODEL, else basic)")
@click.option("--cases", "glob", default="*", metavar="GLOB", help="only cases with such an id, kind or kind/id")
@click.option("--limit", type=click.IntRange(min=1), help="only so many cases, spread over the set")
@click.option(
    "--results",
    type=click.Path(dir_okay=False, path_type=Path),
    default="evaluation.jsonl",
    show_default=True,
    help="the file to resume from and to append to",
)
@click.option("--fresh", is_flag=True, help="remove the results of this model and start over")
@click.option("--at-least", type=click.FloatRange(0, 1), default=0.0, help="fail if a smaller share of cases is met")
@click.option("--json", "is_json", is_flag=True, help="write one JSON document")
def evaluate(
    *, model: str | None, glob: str, limit: int | None, results: Path, fresh: bool, at_least: float, is_json: bool
) -> int:
    """Play the gold set through a model, and show precision, recall, cost and the wrong cases.

    Ctrl-C stops it; the next run plays what is missing.
    """
    chosen = selected(glob, limit)
    if not chosen:
        raise click.UsageError(f"No case is like {glob!r}.")
    if message := missing_modules():
        raise click.ClickException(message)
    # Imported here: the service takes seconds to import, and --help does not need it.
    from streambank_local.evaluation import report  # noqa: PLC0415
    from streambank_local.evaluation.evaluate import Run  # noqa: PLC0415
    from streambank_local.evaluation.models import ModelProblem, configured  # noqa: PLC0415
    from streambank_local.evaluation.results import Results  # noqa: PLC0415

    try:
        evaluated = configured(model, os.environ)
    except ModelProblem as problem:
        raise click.UsageError(f"{str(problem).removesuffix('.')}.") from None
    stored = Results(results, evaluated.name)
    if fresh:
        stored.forget()
    run = Run(evaluated, chosen, stored, _note)
    status = _play(run)
    evaluation = run.evaluation()
    print(report.as_json(evaluation) if is_json else report.as_text(evaluation))
    return status or (TOO_FEW if evaluation.total.share_met < at_least else 0)


def _play(run: Run) -> int:
    """Play what is missing, and return 0, or the exit status of a run that ended early."""
    try:
        run.play()
    except KeyboardInterrupt:
        _note("streambank: interrupted; the next run plays what is missing")
        return INTERRUPTED
    if run.was_given_up:
        _note("streambank: the model does not answer; run again later")
        return CANNOT_RUN
    return 0


def _note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
