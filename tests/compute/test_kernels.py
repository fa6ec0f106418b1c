"""Numba kernels: compiled by two processes, and where compiled code cannot be kept."""

import importlib.util
import inspect
import logging
import os
import subprocess
import sys

import numpy as np
import pytest

from folders import put
from sameas.compute.kernels import code as machine_code
from sameas.compute.kernels import compiling, ready
from sameas.compute.kernels.kernel import is_cached, kernel
from sameas.compute.kernels.topk import find_places

DOUBLE = """
def double(number: int) -> int:
    return 2 * number
"""


@pytest.fixture
def double(tmp_path, monkeypatch):
    """A function to compile, in a folder of its own; there is no other place for its code."""
    put(tmp_path / "file", "")
    monkeypatch.setenv("HOME", str(tmp_path / "file" / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "cache"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "numba"))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    machine_code._contents.cache_clear()
    return function_of(tmp_path / "double.py", DOUBLE)


def function_of(file, text):
    spec = importlib.util.spec_from_file_location("double", put(file, text))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.double


@pytest.fixture
def made(monkeypatch):
    """The kernels that are compiled, one after the other."""
    names, compile_code = [], compiling.compile_code

    def recorded(function, *rest, **more):
        names.append(function.__name__)
        return compile_code(function, *rest, **more)

    monkeypatch.setattr(compiling, "compile_code", recorded)
    return names


def test_kernels_compile_where_no_folder_can_be_written(tmp_path, double, caplog):
    put(tmp_path / "__pycache__", "")  # a file, so that not even root can write below it
    machine_code._note_no_folder.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert [kernel(double)(number) for number in (2, -3)] == [4, -6]
    assert [record.message.count("NUMBA_CACHE_DIR") for record in caplog.records] == [1]
    assert is_cached(kernel(double))  # or else all would be compiled each time


def test_code_is_kept_in_the_folder_of_the_user(tmp_path, double, made, monkeypatch):
    put(tmp_path / "__pycache__", "")
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setattr(machine_code, "_folder_of_user", lambda: tmp_path / "cache")
    assert not is_cached(kernel(double))
    assert [kernel(double)(2) for _ in range(3)] == [4, 4, 4]
    assert made == ["double"]
    assert is_cached(kernel(double))
    (file,) = (tmp_path / "cache").iterdir()
    assert file.name.startswith("double-")


@pytest.mark.parametrize("content", [b"", b"junk", None])
def test_damaged_code_is_made_anew(tmp_path, double, made, content):
    assert kernel(double)(2) == 4
    (file,) = (tmp_path / "__pycache__").iterdir()
    whole = file.read_bytes()
    damaged = whole[:-1] if content is None else content
    file.write_bytes(damaged)
    assert [kernel(double)(2) for _ in range(2)] == [4, 4]
    assert made == ["double"] * 2  # the second time, what was made is there
    assert file.read_bytes() != damaged


def test_code_of_another_version_is_made_anew(tmp_path, double, made):
    assert kernel(double)(2) == 4
    machine_code._contents.cache_clear()
    other = function_of(tmp_path / "double.py", DOUBLE.replace("2 *", "-2 *"))
    assert kernel(other)(2) == -4
    assert made == ["double"] * 2
    assert len(list((tmp_path / "__pycache__").iterdir())) == 1


def test_a_folder_that_can_no_longer_be_written_is_no_fault(tmp_path, double):
    compiled = kernel(double)
    put(tmp_path / "__pycache__", "")
    assert compiled(2) == 4


def test_a_kernel_takes_other_kinds_of_arrays_than_it_declares(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    starts, right = np.array([0, 3]), np.array([1, 5, 9])
    lines, wanted = np.array([0, 0]), np.array([5, 6])
    for dtype in (np.int32, np.int64, np.int16):
        places = np.full((2, 2), -1)[:, 0]  # not contiguous
        find_places(starts, right.astype(dtype), lines, wanted, places)
        assert places.tolist() == [1, 2]
    with pytest.raises(TypeError):
        find_places(starts, right, lines, wanted, np.zeros(17, dtype=np.uint8)[1:].view(np.int64))


def test_kernels_are_run_without_numba():
    """Numba takes longer to import than small problems take in all."""
    code = (
        "import sameas, sys\n"
        "from sameas.compute.kernels import ready\n"
        "ready.make_ready()\n"
        "before = 'numba' in sys.modules\n"
        "sameas.align(sameas.DEMO, no_audit=True)\n"
        "print('numba' in sys.modules and not before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.fixture
def compiled(monkeypatch):
    """What is compiled here, one after the other; nothing is in the cache."""
    names = []
    monkeypatch.setattr(ready, "is_cached", lambda each: False)
    monkeypatch.setattr(ready, "compile_kernel", lambda each: names.append(each.py_func.__name__))
    ready._make_ready_once.cache_clear()
    yield names
    ready._make_ready_once.cache_clear()


def test_kernels_are_compiled_by_two_processes_and_people_are_told(compiled, monkeypatch, caplog):
    started = []

    class Helper:
        def __init__(self, command, **streams):
            started.append(command)

        def wait(self):
            started.append("ended")

    monkeypatch.setattr(subprocess, "Popen", Helper)
    ready.make_ready()
    ready.make_ready()
    assert compiled == [each.py_func.__name__ for each in ready.KERNELS]
    assert started == [[sys.executable, "-m", "sameas.compute.kernels.ready"], "ended"]
    assert [record.message.startswith("compiling") for record in caplog.records] == [True]


def test_where_no_process_can_be_started_all_is_compiled_here(compiled, monkeypatch):
    def refuse(*_, **__):
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    ready.make_ready()
    assert len(compiled) == len(ready.KERNELS)


def test_nothing_is_compiled_ahead_if_kernels_are_cached(compiled, monkeypatch, caplog):
    monkeypatch.setattr(ready, "is_cached", lambda each: True)
    ready.make_ready()
    assert compiled == []
    assert not caplog.records


def test_kernels_are_compiled_for_the_arrays_that_they_are_called_with(tmp_path):
    """Else each would be compiled twice: one version for its annotations, one that is used."""
    code = """
import sameas
from sameas.compute.kernels import ready
for each in ready.KERNELS:
    ready.compile_kernel(each)
pair = sameas.read_pair(sameas.DEMO)
for solver in ("sinkhorn", "hungarian"):
    sameas.align(pair, preset="paper", solver=solver)
    sameas.align(pair, solver=solver)
print([each.py_func.__name__ for each in ready.KERNELS if len(each.versions) != 1])
"""
    command = [sys.executable, "-c", inspect.cleandoc(code)]
    result = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    assert (result.stdout, result.stderr) == ("[]\n", "")
