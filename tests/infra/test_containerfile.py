"""The recipe of the container image, as far as it can be checked without a container engine."""

import json
import re
import subprocess
import sys
from pathlib import Path

from streambank_local.callers.operator_token import VARIABLE

ROOT = Path(__file__).resolve().parents[2]
RECIPE = re.sub(r"\\\n\s*", "", (ROOT / "Containerfile").read_text())


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.+)$", RECIPE, re.MULTILINE)


def test_what_is_copied_is_there() -> None:
    """Each file that is copied is in the repository, or made by `make packages`."""
    sources = [source for line in instructions("COPY") for source in line.split()[:-1]]
    assert sources == ["dist/*.whl", "requirements/dev.txt"]
    assert (ROOT / "requirements/dev.txt").is_file()
    assert "--outdir dist" in (ROOT / "Makefile").read_text()


def test_the_command_has_options_that_exist() -> None:
    """It starts local mode on every address, with a mode, and with options that local mode has."""
    (text,) = instructions("CMD")
    command = json.loads(text)
    assert command[:3] == ["python", "-m", "streambank_local"]
    help_text = subprocess.run([sys.executable, *command[1:3], "--help"], capture_output=True, text=True, check=True)
    options = {word for word in command if word.startswith("--")}
    assert {"--host", "--auth", "--data"} <= options
    # A folder for the data is an option of a version that keeps its state.
    assert options <= set(re.findall(r"--\w+", help_text.stdout))


def test_it_runs_as_somebody_else_and_keeps_its_data_in_a_volume() -> None:
    """The last user is a number and not root, owns the volume, and the command's folder is that volume."""
    (user,), (volume,) = instructions("USER"), instructions("VOLUME")
    assert int(user) > 0
    assert f"useradd --system --uid {user} --no-create-home streambank" in RECIPE
    assert f"--owner streambank --mode 700 {volume}" in RECIPE
    assert json.loads(instructions("CMD")[0])[-2:] == ["--data", volume]


def test_pins_are_read_as_constraints(tmp_path: Path) -> None:
    """The recipe's sed leaves a name, a version and a marker of each pin, and nothing else."""
    expression = re.search(r"sed -nE '([^']+)'", (ROOT / "Containerfile").read_text())
    assert expression
    pins = ROOT / "requirements" / "dev.txt"
    lines = subprocess.run(["sed", "-nE", expression[1], str(pins)], capture_output=True, text=True, check=True).stdout
    assert len(lines.splitlines()) == len(re.findall(r"^\S+==", pins.read_text(), re.MULTILINE))
    assert all(re.fullmatch(r"[\w.\[\],-]+==[\w.]+( ; .+)?", line.strip()) for line in lines.splitlines())


def test_the_page_says_how_it_is_used() -> None:
    """The page names the volume and the variable, publishes on loopback, and says that the image was not built."""
    page = (ROOT / "docs" / "releasing.md").read_text()
    assert f"--volume streambank:{instructions('VOLUME')[0]}" in page
    assert f"--env {VARIABLE}" in page
    assert "127.0.0.1:8080:8080" in page
    assert "was not built yet" in page
