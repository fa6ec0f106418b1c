"""The same work on many parts at once: in threads, or by the engine that the pipeline has chosen.

NumPy, SciPy and the kernels release the GIL. A stage that may run on other machines calls
`map_blocks` with a function of a module, whose arguments and result are data; it does not know
which engine runs it. The parts do not depend on the engine, so neither do the results.
"""

from __future__ import annotations

import math
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

Part = TypeVar("Part")
Result = TypeVar("Result")


def cores() -> int:
    """The number of processor cores that this process may use, a container's quota included."""
    count = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return max(min(count, math.ceil(int(quota) / int(period))), 1)
    except (OSError, ValueError):  # no cgroup, or no quota ("max")
        return count


WORKERS = min(cores(), 8)
GATHERED = 200_000
"""Places whose values are gathered at once."""
LITTLE = 10_000
"""Pairs of which sharing out takes longer than comparing them."""


def in_parallel(work: Callable[[Part], Result], parts: Iterable[Part]) -> list[Result]:
    """What the work gives for each part, in their order; this thread does its share."""
    parts = list(parts)
    threads = min(WORKERS, len(parts))
    if threads < 2:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(threads - 1) as pool:
        return _shared_out(pool, threads - 1, work, parts)


def _shared_out(
    pool: ThreadPoolExecutor, helpers: int, work: Callable[[Part], Result], parts: Sequence[Part]
) -> list[Result]:
    """The same by this thread and so many of the pool: each takes the next part that is left.

    Of several parts that fail, the first one tells why: it does not depend on who is faster.
    """
    left, results = iter(range(len(parts))), dict[int, Result]()
    failures = dict[int, BaseException]()

    def work_on() -> None:
        for number in left:
            try:
                results[number] = work(parts[number])
            except BaseException as error:
                failures[number] = error
                deque(left, maxlen=0)  # nobody begins another part

    others = [pool.submit(work_on) for _ in range(helpers)]
    Context().run(work_on)  # as in threads: in a new context, so that all parts are treated alike
    for other in others:
        other.result()
    if failures:
        raise failures[min(failures)]
    return [results[number] for number in range(len(parts))]


def gathered(
    arrays: Sequence[NDArray[Any]], places: NDArray[np.integer]
) -> tuple[NDArray[Any], ...]:
    """What is at these places of the last axis of each array."""
    every = [np.empty((*array.shape[:-1], len(places)), dtype=array.dtype) for array in arrays]
    lines = [
        pair
        for array, out in zip(arrays, every, strict=True)
        for pair in zip(np.atleast_2d(array), np.atleast_2d(out), strict=True)
    ]

    def gather(part: slice) -> None:
        for array, out in lines:
            np.take(array, places[part], out=out[part], mode="clip")  # others need a copy

    in_parallel(gather, slices(len(places), GATHERED))
    return tuple(every)


def in_parallel_if(
    few: bool, work: Callable[[Part], Result], parts: Iterable[Part]
) -> list[Result]:
    """What the work gives for each part; one after the other unless they take ``few`` memory."""
    return in_parallel(work, parts) if few else [work(part) for part in parts]


@contextmanager
def lasting_threads() -> Iterator[Callable[[Callable[[Part], Any], Iterable[Part]], None]]:
    """What does work on each part, by threads that last as long as the context.

    It is for work of less than a millisecond that is done again and again: starting threads each
    time would take longer.
    """
    with ThreadPoolExecutor(max(WORKERS - 1, 1)) as pool:

        def share_out(work: Callable[[Part], Any], parts: Iterable[Part]) -> None:
            _shared_out(pool, WORKERS - 1, work, list(parts))

        yield share_out


def in_turn(work: Callable[[Part], Result], parts: Iterable[Part]) -> Iterator[Result]:
    """The same, one result after the other; only a few are made ahead of the one in use.

    While a result is waited for, this thread makes one of those that nobody has begun.
    """
    with ThreadPoolExecutor(max(WORKERS - 1, 1)) as pool:
        ahead: deque[_Ahead[Result]] = deque()
        for part in parts:
            made = partial(work, part)
            ahead.append(_Ahead(made, pool.submit(made)))
            if len(ahead) > WORKERS:
                yield _first(ahead)
        while ahead:
            yield _first(ahead)


class _Ahead(Generic[Result]):
    """A result that a thread of a pool makes, unless this thread does so first."""

    def __init__(self, make: Callable[[], Result], future: Future[Result]) -> None:
        self.make, self.future = make, future

    def made_here(self) -> bool:
        """Whether nobody has begun it: then it is made, now."""
        if not self.future.cancel():
            return False
        self.future = Future()
        try:
            self.future.set_result(Context().run(self.make))
        except Exception as error:
            self.future.set_exception(error)
        return True


