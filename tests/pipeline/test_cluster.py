"""Engines: the same links wherever blocks are worked on, and whatever happens to workers."""

import os
import pickle
import socket
import ssl
import subprocess
import sys
import time
import weakref
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import psutil
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

import sameas
from fake_cluster import Client, Fatal, Killing
from sameas.cli.main import main
from sameas.compute import pairwise
from sameas.compute import topk as proposals
from sameas.compute.kernels.votes import PairIndex
from sameas.compute.parallel import THREADS, map_blocks, using
from sameas.compute.rows import as_rows
from sameas.errors import ClusterError, OptionError
from sameas.options.options import Where
from sameas.options.tuning import TUNING
from sameas.pipeline.cluster import MOST_LOSSES, Dask, _aligned, _Sent, engine_at
from sameas.refinement import evidence
from sameas.similarity import sketch
from sameas.text import folding

distributed = pytest.importorskip("distributed")


def double(block, shared):
    return 2 * block + shared[0]


def mapped(client, count, *, shared=(0,), **settings):
    found = list(Dask(client, **settings).map(double, range(count), lambda part: part, shared))
    assert found == [(part, 2 * part + shared[0]) for part in range(count)]


def test_several_parts_are_a_task_and_results_come_in_order():
    client = Client()
    mapped(client, 100, most=5)
    assert {len(task) for task in client.tasks} == {5}


def test_a_few_parts_stay_here():
    client = Client()
    mapped(client, 3)
    assert not client.tasks
    mapped(client, 4)
    assert client.tasks


def test_what_is_shared_is_sent_once_as_long_as_it_is_the_same_object():
    client = Client()
    engine = Dask(client)
    first, second = np.ones(3), np.ones(3)
    for shared in (first, first, second):
        list(engine.map(double, range(20), lambda part: part, shared))
    assert [sent.value is first for sent, broadcast in client.sent if broadcast] == [True, False]


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        distributed.scheduler.KilledWorker("task", None, 3),
        distributed.client.FutureCancelledError("task", "lost"),
    ],
)
def test_what_was_lost_is_sent_again_in_halves(error):
    client = Client(lose=lambda task: error if task == 2 else None)
    mapped(client, 64, most=8)
    sizes = [len(task) for task in client.tasks]
    assert sorted(set(sizes)) == [4, 8]
    assert sizes.count(4) == 2


def test_a_block_that_is_lost_again_and_again_ends_the_run():
    client = Client(lose=lambda task: MemoryError())
    with pytest.raises(ClusterError, match="more memory, and run again"):
        mapped(client, 64)
    assert len(client.tasks) < 20 * MOST_LOSSES


@pytest.mark.parametrize("error", [ValueError("no"), OSError("no"), KeyError("no")])
def test_an_error_of_the_work_is_raised(error):
    def fail(block):
        raise error

    with pytest.raises(type(error), match="no"):
        list(Dask(Client()).map(fail, range(20), lambda part: part))


def test_data_arrives_as_it_was_sent_and_aligned():
    odd = np.frombuffer(bytearray(b"x" + bytes(range(80))), dtype=np.int64, offset=1)
    assert not odd.flags.aligned
    rows = as_rows(csr_array(np.eye(3, dtype=np.float32)))
    sent = ([odd, 7], PairIndex(odd, None), rows)
    found = pickle.loads(pickle.dumps(_Sent(sent))).value
    received = _aligned(sent)
    for (first, number), index, same in (found, received):
        assert number == 7
        assert first.flags.aligned
        assert_array_equal(first, odd)
        assert_array_equal(index.starts, odd)
        assert_array_equal(same.toarray(), np.eye(3))


def test_results_that_were_taken_are_not_held():
    held = []
    for _, result in Dask(Client(), most=5).map(np.full, range(1, 60), lambda part: part, 1.0):
        held.append(weakref.ref(result))
        del result
        assert not any(each() is not None for each in held)


