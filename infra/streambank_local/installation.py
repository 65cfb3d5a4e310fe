"""Where local mode is installed: in a clone of the repository, or from a wheel."""

from importlib.util import find_spec
from pathlib import Path

_CLONE = Path(__file__).resolve().parents[2]
_IS_CLONE = (_CLONE / "template.yaml").is_file()

INSTALL_COMMAND = "make setup" if _IS_CLONE else 'pip install "streambank[server,local]"'
RUN_COMMAND = "make run" if _IS_CLONE else "python -m streambank_local"
# The command that this process was started by: `make run` sets the variable.
COMMAND_VARIABLE = "STREAMBANK_COMMAND"

# Checked before the start: the emulator imports some of them late, where a missing one looks like a server error.
_MODULES = (
    "antlr4",
    "aws_lambda_powertools",
    "boto3",
    "cryptography",
    "graphql",
    "httpx",
    "jsonpath_ng",
    "jsonschema",
    "jwt",
    "lark",
    "moto",
    "openapi_spec_validator",
    "py_partiql_parser",
    "pydantic",
    "re2",
    "samtranslator",
    "snowballstemmer",
)


def stack_folder() -> Path:
    """Return the folder that holds template.yaml and infra/generation.asl.json.

    That is the root of a clone; a wheel has them below this package, as pyproject.toml says.
    """
    return _CLONE if _IS_CLONE else Path(__file__).with_name("stack")


def with_option(command: str, name: str, value: str) -> str:
    """Return *command* with an option in its own form: `make run PORT=8111`, or `... --port 8111`."""
    return f"{command} {option(command, name)}{'=' if _is_make(command) else ' '}{value}"


def option(command: str, name: str) -> str:
    """Return what *command* calls an option."""
    return name.upper() if _is_make(command) else f"--{name}"


def _is_make(command: str) -> bool:
    return command.split()[:1] == ["make"]


def missing_modules() -> str | None:
    """Return a message that names the modules that are not installed, or None if all are."""
    missing = [name for name in _MODULES if find_spec(name) is None]
    return install_message(f"missing {', '.join(missing)}") if missing else None


def missing_embedder() -> str | None:
    """Return a notice that searches go by words alone, or None if the embedder of the basic model is installed."""
    if find_spec("wordllama") is not None:
        return None
    return "wordllama is not installed (it has no wheel for Python 3.14): a search goes by words alone, not by meaning."


def install_message(problem: str) -> str:
    """Return *problem* with the command that installs what local mode needs."""
    return f"{problem}; install what is missing with: {INSTALL_COMMAND}"
