"""The distributions: what the wheels hold, and that they work in an empty environment away from the clone."""

import json
import os
import re
import signal
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.dry_make import MAKE_VARIABLES

pytestmark = pytest.mark.xdist_group("distributions")

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "shared" / "streambank"
# What leads Python or pip back into the clone.
CLONE_VARIABLES = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in CLONE_VARIABLES}

CLIENT_ALONE = """
import sys
import streambank_client
from streambank_client import AsyncStreambank, Event, Streambank
print([name for name in sys.modules if name.startswith(("aws", "boto", "moto", "s3transfer"))])
print(sorted({"streambank", "streambank_local"} & set(sys.modules)))
"""
FIRST_MEMORY = """
import sys
from streambank_client import Event, Streambank

with Streambank(sys.argv[1], token="local") as client:
    bank = client.bank("default")
    scope = {"user_id": "123"}
    events = [Event.from_text("I play the cello.")]
    bank.ingest_events(scope=scope, events=events, force_flush=True).wait(timeout_seconds=120)
    print([match.memory.fact for match in bank.retrieve_memories(scope=scope, query="music")])
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The service's wheel and the client's, built from this clone."""
    folder = tmp_path_factory.mktemp("wheels")
    command = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, *command, str(ROOT), str(ROOT / "client")], cwd=folder, check=True)
    (service,) = folder.glob("streambank-*.whl")
    (client,) = folder.glob("streambank_client-*.whl")
    return service, client


def files(wheel: Path) -> set[str]:
    """The names of a wheel's files, its metadata apart."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def sources(folder: Path) -> set[str]:
    """The names of the files that a package has in the clone."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder.parent).as_posix() for path in paths}


def test_the_service_wheel_holds_all_that_local_mode_needs(wheels: tuple[Path, Path]) -> None:
    """It holds the three packages as they are in the clone, and below `stack` what local mode deploys."""
    functions = {f"functions/{path.name}" for path in (ROOT / "functions").glob("*.py")}
    stack = {"template.yaml", "infra/generation.asl.json", "openapi.json", *functions}
    packages = sources(PACKAGE) | sources(ROOT / "infra" / "streambank_local")
    packages |= sources(ROOT / "infra" / "streambank_console")
    assert files(wheels[0]) == packages | {f"streambank_local/stack/{name}" for name in stack}
    assert {"streambank/py.typed", "streambank_local/py.typed", "streambank_local/demo/conversation.json"} <= packages
    assert {"streambank_console/static/console.css", "streambank_console/static/console.js"} <= packages


def test_the_client_wheel_holds_the_client_alone(wheels: tuple[Path, Path]) -> None:
    """It holds one package as it is in the clone, with its types."""
    package = sources(ROOT / "client" / "streambank_client")
    assert files(wheels[1]) == package
    assert "streambank_client/py.typed" in package


def test_the_layer_holds_the_package_as_it_is(tmp_path: Path) -> None:
    """The layer's recipe copies the package, and leaves nothing of it out but compiled files."""
    make = ["make", "--silent", "--directory", str(ROOT / "shared"), f"ARTIFACTS_DIR={tmp_path}", *MAKE_VARIABLES]
    subprocess.run([*make, "package"], check=True)
    layer = tmp_path / "python" / "streambank"
    assert sources(layer) == sources(PACKAGE)
    assert all((layer.parent / name).read_bytes() == (PACKAGE.parent / name).read_bytes() for name in sources(PACKAGE))
    recipe = subprocess.run(
        [*make, "--dry-run", "build-SharedLayer"], check=True, capture_output=True, text=True
    ).stdout
    removals = [line for line in recipe.splitlines() if re.search(r"\b(rm|rmdir|unlink)\b|-delete\b", line)]
    assert removals
    assert not [line for line in removals if "streambank" in line.replace(str(tmp_path), "")]


# ---- in an empty environment