def test_workers_of_another_version_are_refused():
    client = Client()
    client.run = lambda function, **_: {"one": function(), "two": "0.0.1"}
    with pytest.raises(ClusterError, match=r"found 0\.0\.1; install the same version everywhere"):
        Dask(client)


def test_the_engine_is_used_within_its_context_only():
    client = Client()
    with using(Dask(client)):
        list(map_blocks(double, range(20), lambda part: part, (1,)))
    tasks = len(client.tasks)
    assert tasks
    list(map_blocks(double, range(20), lambda part: part, (1,)))
    assert len(client.tasks) == tasks


# --- where


def test_an_engine_is_chosen_by_name_or_object():
    for where in (None, "threads", Where(), THREADS):
        with engine_at(where) as engine:
            assert engine is THREADS
    for where in ("spark", 3):
        with pytest.raises(OptionError, match="`engine` must be"), engine_at(where):
            pass


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scheduler": "tcp://host:8786"}, "`scheduler` has no effect here: it is for `engine` d"),
        ({"workers": 2}, "`workers` has no effect here: it is for `engine` dask"),
        ({"engine": "dask", "scheduler": "a", "workers": 2}, "the cluster of `scheduler` has its"),
        ({"engine": "dask", "workers": 0}, "`workers` must be a whole number of at least 1"),
    ],
)
def test_options_without_effect_are_refused(given, message):
    with pytest.raises(OptionError, match=message):
        Where(**given)


def test_paris_has_no_use_for_a_cluster(small):
    with pytest.raises(OptionError, match="`engine` has no effect here: method 'paris'"):
        sameas.align(small, method="paris", engine=Dask(Client()))


def test_a_missing_extra_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(OptionError, match=r"pip install 'sameas\[dask\]'$"), engine_at("dask"):
        pass


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere://x"])
def test_a_scheduler_that_cannot_be_reached_is_one_sentence(address, monkeypatch):
    monkeypatch.setattr("sameas.pipeline.cluster.CONNECT_SECONDS", 0.2)
    where = Where(engine="dask", scheduler=address)
    with (
        pytest.raises(ClusterError, match=f"the scheduler {address} cannot be reached"),
        engine_at(where),
    ):
        pass


