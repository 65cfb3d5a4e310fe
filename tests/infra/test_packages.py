"""The packages: what an index accepts, and that the source distribution builds the same wheel."""

import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser
from pathlib import Path

import pytest

from tests.dry_make import MAKE_VARIABLES

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = {"streambank": ROOT, "streambank-client": ROOT / "client"}


@dataclass(frozen=True)
class Package:
    name: str
    wheel: dict[str, bytes]
    wheel_of_sdist: dict[str, bytes]
    sdist: set[str]

    @property
    def metadata(self) -> Message:
        (content,) = (content for name, content in self.wheel.items() if name.endswith(".dist-info/METADATA"))
        return BytesParser().parsebytes(content)


def build(project: Path, folder: Path, target: str) -> Path:
    """Build one distribution of a project in *folder*, and return its path."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    (path,) = (path for path in folder.iterdir() if path.is_file())
    return path


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module", params=PROJECTS)
def package(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Package:
    project, folder = PROJECTS[request.param], tmp_path_factory.mktemp("packages")
    sdist = build(project, folder / "sdist", "sdist")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    return Package(
        request.param,
        contents(build(project, folder / "wheel", "wheel")),
        contents(build(unpacked, folder / "again", "wheel")),
        names,
    )


def test_source_distribution_builds_the_same_wheel(package: Package) -> None:
    """Each file of the wheel is byte for byte the same, whether it is built in the clone or from the sdist."""
    assert package.wheel_of_sdist == package.wheel


def test_licence_readme_and_type_markers_are_in_the_packages(package: Package) -> None:
    """The licence is in both distributions, the readme in the sdist, and a type marker in each package of the wheel."""
    assert {"LICENSE", "README.md", "pyproject.toml"} <= package.sdist
    assert [name for name in package.wheel if name.endswith(".dist-info/licenses/LICENSE")]
    packages = {name.partition("/")[0] for name in package.wheel if not name.split("/")[0].endswith(".dist-info")}
    assert {f"{name}/py.typed" for name in packages} <= package.wheel.keys()


def test_metadata_has_what_an_index_needs(package: Package) -> None:
    """The name, a summary of one line, the licence, keywords, known classifiers, and a long description in Markdown."""
    from trove_classifiers import classifiers

    metadata = package.metadata
    assert metadata["Name"] == package.name
    assert metadata["Metadata-Version"] == "2.4"
    assert 20 < len(metadata["Summary"]) < 200
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert len(metadata["Keywords"].split(",")) > 3
    assert set(metadata.get_all("Classifier")) <= classifiers
    assert not any(one.startswith("License ::") for one in metadata.get_all("Classifier"))
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload().lower().startswith(f"# {package.name}\n")


def test_make_builds_and_checks_both() -> None:
    """`make packages` builds each project, and lets twine check all that it built."""
    done = subprocess.run(
        ["make", "--dry-run", "packages", *MAKE_VARIABLES], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert "for project in . client" in done
    assert "twine check --strict dist/*" in done
