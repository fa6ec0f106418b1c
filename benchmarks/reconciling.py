"""Names of one graph reconciled against another by ``sameas serve``: Hits@1 and queries a second.

Run it from the root of the repository::

    python -m benchmarks.reconciling path/to/srprs/fr_en

The service runs as a process of its own and knows the right graph of a benchmark folder. It is
asked for the left names of the gold links, made from URIs, as names alone, in batches, by as many
clients at once as there are cores.

With ``--clients 50 --seconds 60`` it is asked by so many clients at once for so long instead, each
with the next request as soon as the last one is answered: requests a second, and how long the
median and the slowest hundredth of them take.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

import numpy as np

from sameas.compute.parallel import cores, slices
from sameas.formats.pair import read_pair

MOST_CLIENTS, MOST_SECONDS = 500, 600.0
"""Bounds of a load test."""


@contextmanager
def served(folder: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of the service, and its process, which ends with the block."""
    options = ["--names", "uri", "--port", "0", "--json"]
    command = [sys.executable, "-m", "sameas", "serve", folder, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines = iter(process.stdout.readline, "}\n")
            yield json.loads("".join(lines) + "}")["address"], process
        finally:
            process.terminate()


def cpu_seconds(process: int) -> float:
    """The processor time that a process has used, from Linux."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(folder: str, *, size: int) -> dict[str, Any]:
    """Reconcile all left names of the gold links in batches."""
    pair = read_pair(folder, names="uri")
    assert pair.gold is not None
    left, right = pair.gold["left"], pair.gold["right"].to_list()
    names = pair.left.names.gather(pair.left.positions(left)).to_list()
    with served(folder) as (address, process):

        def ask(part: slice) -> list[list[dict[str, Any]]]:
            queries = {str(place): {"query": name} for place, name in enumerate(names[part])}
            form = urlencode({"queries": json.dumps(queries)}).encode()
            with urlopen(address, form) as response:
                answers = json.load(response)
            return [answers[key]["result"] for key in queries]

        ask(slice(0, size))
        cpu, begin = cpu_seconds(process.pid), time.perf_counter()
        with ThreadPoolExecutor(cores()) as clients:
            found = [one for part in clients.map(ask, slices(len(names), size)) for one in part]
        seconds = time.perf_counter() - begin
        cpu = cpu_seconds(process.pid) - cpu
    first = [each[0] if each else {"id": None, "match": False} for each in found]
    hits = [one["id"] == true for one, true in zip(first, right, strict=True)]
    matched = [hit for one, hit in zip(first, hits, strict=True) if one["match"]]
    ten = (true in [one["id"] for one in each] for each, true in zip(found, right, strict=True))
    return {
        "queries": len(names),
        "batch": size,
        "hits@1": round(sum(hits) / len(names), 4),
        "hits@10": round(sum(ten) / len(names), 4),
        "matches": len(matched),
        "matches_right": round(sum(matched) / max(len(matched), 1), 4),
        "queries_a_second": round(len(names) / seconds),
        "server_cpu_milliseconds_a_query": round(1000 * cpu / len(names), 3),
    }


def load(folder: str, *, size: int, clients: int, seconds: float) -> dict[str, Any]:
    """Let clients ask without a pause, each in a thread with one connection."""
    pair = read_pair(folder, names="uri")
    names = pair.left.names.to_list()
    batches = [
        json.dumps({str(number): {"query": name} for number, name in enumerate(names[part])})
        for part in slices(len(names), size)
    ]
    forms = [urlencode({"queries": batch}).encode() for batch in batches]
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    with served(folder) as (address, process):
        place, end = urlsplit(address), time.perf_counter() + seconds

        def ask(client: int) -> tuple[list[float], list[str]]:
            times: list[float] = []
            errors: list[str] = []
            connection = HTTPConnection(place.netloc, timeout=60)
            for number in count(client):
                begin = time.perf_counter()
                if begin > end:
                    break
                try:
                    connection.request("POST", place.path, forms[number % len(forms)], kind)
                    response = connection.getresponse()
                    if len(response.read()) < 3 or response.status != 200:
                        errors.append(f"status {response.status}")
                except (OSError, HTTPException) as error:
                    errors.append(repr(error))
                    connection.close()
                times.append(time.perf_counter() - begin)
            connection.close()
            return times, errors

        cpu, begin = cpu_seconds(process.pid), time.perf_counter()
        with ThreadPoolExecutor(clients) as threads:
            results = list(threads.map(ask, range(clients)))
        spent, cpu = time.perf_counter() - begin, cpu_seconds(process.pid) - cpu
    times = [one for client, _ in results for one in client]
    errors = Counter(one for _, client in results for one in client)
    median, slow = (round(1000 * float(np.quantile(times, q)), 1) for q in (0.5, 0.99))
    return {
        "clients": clients,
        "seconds": round(spent, 1),
        "batch": size,
        "requests": len(times),
        "requests_a_second": round(len(times) / spent, 1),
        "p50_milliseconds": median,
        "p99_milliseconds": slow,
        "errors": errors.total(),
        "kinds_of_errors": dict(errors),
        "server_cpu_seconds": round(cpu, 1),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    example = "example: python -m benchmarks.reconciling path/to/srprs/fr_en"
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog=example)
    parser.add_argument("folder", help="a benchmark folder with gold links")
    parser.add_argument("--batch", type=int, default=50, help="queries in a request")
    parser.add_argument("--clients", type=int, help="clients that ask at once, for a load test")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long they ask")
    chosen = parser.parse_args(arguments)
    if chosen.clients is None:
        result = measure(chosen.folder, size=chosen.batch)
    else:
        clients, seconds = min(chosen.clients, MOST_CLIENTS), min(chosen.seconds, MOST_SECONDS)
        result = load(chosen.folder, size=chosen.batch, clients=clients, seconds=seconds)
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
