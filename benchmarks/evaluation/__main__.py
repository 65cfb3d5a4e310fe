"""`python -m benchmarks.evaluation` (`make eval`): how well a model remembers.

The model is the embedded one, or with STREAMBANK_MODEL or --model one of Bedrock's or of a server with OpenAI's API,
from the environment of a deployment's functions. A run can be stopped with Ctrl-C; the next one plays what is missing.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.evaluation import cases, report

if TYPE_CHECKING:
    from benchmarks.evaluation.evaluate import Run

RESULTS = Path(__file__).resolve().parents[2] / "build" / "evaluation.jsonl"
TOO_FEW, CANNOT_RUN, INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluate and print; return 0, or why not: too few cases met, no answer of the model, or interrupted."""
    options = _options(arguments)
    chosen = cases.selected(options.cases, options.limit)
    if not chosen:
        return _problem(f"no case is like {options.cases!r}")
    # Imported here: the service takes seconds to import, and --help does not need it.
    from benchmarks.evaluation.evaluate import Run
    from benchmarks.evaluation.models import ModelProblem, configured
    from benchmarks.evaluation.results import Results

    try:
        model = configured(options.model, os.environ)
    except ModelProblem as problem:
        return _problem(str(problem))
    results = Results(options.results, model.name)
    if options.fresh:
        results.forget()
    run = Run(model, chosen, results, _progress)
    status = _play(run)
    evaluation = run.evaluation()
    print(report.as_json(evaluation) if options.json else report.as_text(evaluation))
    if status:
        return status
    return TOO_FEW if evaluation.total.share_met < options.at_least else 0


def _play(run: Run) -> int:
    try:
        run.play()
    except KeyboardInterrupt:
        print("interrupted; the next run plays what is missing", file=sys.stderr)
        return INTERRUPTED
    return _problem("the model does not answer; run again later") if run.was_given_up else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evaluation", description=__doc__)
    parser.add_argument(
        "--model",
        help="basic, bedrock, openai, or with a colon and a model's id (default: STREAMBANK_MODEL, else basic)",
    )
    parser.add_argument("--cases", default="*", metavar="GLOB", help="only cases with such an id, kind or kind/id")
    parser.add_argument("--limit", type=_positive, metavar="N", help="only N cases, spread over the set")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the JSON lines to resume from and to append to")
    parser.add_argument("--fresh", action="store_true", help="remove the results of this model and start over")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--at-least", type=_share, default=0.0, metavar="SHARE", help="fail if fewer cases are met")
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _share(text: str) -> float:
    share = float(text)
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError("must be between 0 and 1")
    return share


def _progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _problem(message: str) -> int:
    print(f"evaluation: {message}", file=sys.stderr)
    return CANNOT_RUN


if __name__ == "__main__":
    sys.exit(main())