@pytest.fixture(scope="module")
def python(wheels: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has the wheels and what they depend on, in the versions of requirements/dev.txt."""
    folder = tmp_path_factory.mktemp("installed")
    pins = re.findall(r"^\S+==[^\\\n]+", (ROOT / "requirements" / "dev.txt").read_text(), re.MULTILINE)
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(pins))
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    service, client = wheels
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    pinned = next(pin for pin in pins if pin.startswith("pydantic=="))
    probe = [*pip, "download", "--no-deps", "--no-cache-dir", "--retries", "0", "--dest", str(folder), pinned]
    if subprocess.run(probe, cwd=folder, env=ENVIRONMENT, capture_output=True, check=False).returncode:
        pytest.skip("pip reaches no package index")
    requirements = [f"streambank[server,local] @ {service.as_uri()}", f"streambank-client[mcp] @ {client.as_uri()}"]
    install = [*pip, "install", "--constraint", str(constraints), *requirements]
    subprocess.run(install, cwd=folder, env=ENVIRONMENT, check=True)
    return python


def output(program: Path, folder: Path, *arguments: str, typed: str = "") -> str:
    """What a program prints that runs in *folder*, away from the clone."""
    command = [str(program), *arguments]
    done = subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, input=typed, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def serving(program: Path, folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start local mode in *folder*, and yield the process and its address."""
    command = [str(program), *arguments, "--port", "0"]
    process = subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
        match = re.search(r"http://\S+(?=,)", lines[1])
        if match is None:
            pytest.fail(process.communicate(timeout=60)[1])
        yield process, match[0]
    finally:
        process.kill()
        process.communicate(timeout=60)


@pytest.fixture
def url(python: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a service in local mode, which ends cleanly and leaves the installed package as it was."""
    package = Path(output(python, tmp_path, "-c", "import streambank_local as p; print(p.__path__[0])").strip())
    before = {path: path.stat().st_mtime_ns for path in package.rglob("*")}
    with serving(python, tmp_path, "-m", "streambank_local") as (process, url):
        yield url
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")
    assert {path: path.stat().st_mtime_ns for path in package.rglob("*")} == before


@pytest.mark.slow
def test_the_client_imports_nothing_of_aws(python: Path, tmp_path: Path) -> None:
    """Importing the client loads neither AWS's libraries nor the service."""
    assert output(python, tmp_path, "-c", CLIENT_ALONE) == "[]\n[]\n"


@pytest.mark.slow
def test_installed_local_mode_makes_a_memory(python: Path, url: str, tmp_path: Path) -> None:
    """An event that the client sends to an installed service becomes a memory."""
    assert "cello" in output(python, tmp_path, "-c", FIRST_MEMORY, url)


@pytest.mark.slow
def test_installed_demo_succeeds(python: Path, tmp_path: Path) -> None:
    """The demo runs from its package data, and says how to go on without a clone."""
    assert "python -m streambank_local" in output(python, tmp_path, "-m", "streambank_local.demo")


@pytest.mark.slow
def test_installed_command_keeps_a_chat_through_a_kill(python: Path, tmp_path: Path) -> None:
    """After `kill -9` and a second start every memory is there, and `why` leads from an event to its memory."""
    command, scope = python.with_name("streambank"), ("--scope", "user_id=ada")
    message = {"type": "message", "id": "m-1", "role": "user", "content": "I live in Graz."}
    (tmp_path / "monday.json").write_text(json.dumps([message]))

    def result(url: str, *arguments: str, typed: str = "") -> dict[str, Any]:
        return json.loads(output(command, tmp_path, *arguments, "--url", url, "--json", typed=typed))

    with serving(command, tmp_path, "serve", "--data", "d") as (process, url):
        typed = "I play the cello.\nMy name is Ada.\nI keep bees.\n"
        chat = result(url, "chat", *scope, "--every", "2", "--wait-seconds", "300", typed=typed)
        assert [one["verdict"] for one in chat["verdicts"]] == ["CREATED", "CREATED"]
        sent = result(url, "ingest", "monday.json", *scope, "--stream", "monday", "--wait")
        assert sent["acceptedEvents"] == 1
        memories = result(url, "memories", *scope)
        process.kill()
        process.wait(timeout=60)
    assert {one["fact"] for one in memories["memories"]} == {"I play the cello", "My name is Ada", "I live in Graz"}
    with serving(command, tmp_path, "serve", "--data", "d") as (_, url):
        assert result(url, "memories", *scope) == memories
        story = result(url, "why", "m-1", *scope, "--stream", "monday")
        [waiting] = [one for one in result(url, "streams")["streams"] if one["streamId"] == "chat"]
    assert [one["fact"] for one in story["memories"]] == ["I live in Graz"]
    assert story["memories"][0]["name"] in [one["name"] for one in memories["memories"]]
    assert waiting["pendingEvents"] == 1


@pytest.mark.slow
def test_installed_command_evaluates(python: Path, tmp_path: Path) -> None:
    """`streambank eval` plays the gold set of the package, and keeps its results in the current folder."""
    printed = output(python.with_name("streambank"), tmp_path, "eval", "--limit", "2", "--json")
    assert json.loads(printed)["total"]["cases"] == 2
    assert len((tmp_path / "evaluation.jsonl").read_text().splitlines()) == 2


@pytest.mark.slow
def test_missing_module_is_reported_with_what_installs_it(python: Path, tmp_path: Path) -> None:
    """Without a clone the message names the extras."""
    code = "import sys; sys.modules['moto'] = None; from streambank_local.__main__ import main; sys.exit(main([]))"
    done = subprocess.run(
        [str(python), "-c", code], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.endswith('missing moto; install what is missing with: pip install "streambank[server,local]"\n')
