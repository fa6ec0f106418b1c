"""Work in parts: each part once, in order, and never far ahead of whoever uses the results."""

from __future__ import annotations

import threading
import time
from contextvars import ContextVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from sameas.compute.parallel import (
    WORKERS,
    even_slices,
    gathered,
    in_parallel,
    in_parallel_if,
    in_turn,
    meanwhile,
    one_blas_thread,
    share_of,
    slices,
)


def late_first(part):
    time.sleep(0.02 / (part + 1))  # the first parts are the last to be done
    return part * part


@pytest.mark.parametrize("run", [in_parallel, in_turn])
def test_results_come_in_the_order_of_the_parts(run):
    assert list(run(late_first, range(12))) == [part * part for part in range(12)]


@pytest.mark.parametrize("run", [in_parallel, in_turn])
def test_no_parts_give_no_results(run):
    assert list(run(late_first, [])) == []


@pytest.mark.parametrize("run", [in_parallel, in_turn])
@pytest.mark.parametrize("wrong", [ValueError, KeyboardInterrupt])
def test_what_goes_wrong_in_a_part_is_raised(run, wrong):
    def work(part):
        if part == 3:
            raise wrong("part 3")
        return part

    with pytest.raises(wrong, match="part 3"):
        list(run(work, range(10)))


def test_of_several_parts_that_fail_the_first_is_raised_whoever_is_faster():
    together = threading.Barrier(WORKERS)

    def work(part):
        together.wait(timeout=60)
        late_first(part)
        raise ValueError(f"part {part}")

    if WORKERS > 1:
        with pytest.raises(ValueError, match="part 0"):
            in_parallel(work, range(WORKERS))


@pytest.mark.parametrize("few", [True, False])
def test_what_is_not_few_is_done_one_after_the_other(few):
    threads = set()

    def work(part):
        threads.add(threading.current_thread())
        return late_first(part)

    assert in_parallel_if(few, work, range(4)) == [0, 1, 4, 9]
    assert few or threads == {threading.main_thread()}


def test_the_thread_that_waits_does_its_share():
    together, threads = threading.Barrier(WORKERS), set()

    def work(part):
        threads.add(threading.current_thread())
        together.wait(timeout=60)
        return part

    assert in_parallel(work, range(WORKERS)) == list(range(WORKERS))
    assert threading.main_thread() in threads
    assert len(threads) == WORKERS


def test_meanwhile_work_is_under_way_before_its_result_is_asked_for():
    begun, value = threading.Event(), ContextVar("value", default="of another context")
    value.set("of this context")

    def work():
        begun.set()
        return value.get()

    with meanwhile(work) as result:
        assert begun.wait(timeout=60)
        assert result() == "of this context"


def test_meanwhile_work_waits_where_both_at_once_would_take_too_much():
    begun = []

    def work():
        begun.append(7)
        return begun

    with meanwhile(work, at_once=False) as result:
        assert not begun
        assert result() == [7]


def test_what_goes_wrong_meanwhile_is_raised_where_the_result_is_asked_for():
    with meanwhile(lambda: 1 // 0) as result, pytest.raises(ZeroDivisionError):
        result()


def test_in_turn_makes_only_a_few_results_ahead():
    begun = []
    lock = threading.Lock()

    def work(part):
        with lock:
            begun.append(part)
        return part

    for used, result in enumerate(in_turn(work, range(100))):
        assert result == used
        assert len(begun) <= used + WORKERS + 1


@given(st.lists(st.integers(0, 6), max_size=30), st.integers(1, 9))
def test_values_are_gathered_along_the_last_axis(places, size):
    line, lines = np.arange(7, dtype=np.int32), np.arange(21, dtype=np.float32).reshape(3, 7)
    chosen = np.array(places, dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sameas.compute.parallel.GATHERED", size)
        found = gathered((line, lines, np.broadcast_to(line[:1], (2, 7))), chosen)
    expected = line[chosen], lines[:, chosen], np.zeros((2, len(chosen)), dtype=np.int32)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@given(st.integers(0, 50), st.integers(1, 60))
def test_slices_cover_a_length_once(length, size):
    parts = list(slices(length, size))
    assert [row for part in parts for row in range(length)[part]] == list(range(length))
    assert all(0 < part.stop - part.start <= size for part in parts)


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 40))
def test_even_slices_cover_all_rows_and_hold_about_as_many_entries(counts, size):
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    parts = list(even_slices(starts, size))
    assert [row for part in parts for row in range(len(counts))[part]] == list(range(len(counts)))
    largest = max(counts, default=0)
    for part in parts:
        assert part.start < part.stop
        assert sum(counts[part]) < size + largest + 1


@pytest.mark.parametrize("length", [0, 1, 9_999, 30_000, 10**9])
def test_a_share_keeps_all_threads_busy_unless_there_is_little(length):
    share = share_of(length, 200_000)
    assert 10_000 <= share <= 200_000
    assert share in (10_000, 200_000) or len(list(slices(length, share))) == WORKERS


def threads_of_blas() -> set[int]:
    np.ones((2, 2)) @ np.ones((2, 2))  # BLAS is loaded
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_the_limit_of_blas_ends_with_the_last_that_needs_it():
    with threadpool_limits(3):
        contexts = [one_blas_thread() for _ in range(3)]
        for context in contexts:
            context.__enter__()
        for context in contexts:  # in the order in which they began, as threads may end
            assert threads_of_blas() == {1}
            context.__exit__(None, None, None)
        assert threads_of_blas() == {3}
