"""`python -m streambank_local`, as a newcomer runs it."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

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


def test_an_unknown_mode_is_refused_before_the_start() -> None:
    """`--auth` takes keys or jwt."""
    out, err = started("--auth", "open").communicate(timeout=30)
    assert out == ""
    assert "invalid choice: 'open'" in err
