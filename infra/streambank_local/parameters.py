"""The template's parameters that the environment sets, by the variables of a deployed function."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from streambank_local.template_file import read_template

# The table of local mode is always its own.
_NOT_SET = "RestoredTable"


def parameters_of(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of *folder*'s template.yaml that *environment* sets; an empty variable sets none."""
    template = read_template(folder)
    variables = template["Globals"]["Function"]["Environment"]["Variables"]
    return {
        name: environment[variable]
        for variable, value in variables.items()
        for name in _references(value)
        if name in template["Parameters"] and name != _NOT_SET and environment.get(variable)
    }


def _references(value: Any) -> Iterator[str]:
    """Yield the names that a value refers to: one, or that of each outcome of an !If."""
    if isinstance(value, dict):
        if "Ref" in value:
            yield value["Ref"]
        for outcome in value.get("Fn::If", [])[1:]:
            yield from _references(outcome)
