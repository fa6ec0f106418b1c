"""What each stage costs on a Dask cluster: processor time, bytes that move, memory, by setting.

Run it from the root of the repository, with nothing else running::

    python -m benchmarks.generate 100k /tmp/100k --noise 0.02
    python -m benchmarks.cluster /tmp/100k --workers 1 2 --parts 8 32 --worker-memory 2GiB

The pair is aligned in threads, then by every number of workers with every number of parts a task.
Each run has a process of its own, as have its scheduler and its workers. For every function that is
mapped over blocks, the processor time in it and the bytes of its blocks, of what they share and of
its results are counted. Results are kept after each run; runs that are known are not repeated.

A pair in parts (``generate.py --parts``) is read by the workers too. With ``--kill 2``, every
function kills the worker that calls it, twice in a row; the links must be the same::

    python -m benchmarks.generate 5k /tmp/5k --parts 8
    python -m benchmarks.cluster /tmp/5k --kill 2 --results /tmp/killed.json
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import sameas
import sameas.cli  # processes started here have the command line's settings of allocators
from benchmarks import tables
from benchmarks.processes import say
from benchmarks.tables import Check
from experiments.rendering import Table, count, gib, table_of
from experiments.store import machine
from sameas.compute.parallel import THREADS
from sameas.pipeline.cluster import FEW, Dask
from sameas.pipeline.memory import peak_memory

TITLE = "On a cluster"
FIGURES = ("parts", "cpu_seconds", "seconds", "sent", "shared", "returned")
SLOWER, CEILING, CLIENT, ROOM = 2.0, 2 * 2**30, 3000, 2**29
"""What was asked for: how many times slower than threads, the memory of a worker, and the bytes an
entity of the client, beyond what it takes whatever the size."""
OPTIONS: Mapping[str, Any] = {"memory": "20G", "languages": "none"}
"""As of the ladder: the ceiling never decides, and no encoder, whose vectors a second run keeps."""
LARGE = 100_000
"""Entities a side from which bytes an entity mean something."""

Settings = dict[str, Any]


def with_time(work: Callable[..., Any], *given: Any) -> tuple[Any, float]:
    """What a function gives, and the processor time it took."""
    begin = time.thread_time()
    return work(*given), time.thread_time() - begin


class Measured:
    """An engine that counts what every function costs that it maps."""

    def __init__(self, engine: Any) -> None:
        """Measure this engine."""
        self.engine = engine
        self.stages: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))

    @property
    def width(self) -> int:
        """That of the engine."""
        return int(self.engine.width)

    @property
    def room(self) -> int:
        """That of the engine."""
        return int(self.engine.room)

    def map(self, work: Any, parts: Any, take: Any, *shared: Any) -> Iterator[tuple[Any, Any]]:
        """Each part with its result."""
        stage = self.stages[name_of(work)]

        def counted(part: Any) -> Any:
            block = take(part)
            stage["sent"] += size_of(block)
            return block

        stage["shared"] += size_of(shared)
        begin = time.perf_counter()
        work = partial(with_time, work)
        for part, (result, seconds) in self.engine.map(work, parts, counted, *shared):
            stage["seconds"] += time.perf_counter() - begin
            stage["parts"] += 1
            stage["cpu_seconds"] += seconds
            stage["returned"] += size_of(result)
            yield part, result
            begin = time.perf_counter()


def name_of(work: Any) -> str:
    """A function's module and name, of a wrapped one too."""
    work = getattr(work, "work", work)
    return f"{work.__module__.removeprefix('sameas.')}.{work.__name__}"


class Fatal:
    """A function that kills the processes that call it first, so many."""

    def __init__(self, work: Callable[..., Any], mark: Path, times: int) -> None:
        """Each death leaves a file whose name begins with ``mark``."""
        self.work, self.mark, self.times = work, mark, times

    def __call__(self, *given: Any) -> Any:
        """Its result, in a process that may live."""
        for number in range(1, self.times + 1):
            try:
                Path(f"{self.mark}-{number}").touch(exist_ok=False)
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)
        return self.work(*given)


