"""The built artefacts."""

from pathlib import Path

from infra.stack.outcome import Outcome, UnmetError, failed, passed
from infra.stack.tools import ARCHITECTURE, BUILD, BUILT_TEMPLATE, run, tool

LAYER = BUILD / "SharedLayer" / "python"
# Lambda's limit on a function with its layers, unzipped (Lambda quotas, in AWS's documentation).
LIMIT_BYTES = 250 * 1024 * 1024
NEVER_DEPLOYED = ("streambank_local", "streambank_client", "moto", "wordllama", "numpy", "httpx", "boto3")


def sam_builds() -> Outcome:
    """Prove that SAM builds all functions and the layer, without a container."""
    status, said = run(
        [tool("stack", "sam"), "build", "--build-dir", BUILD, "--parameter-overrides", f"Architecture={ARCHITECTURE}"]
    )
    return failed(said) if status else passed(f"{len(functions())} functions and a layer, for {ARCHITECTURE}")


def artefacts_are_small_and_whole() -> Outcome:
    """Prove that layer and functions are within Lambda's limit, hold what they need and nothing that stays at home."""
    size = _bytes(LAYER) + max(_bytes(built) for built in functions())
    strays = [name for name in NEVER_DEPLOYED if (LAYER / name).exists()]
    lonely = [module.name for module in LAYER.rglob("*.so") if not _twin(module).exists()]
    if size > LIMIT_BYTES or strays or lonely:
        return failed(f"{size} bytes, in the layer: {strays}, for one processor only: {lonely}")
    return passed(f"{size / 2**20:.0f} of 250 MB unzipped, native modules for both processors, nothing embedded")


def functions() -> list[Path]:
    """Return the directories of the built functions; raises UnmetError if there are none."""
    if not BUILT_TEMPLATE.exists():
        raise UnmetError("nothing was built")
    return sorted(path.parent for path in BUILD.glob("*/ingest.py"))


def _twin(module: Path) -> Path:
    """Return where a native module lies for the other processor; one that names none lies over its twin."""
    ours, theirs = ("x86_64", "aarch64") if "x86_64" in module.name else ("aarch64", "x86_64")
    twin = module.name.replace(ours, theirs)
    return module.with_name(twin if twin != module.name else f"{twin} of {theirs}")


def _bytes(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
