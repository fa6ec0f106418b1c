"""Machine code of kernels: kept in files, and loaded by LLVM without Numba.

Importing Numba takes longer than all loops of a small problem. Once a kernel is compiled, its code
is loaded in less than a millisecond.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import llvmlite
import llvmlite.binding as llvm

log = logging.getLogger(__name__)
FOLDER = "NUMBA_CACHE_DIR"
"""The environment variable that names a folder for compiled code."""
_engines: list[Any] = []
"""What holds the code that was loaded, as long as the process lasts."""
_loading = Lock()


@dataclass(frozen=True)
class Code:
    """The machine code of one function."""

    symbol: str
    needs: tuple[str, ...]
    """Functions of other libraries that it calls."""
    machine_code: bytes

    def load(self, floats: Sequence[bool]) -> Any:
        """The function; ``floats`` tells which of its arguments are floating-point numbers.

        It takes the addresses of room for results and for an error, then the arguments.
        """
        with _loading:
            engine = _engine()
            if not all(llvm.address_of_symbol(name) for name in self.needs):
                import_module("sameas.compute.kernels.compiling").provide_symbols()
            engine.add_object_file(llvm.ObjectFileRef.from_data(self.machine_code))
            engine.finalize_object()
            _engines.append(engine)
        numbers = (ctypes.c_double if each else ctypes.c_int64 for each in floats)
        addresses = ctypes.c_void_p, ctypes.c_void_p
        return ctypes.CFUNCTYPE(ctypes.c_int32, *addresses, *numbers)(
            engine.get_function_address(self.symbol)
        )


def _engine() -> Any:
    """Room for code in memory, as Numba makes it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    reloc = "static" if target.name.startswith("x86") else "default"
    machine = target.create_target_machine(jit=True, reloc=reloc, codemodel="jitdefault")
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


@dataclass(frozen=True)
class Place:
    """Where the code of a kernel is kept: by processor and kinds of arguments."""

    name: str
    file: Path
    """The file that the kernel is written in."""
    kinds: str
    """What it was compiled for."""

    def read(self) -> Code | None:
        """The code; None if it is not there, damaged, or made from another version."""
        for folder in self._folders():
            with suppress(OSError, ValueError, KeyError):
                content = (folder / self._file_name).read_bytes()
                checksum, content = content[:32], content[32:]
                if hashlib.sha256(content).digest() != checksum:
                    continue
                header, _, code = content.partition(b"\n")
                values = json.loads(header)
                if values["made_from"] == self._made_from:
                    return Code(values["symbol"], tuple(values["needs"]), code)
        return None

    def write(self, code: Code) -> None:
        """Keep the code, if there is a folder for it."""
        values = {"made_from": self._made_from, "symbol": code.symbol, "needs": code.needs}
        content = json.dumps(values).encode() + b"\n" + code.machine_code
        for folder in self._folders():
            with suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                with tempfile.NamedTemporaryFile(dir=folder, delete=False) as draft:
                    draft.write(hashlib.sha256(content).digest() + content)
                Path(draft.name).replace(folder / self._file_name)
                return
        _note_no_folder()

    @property
    def is_writable(self) -> bool:
        """Whether there is a folder that code can be kept in."""
        for folder in self._folders():
            with suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=folder):
                    return True
        return False

    def _folders(self) -> Iterator[Path]:
        """The folders that code may be in, the first that can be written is used."""
        if (given := os.environ.get(FOLDER)) and _can_be_used(Path(given)):
            yield Path(given)
            return
        yield self.file.parent / "__pycache__"
        with suppress(RuntimeError):  # no home
            yield _folder_of_user()

    @property
    def _file_name(self) -> str:
        key = hashlib.sha256(repr((_processor(), self.kinds, str(self.file))).encode())
        return f"{self.name}-{key.hexdigest()[:16]}.code"

    @property
    def _made_from(self) -> str:
        return hashlib.sha256(repr((_contents(self.file), _versions())).encode()).hexdigest()


@cache
def _contents(file: Path) -> bytes:
    return hashlib.sha256(file.read_bytes()).digest()


@cache
def _processor() -> tuple[str, ...]:
    """The processor that code is compiled for, and what the user says about it."""
    given = (f"{name}={value}" for name, value in os.environ.items() if name.startswith("NUMBA_"))
    features = llvm.get_host_cpu_features().flatten()
    chosen = sorted(text for text in given if not text.startswith(FOLDER))
    return llvm.get_host_cpu_name(), features, *chosen


@cache
def _versions() -> tuple[object, ...]:
    """What code depends on besides its source."""
    numba = find_spec("numba")
    version = Path(numba.origin or "").with_name("_version.py") if numba else None
    known = version.read_bytes() if version and version.exists() else b""
    compiling = Path(__file__).with_name("compiling.py").read_bytes()
    return llvmlite.__version__, sys.implementation.cache_tag, known, compiling


def _can_be_used(folder: Path) -> bool:
    """Whether there is such a folder now, and files may be put there."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        return os.access(folder, os.W_OK)
    return False


def _folder_of_user() -> Path:
    """Where programs of this user keep what can be made again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "sameas"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/sameas"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sameas"


@cache
def _note_no_folder() -> None:
    log.warning("no folder for compiled code can be written; set %s to start faster", FOLDER)
