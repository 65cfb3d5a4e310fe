"""`streambank eval`: how well a model remembers, on the gold set."""

from __future__ import annotations

import subprocess
import sys

import click

from streambank_local.installation import stack_folder


@click.command(
    "eval",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    epilog="\b\nExamples:\n  streambank eval\n  streambank eval --model openai:qwen3:8b\n\n"
    "All options go to `python -m benchmarks.evaluation`; docs/models.md explains them.",
)
@click.pass_context
def evaluate(context: click.Context) -> int:
    """Play the gold set through a model, and show precision, recall, cost and the wrong cases; needs a clone."""
    folder = stack_folder()
    if not (folder / "benchmarks" / "evaluation").is_dir():
        raise click.ClickException("the gold set is in a clone of the repository, and not in the package")
    command = [sys.executable, "-m", "benchmarks.evaluation", *context.args]
    return subprocess.run(command, cwd=folder, check=False).returncode  # noqa: S603  the user's own arguments
