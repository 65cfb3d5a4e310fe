"""The first steps that other pages show: the API with curl, the client's installation, a key for an application."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import venv
from pathlib import Path

import httpx
import pytest

from streambank.model.api_key import Token
from streambank_local.command.main import main
from streambank_local.service import LocalService
from tests import aws
from tests.docs.conftest import LOCAL, ROOT, indented_blocks


def commands(page: str, prefix: str) -> list[str]:
    """Return a page's commands that begin with *prefix*, each with the lines that go on with it."""
    blocks = indented_blocks((ROOT / "docs" / page).read_text())
    every = [part for block in blocks for part in re.findall(r"^\S.*?(?=^\S|\Z)", block, re.MULTILINE | re.DOTALL)]
    return [command.split("  #")[0].strip() for command in every if command.startswith(prefix)]


def curled(service: LocalService, command: str) -> httpx.Response:
    """Send what a curl command would send."""
    words = shlex.split(command.replace("\\\n", " "))
    given = [(words[n], words[n + 1]) for n in range(len(words) - 1)]
    headers = dict(value.split(": ", 1) for flag, value in given if flag == "-H")
    url = next(word for word in words if word.startswith("http")).replace(LOCAL, service.base_url)
    return httpx.post(url, content=next(value for flag, value in given if flag == "-d"), headers=headers, timeout=60)


def test_the_first_calls(service: LocalService) -> None:
    """Two events, the same again, five minutes at once, a question: as the page describes it."""
    say, wait, ask, append = commands("http.md", "curl")
    first, again = curled(service, say), curled(service, say)
    counts = [reply.json()["metadata"] for reply in (first, again)]
    assert [(one["acceptedEvents"], one["duplicateEvents"]) for one in counts] == [(2, 0), (0, 2)]
    assert first.json()["name"] == again.json()["name"]
    assert curled(service, wait).is_success
    service.wait_until_idle()
    (nearest,) = curled(service, ask).json()["retrievedMemories"]
    assert "blue" in nearest["memory"]["fact"]
    assert [curled(service, append).json()["messageCount"] for _ in range(2)] == [1, 1]


def test_a_key_is_made_as_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command prints a token, with names in the place of TABLE and REGION."""
    (command,) = commands("deploying.md", ".venv/bin/streambank keys")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    printed = io.StringIO()
    with aws.dynamodb(), contextlib.redirect_stdout(printed):
        assert main(command.replace("TABLE", aws.TABLE).replace("REGION", "us-east-1").split()[1:]) == 0
    assert Token.parse(printed.getvalue().strip())


@pytest.mark.slow
def test_the_client_installs_without_aws(tmp_path: Path) -> None:
    """In an empty environment the page's command brings the client, and nothing of AWS."""
    (command,) = commands("client.md", "pip install ./client")
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    words = [str(python), "-m", *shlex.split(command), "--quiet", "--disable-pip-version-check"]
    subprocess.run(words, cwd=clone, check=True)
    code = "import importlib.util, streambank_client; print(importlib.util.find_spec('boto3'))"
    done = subprocess.run([str(python), "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "None\n"