class Killing:
    """An engine each of whose functions kills workers, so many times."""

    def __init__(self, engine: Any, folder: Path, times: int) -> None:
        """Keep marks in a folder."""
        self.engine, self.folder, self.times = engine, folder, times

    @property
    def width(self) -> int:
        """That of the engine."""
        return int(self.engine.width)

    @property
    def room(self) -> int:
        """That of the engine."""
        return int(self.engine.room)

    def map(self, work: Any, parts: Any, take: Any, *shared: Any) -> Iterator[tuple[Any, Any]]:
        """Each part with its result, whoever died meanwhile."""
        fatal = Fatal(work, self.folder / name_of(work), self.times)
        return iter(self.engine.map(fatal, parts, take, *shared))

    @property
    def killed(self) -> dict[str, int]:
        """How often each function killed a worker."""
        marks = sorted(self.folder.iterdir())
        return dict(Counter(mark.name.rpartition("-")[0] for mark in marks))


def size_of(value: Any) -> int:
    """The bytes of the arrays in a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, csr_array):
        return sum(map(size_of, (value.data, value.indices, value.indptr)))
    if is_dataclass(value):
        return sum(size_of(getattr(value, each.name)) for each in fields(value))
    return sum(map(size_of, value)) if isinstance(value, tuple | list) else 0


def run_once(pair: Path, setting: Settings) -> dict[str, Any]:
    """One run in this process: seconds by phase, costs by function, memory, a hash of the links."""
    if setting["engine"] == "threads":
        return _align(pair, Measured(THREADS))
    distributed: Any = importlib.import_module("distributed")

    workers, kill = setting["workers"], setting.get("kill", 0)
    with (
        distributed.SubprocessCluster(
            host="127.0.0.1",
            dashboard_address=None,
            n_workers=workers,
            threads_per_worker=1,
            worker_kwargs={"memory_limit": setting["worker_memory"]},
        ) as cluster,
        distributed.Client(cluster) as client,
        tempfile.TemporaryDirectory(prefix="sameas-killed-") as marks,
    ):
        client.wait_for_workers(workers, timeout=120)
        engine = Measured(Dask(client, few=1 if kill else FEW, most=setting["parts"]))
        killing = Killing(engine, Path(marks), kill)
        found = _align(pair, engine, killing if kill else None)
        peaks = found["peak_memory_bytes"]
        peaks["scheduler"] = client.run_on_scheduler(peak_memory)
        each = enumerate(client.run(peak_memory).values(), start=1)
        peaks |= {f"worker {number}": peak for number, peak in each}
        return found | {"killed": killing.killed}


def _align(pair: Path, measured: Measured, engine: Any = None) -> dict[str, Any]:
    in_parts = (pair / "left").is_dir()
    given: Any = (pair / "left", pair / "right") if in_parts else (sameas.read_pair(pair),)
    begin, cpu = time.perf_counter(), time.process_time()
    alignment = sameas.align(*given, engine=engine or measured, **OPTIONS)
    content = alignment.links.write_csv().encode()
    graphs = alignment.pair
    return {
        "total_seconds": round(time.perf_counter() - begin, 3),
        "client_cpu_seconds": round(time.process_time() - cpu, 3),
        "seconds": {phase: round(value, 3) for phase, value in alignment.seconds.items()},
        "stages": {
            name: {figure: round(costs[figure], 3) for figure in FIGURES}
            for name, costs in measured.stages.items()
        },
        "peak_memory_bytes": {"client": peak_memory()},
        "links": len(alignment.links),
        "hash": hashlib.sha256(content).hexdigest(),
        "entities": max(len(graphs.left.entities), len(graphs.right.entities)),
    }


def label_of(setting: Settings) -> str:
    """A setting in a few words."""
    if setting["engine"] == "threads":
        return "threads"
    killed = f"killed {setting['kill']} times: " if setting.get("kill") else ""
    return f"{killed}{setting['workers']} workers, {setting['parts']} parts"


def measure(pair: Path, settings: Sequence[Settings], results: Path) -> dict[str, Any]:
    """The runs that are missing, each in a process of its own; kept after each."""
    new = {"machine": machine(), "pair": pair.name, "runs": {}}
    record: dict[str, Any] = tables.load(results) or new
    if record["pair"] != pair.name:
        sys.exit(f"{results} is of {record['pair']}; give another --results")
    for setting in settings:
        name = label_of(setting)
        if name in record["runs"]:
            say(f"{name}: known already")
            continue
        say(name)
        line = [sys.executable, "-m", "benchmarks.cluster", str(pair), "--one", json.dumps(setting)]
        done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True)
        record["runs"][name] = json.loads(done.stdout.splitlines()[-1])
        tables.save(results, record)
    return record


def tables_of(record: Mapping[str, Any]) -> list[Table]:
    """Seconds by phase and memory of every run; the costs of every function, an entity."""
    runs = record["runs"]
    phases = tables.phase_rows(
        {name: {**run["seconds"], "total": run["total_seconds"]} for name, run in runs.items()}
    )
    memory = [
        (name, *(gib(most(run, kind)) for kind in ("client", "scheduler", "worker")))
        for name, run in runs.items()
    ]
    header = ("", "client GiB", "scheduler GiB", "largest worker GiB")
    found = [
        table_of(f"{record['pair']}: seconds by phase", ("phase", *runs), phases),
        table_of("Peak memory", header, memory),
    ]
    for name, run in runs.items():

        def an_entity(size: float, entities: int = run["entities"]) -> str:
            return f"{size / entities:,.0f}"

        columns: tables.Columns = {
            "parts": ("parts", count),
            "cpu_seconds": ("CPU s", tables.seconds),
            "seconds": ("seconds", tables.seconds),
            **{figure: (figure, an_entity) for figure in ("sent", "shared", "returned")},
        }
        caption = f"{name}: costs; bytes are those an entity"
        found.append(tables.rows_of(caption, run["stages"], columns, first="function"))
    return found


def most(run: Mapping[str, Any], kind: str) -> int:
    """The largest memory of the processes of a kind."""
    memory = run["peak_memory_bytes"]
    return max((value for name, value in memory.items() if name.startswith(kind)), default=0)


def checks_of(record: Mapping[str, Any]) -> list[Check]:
    """The same links everywhere; two workers at most twice as slow as threads, within 2 GiB."""
    runs = record["runs"]
    checks = []
    if len(runs) > 1:
        same = len({run["hash"] for run in runs.values()}) == 1
        found = "the same" if same else "not the same"
        checks.append(Check("the same links in all runs", found, same))
    for name, run in runs.items():
        if run.get("killed"):
            done = ", ".join(f"{stage} {times}" for stage, times in run["killed"].items())
            every = run["killed"].keys() == run["stages"].keys()
            checks.append(Check(f"{name}: in every stage", done, every))
    two = [run for name, run in runs.items() if name.startswith("2 workers")]
    if "threads" in runs and two:
        slower = min(run["total_seconds"] for run in two) / runs["threads"]["total_seconds"]
        asked = f"two workers at most {SLOWER:g} times as slow as threads"
        checks.append(Check(asked, f"{slower:.2f}", slower <= SLOWER))
        largest = min(most(run, "worker") for run in two)
        checks.append(Check("workers within 2 GiB", f"{gib(largest)} GiB", largest <= CEILING))
    for name, run in runs.items():
        if name != "threads" and run["entities"] >= LARGE:
            each = (most(run, "client") - ROOM) / run["entities"]
            asked = f"{name}: the client at most {CLIENT / 1000:g} KB an entity"
            checks.append(Check(asked, f"{each / 1000:.1f} KB", each <= CLIENT))
    return checks


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run all, keep the results and print them."""
    parser = tables.parser_of("cluster", __doc__, "/tmp/100k --workers 1 2 --parts 8 32")
    add = parser.add_argument
    add("pair", metavar="PAIR", type=Path, help="benchmark folder")
    add("--workers", nargs="+", type=int, default=[1, 2], metavar="N", help="[1 2]")
    add("--parts", nargs="+", type=int, default=[8, 32], metavar="N", help="parts a task [8 32]")
    add("--worker-memory", default="2GiB", metavar="SIZE", help="of each worker [2GiB]")
    add("--kill", type=int, default=0, metavar="N", help="workers to kill in every stage [0]")
    add("--one", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(run_once(options.pair, json.loads(options.one))))
        return
    limit = {"engine": "dask", "worker_memory": options.worker_memory}
    settings: list[Settings] = [{"engine": "threads"}]
    settings += [
        {**limit, "workers": workers, "parts": parts, "kill": options.kill}
        for workers in options.workers
        for parts in options.parts
    ]
    record = measure(options.pair, settings, options.results)
    print(tables.report("cluster", record))


if __name__ == "__main__":
    main()
