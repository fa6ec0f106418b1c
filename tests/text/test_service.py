"""Translation by a service that misbehaves."""

from __future__ import annotations

import json
import logging
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

import sameas
from sameas import OptionError, SameasError


class Clock:
    """Time that passes only in sleep."""

    def __init__(self):
        self.now, self.slept = 0.0, []

    def sleep(self, seconds):
        self.now += seconds
        self.slept += [seconds] if seconds else []

    def monotonic(self):
        return self.now


class Service:
    """A loopback server that answers as its script says, and translates to upper case after."""

    def __init__(self, *script):
        self.script, self.requests, service = list(script), [], self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                service.requests.append(texts)
                step = service.script.pop(0) if service.script else "good"
                service.answer(self, step, texts)

            def log_message(self, *rest):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.released = threading.Event()
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self, handler, step, texts):
        body = json.dumps([text.upper() for text in texts]).encode()
        if step == "slow":
            self.released.wait(60)
            return
        status, headers = step if isinstance(step, tuple) else (200, {})
        if step == "nonsense":
            body = b"<html>Please log in</html>"
        elif step == "short":
            body = json.dumps(["one"] * (len(texts) + 1)).encode()
        elif step == "numbers":
            body = json.dumps([1] * len(texts)).encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body) + 10 * (step == "cut")))
        handler.end_headers()
        handler.wfile.write(body)

    def __call__(self, texts):
        url = f"http://127.0.0.1:{self.server.server_port}/"
        data = json.dumps(texts).encode()
        slow = self.script[:1] == ["slow"]
        self.released.clear()
        try:
            with urllib.request.urlopen(url, data, timeout=0.2 if slow else 60) as answer:
                return json.load(answer)
        finally:
            self.released.set()

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def serve():
    services = []

    def start(*script):
        services.append(Service(*script))
        return services[-1]

    yield start
    for service in services:
        service.close()


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("sameas.text.languages.service.time", clock)
    return clock


def translate(names, call, tmp_path, **rest):
    return sameas.translate(names, call, cache=tmp_path / "cache.jsonl", **rest).to_list()


@pytest.mark.parametrize(
    "step",
    [(500, {}), (503, {}), (429, {}), "cut", "nonsense", "short", "numbers", "slow"],
    ids=str,
)
def test_what_may_pass_is_tried_again(serve, step, tmp_path, clock, caplog):
    service = serve(step, step)
    with caplog.at_level(logging.WARNING, "sameas"):
        assert translate(["a", "b"], service, tmp_path) == ["A", "B"]
    assert len(service.requests) == 3
    assert clock.slept == [1.0, 2.0]
    assert "next attempt in 2 s" in caplog.text


def test_a_service_that_says_when_is_asked_then(serve, tmp_path, clock):
    service = serve((429, {"Retry-After": "17"}))
    assert translate(["a"], service, tmp_path) == ["A"]
    assert clock.slept == [17.0]


@pytest.mark.parametrize(
    ("step", "calls"), [((401, {}), 1), ((429, {"Retry-After": "86400"}), 1), ((500, {}), 3)]
)
def test_what_does_not_pass_ends_with_one_sentence(serve, step, calls, tmp_path, clock):
    service = serve(*[step] * 20)
    with pytest.raises(SameasError, match=r"the translation service failed .* call again to go on"):
        translate(["a"], service, tmp_path, attempts=3)
    assert len(service.requests) == calls
    assert sum(clock.slept) <= 3.0


def test_no_name_is_sent_twice_after_an_interruption(serve, tmp_path, clock):
    names = [f"name {number}" for number in range(10)]
    service = serve("good", "good", *[(500, {})] * 2)
    with pytest.raises(SameasError):
        translate(names, service, tmp_path, batch=3, attempts=2)
    cache = tmp_path / "cache.jsonl"
    cache.write_bytes(cache.read_bytes() + b'["name 6", "NA')  # killed while writing
    again = serve()
    assert translate(names, again, tmp_path, batch=3) == [name.upper() for name in names]
    assert again.requests == [names[6:9], names[9:]]
    assert translate(names, None, tmp_path) == [name.upper() for name in names]


def test_each_distinct_name_is_sent_once_and_empty_ones_never(serve, tmp_path, clock):
    service = serve()
    assert translate(["a", None, "a", " ", "b"], service, tmp_path) == [*("A", "", "A", "", "B")]
    assert service.requests == [["a", "b"]]


def test_calls_keep_to_the_rate(serve, tmp_path, clock):
    service = serve()
    translate(list("abcdef"), service, tmp_path, batch=2, per_second=0.5)
    assert clock.slept == [2.0, 2.0]


def test_a_fault_in_the_call_is_not_hidden(tmp_path, clock):
    def call(texts):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        translate(["a"], call, tmp_path)


@pytest.mark.parametrize(
    "wrong", [{"batch": 0}, {"attempts": 0}, {"per_second": 0.0}, {"per_second": float("nan")}]
)
def test_options_that_make_no_sense_are_refused(wrong, tmp_path, clock):
    with pytest.raises(OptionError, match="must be"):
        translate(["a"], list, tmp_path, **wrong)


@pytest.mark.parametrize(
    "content", ["entity\tname\n", "7\n", '["a"]\n', '{"a": "b"}\n', "[1, 2]\n", "hello"]
)
def test_a_cache_of_something_else_is_refused_and_left_as_it_is(content, tmp_path, clock):
    cache = tmp_path / "cache.jsonl"
    cache.write_text(content)
    with pytest.raises(OptionError, match="`cache` must be a file that translate has made"):
        translate(["a"], list, tmp_path)
    assert cache.read_text() == content
