"""The command `streambank console`, where it cannot start."""

from __future__ import annotations

import sys

from streambank_local.command.main import main


def test_a_missing_package_is_named_with_its_cure(monkeypatch, capsys):
    """Without NiceGUI the command ends with one line that says what to install."""
    for name in [one for one in sys.modules if one.startswith("streambank_console.") and "pages" in one]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "streambank_console.server", raising=False)
    monkeypatch.setitem(sys.modules, "nicegui", None)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["console"]) == 1
    message = capsys.readouterr().err
    assert "is missing" in message
    assert 'pip install "streambank[console]" streambank-client' in message
    assert message.count("\n") == 1


def test_data_without_local_mode_are_refused(capsys):
    """A folder for the state is of local mode alone."""
    assert main(["console", "--data", "x"]) == 2
    assert "--data needs --local" in capsys.readouterr().err
