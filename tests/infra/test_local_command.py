"""`python -m streambank_local`, as a newcomer runs it."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.dry_make import MAKE_VARIABLES

ROOT = Path(__file__).resolve().parents[2]
RUN = "import sys; from streambank_local.__main__ import main; sys.exit(main())"


def started(*arguments: str, code: str = RUN) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *arguments]
    # As a shell starts a background job: with SIGINT ignored.
    return subprocess.Popen(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *command],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_port_in_use_is_reported_in_one_line() -> None:
    """A port in use is reported before anything is started."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        process = started("--port", port)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (1, "")
    assert err.count("\n") == 1
    assert f"port {port}" in err


def test_missing_module_is_reported_in_one_line() -> None:
    """What is not installed is named, with the way to install it."""
    process = started("--port", "0", code="import sys; sys.modules['moto'] = None\n" + RUN)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (1, "")
    assert err.count("\n") == 1
    assert "missing moto; install what is missing with: make setup" in err


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"STREAMBANK_MODEL": "gpt"}, "STREAMBANK_MODEL is 'gpt'; it can be embedded, bedrock or openai"),
        ({"STREAMBANK_MODEL": "openai", "MODEL_ID": "m"}, "needs OPENAI_BASE_URL, EMBEDDING_MODEL_ID"),
        ({"STREAMBANK_MODEL": "bedrock", "AWS_PROFILE": "nobody"}, "(nobody) could not be found"),
    ],
)
def test_a_model_that_cannot_be_used_is_reported_in_one_line(
    variables: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong name, and what a model needs and has not, is an error of one line."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    process = started("--port", "0")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err.count("\n") == 1
    assert message in err


def test_interrupt_while_starting_ends_cleanly() -> None:
    """Being stopped before it is ready is no error."""
    process = started("--port", "0")
    assert process.stdout is not None
    assert "starting" in process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")


def test_service_comes_up_and_ends_cleanly() -> None:
    """It prints its address and token and serves there; Ctrl-C ends it with status 0 and no traceback."""
    process = started("--port", "0")
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(2)]
    url = next(word for word in lines[1].split() if word.startswith("http")).rstrip(",")
    assert "token: local" in lines[1]
    assert httpx.get(url + "/_local/counters").status_code == 200
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.slow
def test_service_comes_up_with_keys() -> None:
    """`--auth keys`: it names the route that makes keys, and a key from there opens its bank."""
    process = started("--port", "0", "--auth", "keys")
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(2)]
    assert "token: local, an operator's; POST /_local/keys makes others" in lines[1]
    url = next(word for word in lines[1].split() if word.startswith("http")).rstrip(",")
    key = httpx.post(url + "/_local/keys", json={"bank": "default", "roles": ["read"]}).json()["key"]
    banks = [
        httpx.get(f"{url}/v1/memoryBanks/default", headers={"authorization": f"Bearer {token}"}).status_code
        for token in ("local", key, "other")
    ]
    assert banks == [200, 200, 401]
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")


@pytest.mark.slow
def test_without_a_folder_it_says_that_everything_is_forgotten() -> None:
    """The first and the last line say it, and name the option that keeps the data."""
    process = started("--port", "0")
    assert process.stdout is not None
    first, last = (process.stdout.readline() for _ in range(2))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert "forgets everything at its end (python -m streambank_local --data DIR keeps it)" in first
    assert "everything is forgotten then (python -m streambank_local --data DIR keeps it)" in last


@pytest.mark.slow
def test_messages_name_the_options_of_make(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run by `make run`, no message names an option that only the module has."""
    monkeypatch.setenv("STREAMBANK_COMMAND", "make run")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        _, err = started("--port", str(other.getsockname()[1])).communicate(timeout=30)
    assert "choose another one, as in: make run PORT=8111" in err
    for arguments in (["--port", "x"], ["--auth", "open"], ["--port", "99999"], ["--port"]):
        _, message = started(*arguments).communicate(timeout=30)
        assert message.startswith("make run: ")
        err += message
    (tmp_path / "file").write_bytes(b"")
    out, message = started("--port", "0", "--data", str(tmp_path / "file")).communicate(timeout=30)
    assert message == f"streambank local: {tmp_path / 'file'} is a file; the data need a folder\n"
    assert "--" not in err + message + out
    assert "PORT" in err
    assert "AUTH" in err


@pytest.mark.slow
def test_a_folder_in_use_ends_a_second_process(tmp_path: Path) -> None:
    """The second process exits with status 1 and one line that names the folder; the lines of the first name it too."""
    process = started("--port", "0", "--data", str(tmp_path))
    assert process.stdout is not None
    first, last = (process.stdout.readline() for _ in range(2))
    assert f"with the data in {tmp_path}" in first
    assert last.endswith(f"the data stay in {tmp_path}.\n")
    second = started("--port", "0", "--data", str(tmp_path))
    _, err = second.communicate(timeout=30)
    assert (second.returncode, err) == (
        1,
        f"streambank local: the folder {tmp_path} is used by another process\n",
    )
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    assert not (tmp_path / "streambank.db-wal").exists()


def test_the_makefile_hands_its_variables_on() -> None:
    """`make run` takes DATA, PORT, AUTH and CHANGES together, and says by which command it runs."""
    shown = subprocess.run(
        ["make", "-n", "run", "DATA=a b", "PORT=8111", "AUTH=keys", "CHANGES=http://x/", *MAKE_VARIABLES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert 'STREAMBANK_COMMAND="make run"' in shown
    assert '--port 8111 --auth keys --data "a b"' in shown
    assert '--changes-webhook "http://x/"' in shown


def test_an_unknown_mode_is_refused_before_the_start() -> None:
    """`--auth` takes keys or jwt."""
    out, err = started("--auth", "open").communicate(timeout=30)
    assert out == ""
    assert "invalid choice: 'open'" in err


def test_a_host_that_is_no_address_is_refused_before_the_start() -> None:
    """`--host` takes an IPv4 address; what it cannot take is shown."""
    out, err = started("--host", "nonsense").communicate(timeout=60)
    assert (out, err.count("\n")) == ("", 1)
    assert "'nonsense' is not an IPv4 address" in err