def test_the_command_line_tells_it_too(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("sameas.pipeline.cluster.CONNECT_SECONDS", 0.2)
    line = [
        "align",
        str(sameas.DEMO),
        "-o",
        str(tmp_path / "links.tsv"),
        "--scheduler",
        "tcp://127.0.0.1:9",
    ]
    for more, words in (
        (["--engine", "dask"], "the scheduler tcp://127.0.0.1:9 cannot be reached"),
        ([], "--scheduler has no effect here: it is for --engine dask"),
    ):
        with pytest.raises(SystemExit) as stopped:
            main([*line, *more])
        assert stopped.value.code == 2
        told = capsys.readouterr().err
        assert told.startswith(f"sameas: {words}")
        assert told.count("\n") == 1


# --- the same links


@pytest.fixture
def tiny_blocks(monkeypatch):
    """Small problems in many parts. Dense products of other parts may round differently."""
    monkeypatch.setattr(folding, "BLOCK", 3000)
    monkeypatch.setattr(evidence, "PART", 100)
    monkeypatch.setattr(sketch, "BLOCK", 30)
    monkeypatch.setattr(sketch, "HOP_BLOCK", 30)
    monkeypatch.setattr(pairwise, "PAIRS", 500)
    monkeypatch.setattr(proposals, "LEAST_ROWS", 20)
    monkeypatch.setattr(proposals, "LEFT_ROWS", 50)


@pytest.fixture
def as_if_large(monkeypatch):
    """What of large graphs is in files, or made bit by bit, is so of small ones."""
    for name in ("compute.rows", "graph.graph", "similarity.edges"):
        monkeypatch.setattr(f"sameas.{name}.MANY", 0)
    monkeypatch.setattr(evidence, "FEW", 0)
    monkeypatch.setattr("sameas.result.audit.decoys.MANY_APART", 0)


@pytest.mark.parametrize(("few", "most", "threads"), [(1, 1, 1), (2, 3, 3)])
def test_links_do_not_depend_on_engine_workers_or_blocks(tiny, tiny_blocks, few, most, threads):
    client = Client(threads)
    found = sameas.align(tiny, engine=Dask(client, few=few, most=most))
    same_alignment(found, sameas.align(tiny))
    assert len(client.tasks) > 50


def test_files_do_not_change_links(tiny, tiny_blocks, request):
    expected = sameas.align(tiny)
    request.getfixturevalue("as_if_large")
    same_alignment(sameas.align(tiny, engine=Dask(Client(), few=1)), expected)
    same_alignment(sameas.align(tiny), expected)


@pytest.mark.parametrize("choices", [{"preset": "paper"}, {"exact_hops": True, "no_audit": True}])
def test_other_methods_give_the_same_links(tiny, tiny_blocks, choices):
    found = sameas.align(tiny, engine=Dask(Client(), few=1), **choices)
    same_alignment(found, sameas.align(tiny, **choices))


def test_clues_give_the_same_proposals(tiny, tiny_blocks):
    tuning = TUNING.changed(search={"compare_all_up_to": 10})
    engines = None, Dask(Client(), few=1, most=2)
    found = [sameas.align(tiny, engine=one, no_audit=True, tuning=tuning) for one in engines]
    same_alignment(*found)


def test_what_does_not_fit_on_a_worker_comes_in_tiles(small, tiny_blocks):
    client = Client(memory=400_000)
    found = sameas.align(small, engine=Dask(client, few=1), no_audit=True)
    same_alignment(found, sameas.align(small, no_audit=True))
    rows = [sent.value for sent, _ in client.sent if isinstance(sent.value, SIDES)]
    assert max(side.nbytes for side in rows) < 60_000
    assert {type(side) for side in rows} == set(SIDES)
    assert Dask(Client(memory=0)).room > 2**60


SIDES = (pairwise.NamedRows, sketch.SketchedRows)


def same_alignment(found, expected):
    assert found.links.equals(expected.links)
    assert found.candidates.equals(expected.candidates)
    assert found.links.write_csv() == expected.links.write_csv()


# --- clusters of processes


def test_a_cluster_of_dask_gives_the_same_links(tiny, tiny_blocks):
    """In this process, since processes start slowly."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        expected = sameas.align(tiny, no_audit=True)
        same_alignment(sameas.align(tiny, no_audit=True, engine=client), expected)
        same_alignment(sameas.align(tiny, engine=Dask(client, few=1)), sameas.align(tiny))


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_a_worker_of_our_own_cluster_is_started_again_each_time(tmp_path):
    """Also one that is lost while Dask counts the time since an earlier loss."""
    dask = import_module("dask")
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1ms"}),
        engine_at(Where(engine="dask", workers=1)) as engine,
    ):
        fatal = Fatal(double, tmp_path, 2)
        found = list(engine.map(fatal, range(9), lambda part: part, np.ones(2)))
    assert found == [(part, 2 * part + 1) for part in range(9)]
    assert len(list(tmp_path.iterdir())) == 2


def test_what_another_worker_holds_is_not_sent_again():
    client = Client(lose=lambda task: MemoryError() if task == 3 else None)
    shared = np.ones(1)
    engine = Dask(client)
    list(engine.map(double, range(64), lambda part: part, shared))
    assert sum(broadcast for _, broadcast in client.sent) == 1
    engine._held[id(shared)][1].status = "lost"
    engine._forget_lost()
    assert not engine._held


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_workers_killed_in_every_stage_change_nothing(
    small, tiny_blocks, monkeypatch, tmp_path, workers
):
    for module, name, value in (
        (sketch, "BLOCK", 100),
        (sketch, "HOP_BLOCK", 100),
        (pairwise, "PAIRS", 3000),
        (proposals, "LEAST_ROWS", 80),
        (proposals, "LEFT_ROWS", 150),
    ):
        monkeypatch.setattr(module, name, value)
    given = {"no_audit": True, "tuning": TUNING.changed(search={"tile": (9, 60)})}
    expected = sameas.align(small, **given)
    with engine_at(Where(engine="dask", workers=workers)) as cluster:
        assert isinstance(cluster, Dask)
        engine = Killing(cluster.client, few=1, most=2)
        engine.folder, engine.times = tmp_path, 2
        same_alignment(sameas.align(small, **given, engine=engine), expected)
    stages = (
        *("_folded", "_counted", "_first_hop", "_next_hop"),
        *("_look", "_meet", "_products", "_votes", "products"),
    )
    assert engine.killed >= {f"{stage}-{number}" for stage in stages for number in (0, 1)}


def hoard(block, most):
    """An array of as many bytes as asked for, unless the process has too much by then."""
    held = np.ones(block, dtype=np.uint8)
    while psutil.Process().memory_info().rss > most:
        time.sleep(0.01)  # until Dask has ended this process
    return held


@pytest.mark.slow
def test_workers_that_run_out_of_memory_get_smaller_blocks(caplog):
    """Eight results do not fit, and a single one of another map does not fit either."""
    most = 400 * 2**20
    where = Where(engine="dask", workers=1, worker_memory=f"{most}")
    ended = int(0.96 * most)  # Dask ends a worker that has more than 95%
    with engine_at(where) as engine:
        found = engine.map(hoard, range(32), lambda part: 50_000_000 + part, ended)
        assert [len(held) - part for part, held in found] == [50_000_000] * 32
        assert "a worker was lost; 8 blocks are sent out again" in caplog.text
        with pytest.raises(ClusterError, match="lost 6 times at the same block; give them more"):
            list(engine.map(hoard, range(8), lambda part: 500_000_000, ended))


RUN = """
import sys
import sameas, sameas.pipeline.checkpoint
sameas.pipeline.checkpoint.WORTH_SECONDS = 0

if __name__ == "__main__":
    where = sameas.Where(engine="dask", workers=1)
    found = sameas.align(sameas.DEMO, engine=where, checkpoint=sys.argv[1])
    found.links.write_csv(sys.argv[2])
    print(*found.resumed)
"""


@pytest.mark.slow
def test_a_client_that_is_killed_is_resumed(tmp_path, align_demo):
    script, out = tmp_path / "run.py", tmp_path / "links.csv"
    script.write_text(RUN, encoding="utf8")
    line = [sys.executable, str(script), str(tmp_path / "kept"), str(out)]
    killed = subprocess.Popen(line)
    try:
        while not (tmp_path / "kept" / "candidates" / "phase.json").exists():
            assert killed.poll() is None
            time.sleep(0.05)
    finally:
        killed.kill()
        killed.wait()
    assert not out.exists()
    again = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True)
    assert "candidates" in again.stdout.split()
    assert out.read_text(encoding="utf8") == align_demo().links.write_csv()
    assert Path(tmp_path / "kept").exists()


def test_the_cluster_of_a_run_takes_no_tasks_without_its_key():
    pytest.importorskip("distributed")
    stranger = ssl.create_default_context()
    stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE
    with engine_at(Where(engine="dask", workers=1)) as engine:
        assert isinstance(engine, Dask)
        address = urlsplit(engine.client.scheduler.address)
        assert (address.scheme, address.hostname) == ("tls", "127.0.0.1")
        with (
            socket.create_connection((address.hostname, address.port), timeout=60) as connection,
            pytest.raises(ssl.SSLError, match=r"(?i)certificate"),
            stranger.wrap_socket(connection) as encrypted,
        ):
            encrypted.recv(1)
        assert engine.client.submit(abs, -1).result() == 1
