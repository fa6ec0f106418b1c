"""Engines: where blocks of work are done, in threads of this process or on a Dask cluster.

Only the pipeline knows about them; stages call `parallel.map_blocks`. Scheduling, moving data and
starting workers again are Dask's; what a lost worker had in hand is sent out again from here, in
halves, since too little memory may be why it was lost.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from sameas import __version__
from sameas.compute.device import device_in_use, using_device
from sameas.compute.heap import keep_large_arrays_apart
from sameas.compute.in_files import in_one_piece, is_in_file, let_go_of_pages
from sameas.compute.parallel import THREADS, Engine, cores, slices, using
from sameas.errors import ClusterError, OptionError, first_line
from sameas.formats.files import limited
from sameas.options.declare import wrong
from sameas.options.options import Options, Where

Part = TypeVar("Part")
Result = TypeVar("Result")

log = logging.getLogger(__name__)

FEW = 4
"""Fewer parts than this are not worth sending: threads do them here."""
AHEAD = 2
"""Tasks for each thread of the workers that are sent at once."""
SHARES = 4
"""Tasks for each thread, if there are enough parts: a worker that is lost costs little."""
MOST_PARTS = 32
"""Parts of one task."""
SHARE = 4
"""The part of a worker's memory that blocks share: Dask may hold it twice while it arrives, and
what the last blocks shared may still be there."""
MOST_LOSSES = 6
"""How often the same part may be lost before the run ends."""
CONNECT_SECONDS, WORKER_SECONDS, LOST_SECONDS = 15, 300, 0.5
"""How long to wait for a scheduler, for a worker where all are lost, and where one is."""
OWN_CLUSTER = {
    "distributed.deploy.lost-worker-timeout": "1000 days",
    "distributed.scheduler.allowed-failures": 0,
    "distributed.worker.memory.pause": False,
}
"""Settings of a cluster of our own. Dask looks for a lost worker once, 15 seconds after the loss,
and closes it for good if it is just being started again. It gives a task that killed its worker to
three others before it tells; we make it smaller at once. And it lets a worker pause that has little
memory left, for ever if nothing can be freed; we want it ended, and its blocks."""


@contextmanager
def engine_at(where: Any = None) -> Iterator[Engine]:
    """The engine that is asked for: by name, by a Where, as a distributed.Client, or an engine."""
    if where is None or isinstance(where, str):
        where = Where(engine=where or "threads")  # type: ignore[arg-type]
    if isinstance(where, Where):
        if where.engine == "threads":
            yield THREADS
            return
        with ExitStack() as stack:
            yield Dask(_connected(where, stack))
    elif hasattr(where, "map") and hasattr(where, "width"):
        yield where
    elif hasattr(where, "scatter") and hasattr(where, "scheduler_info"):
        yield Dask(where)
    else:
        raise wrong("engine", "threads, dask or a distributed.Client", where)


@contextmanager
def working(options: Options, engine: Any = None, device: Any = None) -> Iterator[None]:
    """A context in which the engine does the work and files keep to the memory ceiling.

    ``engine`` is what `engine_at` takes, ``device`` what `using_device` takes. `align` enters it;
    who reads the graphs first, as the command line does, enters it for both.
    """
    if isinstance(engine, Where):
        device = engine.device
    with (
        using_device(device),
        engine_at(engine) as chosen,
        using(chosen),
        limited(None, memory=options.memory),
    ):
        if options.method == "paris" and chosen is not THREADS:
            raise OptionError("`engine` has no effect here: method 'paris' does not use it")
        if device_in_use() is not None and (options.method == "paris" or chosen is not THREADS):
            raise OptionError("`device` has no effect here: PARIS and clusters do not use it")
        yield


def _connected(where: Where, stack: ExitStack) -> Any:
    """A client of the cluster that is asked for; closed with the stack, and so is our own one."""
    try:
        distributed: Any = import_module("distributed")
        import_module("cryptography")
    except ImportError:
        raise OptionError(
            "`engine` dask needs packages that are not installed; install them with: "
            "pip install 'sameas[dask]'"
        ) from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what is lost is told from here
    address: Any = where.scheduler
    if address is None:
        dask: Any = import_module("dask")
        stack.enter_context(dask.config.set(OWN_CLUSTER))
        address = stack.enter_context(
            distributed.LocalCluster(
                n_workers=where.workers or cores(),
                threads_per_worker=1,
                memory_limit=where.worker_memory or "auto",
                dashboard_address="127.0.0.1:0",
                # Without a key, whoever reaches the scheduler could have code run by the workers.
                protocol="tls://",
                security=distributed.security.Security.temporary(),
                silence_logs=logging.CRITICAL,  # of the workers
            )
        )
    try:
        return stack.enter_context(distributed.Client(address, timeout=CONNECT_SECONDS))
    except (OSError, ValueError) as error:  # a wrong address is a ValueError
        raise ClusterError(
            f"the scheduler {where.scheduler} cannot be reached ({first_line(error)}); check its "
            "address, and that it runs"
        ) from None


@dataclass
class Dask:
    """The engine of a Dask cluster; ``client`` is a distributed.Client."""

    client: Any
    few: int = FEW
    most: int = MOST_PARTS
    _held: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    """By identity, what was sent to all workers, and its future."""

    def __post_init__(self) -> None:
        """Refuse a cluster whose workers run another version, or none."""
        keep_large_arrays_apart()  # the client is what limits the size of a run
        self._threads()
        versions = {str(one) for one in self.client.run(_version, on_error="return").values()}
        if versions != {__version__}:
            others = ", ".join(sorted(versions - {__version__}))
            raise ClusterError(
                f"workers must run sameas {__version__} as this process does, found {others}; "
                "install the same version everywhere"
            )

    @property
    def width(self) -> int:
        """Into how many blocks to share out work that suffers from being cut up."""
        return SHARES * self._threads()

    @property
    def room(self) -> int:
        """How many bytes to share at once: a quarter of the smallest worker's memory."""
        self._threads()
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        limits = [worker["memory_limit"] for worker in workers if worker["memory_limit"]]
        return int(min(limits, default=sys.maxsize)) // SHARE

    def map(
        self,
        work: Callable[..., Result],
        parts: Iterable[Part],
        take: Callable[[Part], Any],
        *shared: Any,
    ) -> Iterator[tuple[Part, Result]]:
        """Each part with what the work gives for it, in their order; several parts are a task."""
        parts = list(parts)
        # Pages of a file that few parts look at could be all of them.
        if len(parts) < self.few and not any(map(is_in_file, shared)):
            yield from THREADS.map(work, parts, take, *shared)
            return
        threads = self._threads()
        size = min(max(len(parts) // (SHARES * threads), 1), self.most)
        waiting = deque(parts[group] for group in slices(len(parts), size))
        running: deque[tuple[list[Part], Any]] = deque()
        losses: dict[int, int] = {}
        held: list[Any] = []
        # A KeyError is the scheduler's, about a worker that has just been lost.
        lost: tuple[type[BaseException], ...] = (*_lost(), OSError, KeyError)

        def start(group: list[Part]) -> tuple[list[Part], Any]:
            """Send out a task; there is none where its data could not be sent."""
            blocks = _Sent([take(part) for part in group])
            try:
                if not held:
                    held.extend(map(self._scattered, shared))
                data = self.client.scatter([blocks], hash=False, direct=True)[0]
                return group, self.client.submit(_run, work, data, *held, pure=False)
            except lost:
                held.clear()
                return group, None

        while waiting or running:
            while waiting and len(running) < AHEAD * threads:
                running.append(start(waiting.popleft()))
            group, task = running.popleft()
            results = self._result(task)
            if results is not None:
                for part in group:  # of results that were taken none is held here
                    yield part, results.pop(0)
                let_go_of_pages()  # which results may have been written to
                continue
            del task
            first = id(group[0])
            losses[first] = losses.get(first, 0) + 1
            if losses[first] > MOST_LOSSES:
                raise ClusterError(
                    f"workers were lost {MOST_LOSSES} times at the same block; give them more "
                    "memory, and run again: finished phases are kept"
                )
            log.warning("a worker was lost; %d blocks are sent out again", len(group))
            time.sleep(LOST_SECONDS)  # until the scheduler knows
            threads = self._threads()
            held.clear()
            self._forget_lost()
            halves = [group[half] for half in slices(len(group), -(-len(group) // 2))]
            running.extendleft(start(half) for half in reversed(halves))

    def _scattered(self, value: Any) -> Any:
        """The future of what all tasks share; sent once, as long as it is the same object."""
        known = self._held.get(id(value))
        if known is not None and known[0]() is value:
            return known[1]
        future = self.client.scatter([_Sent(value)], hash=False, direct=True, broadcast=True)[0]
        let_go_of_pages()
        key = id(value)
        try:
            reference = weakref.ref(value, lambda _: self._held.pop(key, None))
        except TypeError:  # a tuple, which is for one map only
            return future
        self._held[key] = reference, future
        return future

    def _forget_lost(self) -> None:
        """Forget what no worker holds any more; what another one has is not sent again."""
        for key, (_, future) in list(self._held.items()):
            if future.status != "finished":
                self._held.pop(key, None)

    def _result(self, task: Any) -> list[Any] | None:
        """What a task gives, None if it was lost with a worker."""
        if task is None:
            return None
        try:
            results: list[Any] = self.client.gather(task, direct=True).value
            return results
        except _lost():
            return None
        except (OSError, KeyError):
            if task.status == "error":  # of the work itself
                raise
            return None

    def _threads(self) -> int:
        """How many threads all workers have; waits until there is a worker."""
        begin, reason = time.monotonic(), "none is there"
        while time.monotonic() < begin + WORKER_SECONDS:
            try:
                if count := sum(self.client.nthreads().values()):
                    return int(count)
            except (OSError, ValueError) as error:  # the scheduler is gone, or the client closed
                reason = first_line(error)
            time.sleep(LOST_SECONDS)
        raise ClusterError(
            f"the cluster has no worker that can be reached ({reason}); start some, and run "
            "again: finished phases are kept"
        )


def _lost() -> tuple[type[BaseException], ...]:
    """The errors that mean that a worker, or what it held, is gone."""
    from distributed.scheduler import KilledWorker, NoWorkerError

    return KilledWorker, NoWorkerError, CancelledError, MemoryError


class _Sent:
    """Data on its way to a worker, or back, where it arrives as it was.

    What Dask delivers may lie anywhere in a buffer; for arrays that are not aligned, Numba would
    compile every kernel again, and slower ones.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        # What has gaps would be copied into the message, and that into others.
        whole = isinstance(self.value, np.ndarray)
        return _received, (in_one_piece(self.value) if whole else self.value,)


def _received(value: Any) -> _Sent:
    return _Sent(_aligned(value))


def _aligned(value: Any) -> Any:
    """The same arrays, sparse arrays and tuples, lists or dataclasses of these, aligned."""
    if isinstance(value, np.ndarray):
        return np.require(value, requirements=("A", "W"))
    if hasattr(value, "indptr"):  # a sparse array: SciPy, which is slow to load, is not named here
        parts = _aligned((value.data, value.indices, value.indptr))
        return type(value)(parts, shape=value.shape)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {each.name: _aligned(getattr(value, each.name)) for each in fields(value)}
        return replace(value, **parts)
    if isinstance(value, tuple | list):
        parts = [_aligned(each) for each in value]
        return value._make(parts) if hasattr(value, "_make") else type(value)(parts)
    return value


_limited = threading.Event()


def _run(work: Callable[..., Any], blocks: _Sent, *shared: _Sent) -> _Sent:
    """The work on several blocks, on a worker."""
    if not _limited.is_set():  # for good: tasks of other threads run at the same time
        threadpool_limits(1)
        _limited.set()
    return _Sent([work(block, *(each.value for each in shared)) for block in blocks.value])


def _version() -> str:
    return __version__
