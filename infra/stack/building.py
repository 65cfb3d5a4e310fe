"""The built artefacts."""

from pathlib import Path

from infra.stack.outcome import Outcome, RequirementError, failed, passed
from infra.stack.tools import ARCHITECTURE, BUILD, BUILT_TEMPLATE, run, tool

LAYER = BUILD / "SharedLayer" / "python"
# Lambda's limit on a function with its layers, unzipped (Lambda quotas, in AWS's documentation).
LIMIT_BYTES = 250 * 1024 * 1024
NEVER_DEPLOYED = ("streambank_local", "streambank_client", "moto", "wordllama", "numpy", "httpx")


def sam_builds() -> Outcome:
    """Prove that SAM builds all functions and the layer, without a container."""
    status, output = run(
        [tool("stack", "sam"), "build", "--build-dir", BUILD, "--parameter-overrides", f"Architecture={ARCHITECTURE}"]
    )
    return failed(output) if status else passed(f"{len(functions())} functions and a layer, for {ARCHITECTURE}")


def artefacts_are_small_and_whole() -> Outcome:
    """Prove that layer and functions are within Lambda's limit, and hold nothing that is never deployed."""
    size = _bytes(LAYER) + max(_bytes(built) for built in functions())
    unexpected = [name for name in NEVER_DEPLOYED if (LAYER / name).exists()]
    unpaired = [module.name for module in LAYER.rglob("*.so") if not _counterpart(module).exists()]
    if size > LIMIT_BYTES or unexpected or unpaired:
        return failed(f"{size} bytes, in the layer: {unexpected}, for one processor only: {unpaired}")
    return passed(f"{size / 2**20:.0f} of 250 MB unzipped, native modules for both processors, nothing of local mode")


def functions() -> list[Path]:
    """Return the directories of the built functions; raises RequirementError if there are none."""
    if not BUILT_TEMPLATE.exists():
        raise RequirementError("nothing was built")
    return sorted(path.parent for path in BUILD.glob("*/README.md"))


def _counterpart(module: Path) -> Path:
    """Return the path of a native module for the other processor; there is none if the name has no processor."""
    ours, theirs = ("x86_64", "aarch64") if "x86_64" in module.name else ("aarch64", "x86_64")
    name = module.name.replace(ours, theirs)
    return module.with_name(name if name != module.name else f"{name} of {theirs}")


def _bytes(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
