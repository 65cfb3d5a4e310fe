"""The Kotlin compiler of the package kotlin-jupyter-kernel, and programs that it makes."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.frameworks.programs import ROOT

PYTHON = Path(os.environ.get("STREAMBANK_KOTLIN_PYTHON") or ROOT / ".venv-kotlin" / "bin" / "python")
needs_kotlin = pytest.mark.skipif(
    not (PYTHON.exists() and shutil.which("java")),
    reason="no Java, or no Python with the compiler: STREAMBANK_KOTLIN_PYTHON, .venv-kotlin",
)
# The compiler's own libraries come first: its jar has classes of them without their versions.
_LIBRARIES = ("kotlin-stdlib-", "kotlinx-serialization-core-", "kotlinx-serialization-json-", "kotlin-jupyter-kernel-")
_COMPILER = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"
_REGISTRAR = "org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar"
_SERIALIZATION = "org.jetbrains.kotlinx.serialization.compiler.extensions.SerializationComponentRegistrar"
# A Java that starts fast is better here than one that becomes fast.
_JAVA = ("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


@dataclass(frozen=True)
class Kotlin:
    """A compiler, and the libraries that programs are compiled and run with."""

    folder: Path

    def compile(self, sources: list[Path], into: Path) -> None:
        """Compile *sources*; a warning is an error."""
        plugin = into / "serialization.jar"
        with zipfile.ZipFile(plugin, "w") as archive:
            archive.writestr(f"META-INF/services/{_REGISTRAR}", _SERIALIZATION + "\n")
        done = subprocess.run(
            [
                *_JAVA, "-cp", str(self._jars()[-1]), _COMPILER, "-no-stdlib", "-no-reflect", "-Werror",
                "-classpath", self._class_path(), f"-Xplugin={plugin}", "-d", str(into), *map(str, sources),
            ],
            capture_output=True, text=True, timeout=900, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    def run(self, folder: Path, *arguments: str) -> str:
        """Run the program that was compiled into *folder*, and return what it prints."""
        command = [*_JAVA, "-cp", f"{folder}:{self._class_path()}", "MainKt", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _class_path(self) -> str:
        return ":".join(map(str, self._jars()))

    def _jars(self) -> list[Path]:
        jars = sorted(self.folder.glob("*.jar"))
        return [next(jar for jar in jars if jar.name.startswith(name)) for name in _LIBRARIES]


def installed() -> Kotlin:
    """Return the compiler that is installed."""
    locate = "import run_kotlin_kernel; print(run_kotlin_kernel.__path__[0])"
    done = subprocess.run([str(PYTHON), "-c", locate], capture_output=True, text=True, timeout=60, check=True)
    return Kotlin(Path(done.stdout.strip()) / "jars")
