"""Numba kernels: compiled by two processes, and where compiled code cannot be kept."""

import importlib.util
import inspect
import logging
import os
import subprocess
import sys

import numba
import pytest

from folders import put
from sameas.compute.kernels import cache as kernels
from sameas.compute.kernels import ready


@pytest.fixture
def double(tmp_path, monkeypatch):
    """A function to compile, in a folder of its own; there is no other place for a cache."""
    put(tmp_path / "file", "")
    monkeypatch.setenv("HOME", str(tmp_path / "file" / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "file" / "numba"))
    file = put(tmp_path / "double.py", "def double(number):\n    return 2 * number\n")
    spec = importlib.util.spec_from_file_location("double", file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    spec.loader.exec_module(module)
    return module.double


def test_kernels_compile_where_no_folder_can_be_written(tmp_path, double, caplog):
    put(tmp_path / "__pycache__", "")  # a file, so that not even root can write below it
    kernels._note_no_cache.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert [kernels.kernel(double)(number) for number in (2, 2.5)] == [4, 5.0]
    assert [record.message.count("NUMBA_CACHE_DIR") for record in caplog.records] == [1]


def test_kernels_are_cached_in_the_folder_of_the_user(tmp_path, double, monkeypatch):
    put(tmp_path / "__pycache__", "")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert kernels.kernel(double)(2) == 4
    assert list((tmp_path / "cache").rglob("*.nbi"))
    again = kernels.kernel(double)
    assert again(2) == 4
    assert sum(again.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("content", ["", "junk"])
def test_a_damaged_cache_is_made_anew(tmp_path, double, suffix, content):
    assert kernels.kernel(double)(2) == 4
    (file,) = (tmp_path / "__pycache__").glob(f"*{suffix}")
    put(file, content)
    for hits in (0, 1):
        again = kernels.kernel(double)
        assert again(2) == 4
        assert sum(again.stats.cache_hits.values()) == hits


def test_a_cache_that_can_no_longer_be_written_is_no_fault(tmp_path, double):
    compiled = kernels.kernel(double)
    (tmp_path / "__pycache__").rmdir()
    put(tmp_path / "__pycache__", "")
    assert compiled(2) == 4


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
print([each.py_func.__name__ for each in ready.KERNELS if len(each.signatures) != 1])
"""
    command = [sys.executable, "-c", inspect.cleandoc(code)]
    result = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    assert (result.stdout, result.stderr) == ("[]\n", "")