def _first(ahead: deque[_Ahead[Result]]) -> Result:
    """The first of these results, which is taken out."""
    first = ahead.popleft()
    if not first.made_here():
        for other in ahead:
            if first.future.done():
                break
            other.made_here()
    return first.future.result()


@contextmanager
def meanwhile(
    work: Callable[[], Result], *, at_once: bool = True
) -> Iterator[Callable[[], Result]]:
    """Begin the work in another thread; yields what waits for its result.

    If not ``at_once``, it is done when its result is asked for: both at once take more memory.
    """
    if not at_once:
        yield work
        return
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(copy_context().run, work).result


_limit = Lock()
_contexts: list[Any] = []
"""The libraries that each context in which BLAS is limited has found."""
_limits: list[Any] = []
"""What lifts these limits, the last one first."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Dense products by one thread each, so that rounding does not depend on how many there are.

    A whole run is in this context: sums of many numbers depend on it, too. The limit holds for the
    whole process: the first context sets it, inner ones do so for libraries that were loaded since,
    and the last one lifts it.
    """
    with _limit:
        libraries = _libraries(len(sys.modules))
        if libraries not in _contexts:
            _limits.append(libraries.limit(limits=1))
        _contexts.append(libraries)
    try:
        yield
    finally:
        with _limit:
            _contexts.pop()
            while _limits and not _contexts:
                _limits.pop().restore_original_limits()


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """The BLAS libraries in use; looked for again only when more modules have been imported."""
    return ThreadpoolController()


class Engine(Protocol):
    """What maps a function over blocks: threads here, or the workers of a cluster."""

    @property
    def width(self) -> int:
        """Into how many blocks to share out work that suffers from being cut up."""

    @property
    def room(self) -> int:
        """How many bytes to share at once."""

    def map(
        self,
        work: Callable[..., Result],
        parts: Iterable[Part],
        take: Callable[[Part], Any],
        *shared: Any,
    ) -> Iterator[tuple[Part, Result]]:
        """Each part with ``work(take(part), *shared)``, in their order.

        ``take`` gives the data of one part, and is called here; what is ``shared`` is sent to
        each worker once, as long as it is the same object.
        """


class Threads:
    """The engine of one process."""

    width, room = WORKERS, sys.maxsize

    def map(
        self,
        work: Callable[..., Result],
        parts: Iterable[Part],
        take: Callable[[Part], Any],
        *shared: Any,
    ) -> Iterator[tuple[Part, Result]]:
        """Each part with what the work gives for it; only a few are made ahead."""
        parts = list(parts)
        with one_blas_thread():  # parts are shared out, not the products in them
            if len(parts) == 1:
                yield parts[0], work(take(parts[0]), *shared)
                return
            results = in_turn(lambda part: work(take(part), *shared), parts)
            yield from zip(parts, results, strict=True)


THREADS = Threads()
_engine: ContextVar[Engine] = ContextVar("engine", default=THREADS)


@contextmanager
def using(engine: Engine) -> Iterator[Engine]:
    """A context in which blocks are mapped by this engine."""
    before = _engine.set(engine)
    try:
        yield engine
    finally:
        _engine.reset(before)


def map_blocks(
    work: Callable[..., Result], parts: Iterable[Part], take: Callable[[Part], Any], *shared: Any
) -> Iterator[tuple[Part, Result]]:
    """Each part with ``work(take(part), *shared)``, in their order, by the engine in use."""
    return _engine.get().map(work, parts, take, *shared)


def width() -> int:
    """Into how many blocks to share out work for the engine in use."""
    return _engine.get().width


def room() -> int:
    """How many bytes to share at once among the blocks of the engine in use."""
    return _engine.get().room


def share_of(length: int, most: int) -> int:
    """How much to treat at once so that all threads have work: at most ``most``, not very little.

    Only for work that gives the same whatever the parts are.
    """
    return min(most, max(-(-length // WORKERS), LITTLE))


def is_apart() -> bool:
    """Whether the engine in use works in other processes: only these have limited room."""
    return room() < sys.maxsize


def slices(length: int, size: int) -> Iterator[slice]:
    """Slices of at most ``size`` that cover a length."""
    for start in range(0, length, max(size, 1)):
        yield slice(start, min(start + size, length))


def even_slices(starts: NDArray[np.int64], size: int) -> Iterator[slice]:
    """Slices of rows that each hold about ``size`` entries, given where each row starts."""
    length = len(starts) - 1
    targets = np.arange(0, int(starts[-1]) + size, max(size, 1))
    cuts = np.unique(np.append(np.minimum(np.searchsorted(starts, targets), length), (0, length)))
    for start, stop in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        yield slice(start, stop)
