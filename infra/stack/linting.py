"""The linters; a finding of checkov is fixed, or accepted with its reason."""

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from samtranslator.yaml_helper import yaml_parse

from infra.stack.outcome import Outcome, failed, passed
from infra.stack.tools import BUILD, ROOT, run, tool
from streambank_local.emulator.translation import translate

ACCEPTED = Path(__file__).parent / "accepted.toml"


def sam_validates() -> Outcome:
    """Prove that SAM accepts the template."""
    status, output = run([tool("stack", "sam"), "validate", "--lint"])
    return failed(output) if status else passed("a valid SAM template")


def cfn_lint_finds_nothing() -> Outcome:
    """Prove that cfn-lint finds nothing, at any level."""
    status, output = run([tool("stack", "cfn-lint"), "--template", "template.yaml", "--include-checks", "I"])
    return failed(output) if status else passed("no error, no warning, no remark")


def checkov_finds_what_is_accepted() -> Outcome:
    """Prove that checkov's findings are the accepted ones, in the template and in SAM's CloudFormation."""
    checkov = tool("checkov", "checkov")
    findings: Counter[str] = Counter()
    for file in (ROOT / "template.yaml", _translated()):
        _, output = run([checkov, "-f", file, "--framework", "cloudformation", "--skip-download", "-o", "json"])
        findings.update(_failed_checks(json.loads(output[output.index("{") :])))
    accepted: dict[str, Any] = tomllib.loads(ACCEPTED.read_text())
    unexplained, stale = sorted(set(findings) - set(accepted)), sorted(set(accepted) - set(findings))
    if unexplained or stale:
        return failed(f"not accepted: {unexplained}; accepted, but no longer reported: {stale}")
    return passed(f"{findings.total()} findings of {len(findings)} kinds, each with its reason in {ACCEPTED.name}")


def _failed_checks(report: dict[str, Any]) -> Counter[str]:
    return Counter(check["check_id"] for check in report["results"]["failed_checks"])


def _translated() -> Path:
    """Write SAM's CloudFormation of the template, because checkov reads SAM's own types only in part."""
    translated = translate(yaml_parse((ROOT / "template.yaml").read_text()), ROOT, {})
    BUILD.mkdir(parents=True, exist_ok=True)
    file = BUILD / "translated.json"
    file.write_text(json.dumps(translated))
    return file
