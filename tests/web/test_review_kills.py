"""Eight reviewers decide while the server is killed again and again: nothing is lost or doubled."""

from __future__ import annotations

import http.client
import json
import random
import shutil
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event

import pytest

import sameas
from sameas.result.decisions import FILE
from serving import TOKEN, Server

pytest.importorskip("uvicorn", reason="the extra web is not installed")

REVIEWERS, EACH, KILLS = 8, 1000, 5


def decide_all(server, reviewer, links, confirmed, given_up):
    """Send decisions one by one, each until it is answered; keep those that were confirmed."""
    connection = None
    for number in range(EACH):
        left, right = links[number % len(links)]
        verdict = random.Random(f"{reviewer} {number}").choice(["accept", "reject", "unsure"])
        request = f"{reviewer}-{number}"
        claims = [{"left": left, "right": right, "verdict": verdict}]
        body = json.dumps({"request": request, "reviewer": reviewer, "claims": claims})
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        while not given_up.is_set():
            try:
                connection = connection or http.client.HTTPConnection("127.0.0.1", server.port)
                connection.request("POST", "/decide", body, headers)
                answer = connection.getresponse()
                answer.read()
                if answer.status == 200:
                    confirmed.append(request)
                    break
                assert answer.status in (429, 503), answer.status
            except (OSError, http.client.HTTPException):
                connection.close()
                connection = None
            time.sleep(0.05)
    connection.close()


@pytest.mark.slow
def test_every_confirmed_decision_survives_five_kills(align_small, tmp_path):
    run = tmp_path / "run"
    sameas.write(align_small(), run)
    links = align_small().links.select("left", "right").rows()
    server, confirmed, given_up = Server(run), [], Event()
    try:
        with ThreadPoolExecutor(REVIEWERS) as pool:
            tasks = [
                pool.submit(
                    decide_all,
                    server,
                    f"reviewer {number}",
                    links[5 * number :],
                    confirmed,
                    given_up,
                )
                for number in range(REVIEWERS)
            ]
            try:
                for kill in range(1, KILLS + 1):
                    while len(confirmed) < kill * REVIEWERS * EACH / (KILLS + 1):
                        time.sleep(0.02)
                        assert not [task for task in tasks if task.done() and task.exception()]
                    server.kill()
                    server.start()
                for task in tasks:
                    task.result()
            finally:
                given_up.set()
    finally:
        server.kill()
    copy = shutil.copytree(run, tmp_path / "copy")
    with closing(sqlite3.connect(copy / FILE)) as connection:
        rows = connection.execute("SELECT request FROM decisions WHERE part = 0").fetchall()
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    stored = [request for (request,) in rows]
    assert len(stored) == len(set(stored)) == REVIEWERS * EACH
    assert set(stored) == set(confirmed)
