"""The distributions: what the wheels hold, and that they work in an empty environment away from the clone."""

import os
import re
import signal
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

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
print(sorted({"boto3", "botocore", "moto", "streambank", "streambank_local"} & set(sys.modules)))
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
    make = ["make", "--silent", "--directory", str(ROOT / "shared"), f"ARTIFACTS_DIR={tmp_path}"]
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
    requirements = [f"streambank[server,local] @ {service.as_uri()}", f"streambank-client @ {client.as_uri()}"]
    install = [*pip, "install", "--constraint", str(constraints), *requirements]
    subprocess.run(install, cwd=folder, env=ENVIRONMENT, check=True)
    return python


def output(python: Path, folder: Path, *arguments: str) -> str:
    """What a program prints that runs in *folder*, away from the clone."""
    command = [str(python), *arguments]
    done = subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def url(python: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a service in local mode, which ends cleanly and leaves the installed package as it was."""
    package = Path(output(python, tmp_path, "-c", "import streambank_local as p; print(p.__path__[0])").strip())
    before = {path: path.stat().st_mtime_ns for path in package.rglob("*")}
    process = subprocess.Popen(
        [str(python), "-m", "streambank_local", "--port", "0"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(2)]
    match = re.search(r"http://\S+(?=,)", lines[1])
    if match is None:
        pytest.fail(process.communicate(timeout=60)[1])
    yield match[0]
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert {path: path.stat().st_mtime_ns for path in package.rglob("*")} == before


@pytest.mark.slow
def test_the_client_imports_nothing_of_aws(python: Path, tmp_path: Path) -> None:
    """Importing the client loads neither AWS's libraries nor the service."""
    assert output(python, tmp_path, "-c", CLIENT_ALONE) == "[]\n"


@pytest.mark.slow
def test_installed_local_mode_makes_a_memory(python: Path, url: str, tmp_path: Path) -> None:
    """An event that the client sends to an installed service becomes a memory."""
    assert "cello" in output(python, tmp_path, "-c", FIRST_MEMORY, url)


@pytest.mark.slow
def test_installed_demo_succeeds(python: Path, tmp_path: Path) -> None:
    """The demo runs from its package data, and says how to go on without a clone."""
    assert "python -m streambank_local" in output(python, tmp_path, "-m", "streambank_local.demo")


@pytest.mark.slow
def test_missing_module_is_reported_with_what_installs_it(python: Path, tmp_path: Path) -> None:
    """Without a clone the message names the extras."""
    code = "import sys; sys.modules['moto'] = None; from streambank_local.__main__ import main; sys.exit(main([]))"
    done = subprocess.run(
        [str(python), "-c", code], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.endswith('missing moto; install what is missing with: pip install "streambank[server,local]"\n')
