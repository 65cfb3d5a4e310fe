"""What importing the library brings along."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import streambank_client

CLIENT = Path(__file__).resolve().parents[2] / "client"
# The service, local mode, and what these depend on; the client is a distribution of its own.
SERVERS = (
    "streambank",
    "streambank_local",
    "functions",
    "boto3",
    "botocore",
    "moto",
    "aws_lambda_powertools",
    "re2",
    "jsonschema",
    "lark",
    "snowballstemmer",
)
EVERYTHING = (
    "from streambank_client import *; import streambank_client.types as types; from streambank_client.types import *"
)
PARTS = "import streambank_client.strands, streambank_client.koog, streambank_client.chat, streambank_client.formats"


def ran(program: str, path: Path = CLIENT) -> str:
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(path)})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("imported", ["import streambank_client", EVERYTHING, PARTS])
def test_import_brings_no_server(imported: str) -> None:
    """The client needs httpx and pydantic: nothing of the service or of AWS is imported with it."""
    program = f"""
import sys
{imported}
print(streambank_client.__file__ if "streambank_client" in globals() else sys.modules["streambank_client"].__file__)
print(sorted(name for name in sys.modules if name.partition(".")[0] in {SERVERS!r}))
"""
    file, servers = ran(program).splitlines()
    assert (Path(file), servers) == (CLIENT / "streambank_client" / "__init__.py", "[]")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the client's wheel, as it is published."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=CLIENT, capture_output=True, check=True)
    [built] = folder.glob("*.whl")
    return built


def test_distribution_has_metadata(wheel: Path) -> None:
    """The distribution is streambank-client in the version of the package, and depends on httpx and pydantic alone."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("/METADATA")]
        metadata = Parser().parsestr(archive.read(name).decode())
        packages = {name.partition("/")[0] for name in archive.namelist()}
    assert (metadata["Name"], metadata["Version"]) == ("streambank-client", streambank_client.__version__)
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert {re.match(r"\w+", line)[0] for line in needed} == {"httpx", "pydantic"}
    assert packages == {"streambank_client", f"streambank_client-{streambank_client.__version__}.dist-info"}


def test_wheel_has_every_module(wheel: Path) -> None:
    """Whatever is imported from the sources can be imported from the wheel, and its types are known to be there."""
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("streambank_client/")}
    sources = {str(path.relative_to(CLIENT)) for path in (CLIENT / "streambank_client").rglob("*.py")}
    assert packed == sources | {"streambank_client/py.typed"}
    assert ran("import streambank_client; print(streambank_client.__version__)", wheel).strip() == (
        streambank_client.__version__
    )


def test_client_calls_without_the_service() -> None:
    """With the service's packages out of reach, a client makes calls and reads replies."""
    program = f"""
import sys
for name in {SERVERS!r}: sys.modules[name] = None
import httpx
from streambank_client import Streambank
answer = httpx.MockTransport(lambda request: httpx.Response(200, json={{"name": "reasoningEngines/b"}}))
print(Streambank("https://h", transport=answer).bank("b").get().id)
"""
    assert ran(program) == "b\n"


def test_names_are_found() -> None:
    """Each public name is there, and no other is made up."""
    assert all(getattr(streambank_client, name) for name in streambank_client.__all__)
    assert set(dir(streambank_client)) == set(streambank_client.__all__)
    with pytest.raises(AttributeError):
        streambank_client.Nonsense  # noqa: B018
