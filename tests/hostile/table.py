"""The table of attempts: which input is given to which command, and what is promised."""

# mypy: disable-error-code="func-returns-value"
from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from . import bad, clients, good, mutations, server
from .attempt import Attempt, Promise
from .messages import refusals

ALIGN = ("align", "../good/l.tsv", "../good/r.tsv", "-o", "out/links.tsv")
LIMIT = ("--max-bytes", "10M")
LINE = {".csv": b"a,b,c\n", ".json": b'["a", ', ".jsonl": b'{"left":"a","right":"b"}\n'}
"""What bombs repeat."""
WRITTEN = (".tsv", ".csv", ".parquet", ".jsonl", ".sssom.tsv", ".nt", ".ttl", ".rdf")

Reader = tuple[str, bytes, tuple[str, ...]]
"""A file name, valid content, the command that reads it."""


SOME = 1
"""One of so many readers is tried: all, or some for a sample."""


def readers(folder: Path) -> Iterator[Reader]:
    """The uses of the text formats that are tried."""
    yield from list(every_reader(folder))[::SOME]


def every_reader(folder: Path) -> Iterator[Reader]:
    """Every use of every text format."""
    for kind in ("nt", "nq", "ttl", "trig", "rdf", "jsonld"):
        yield f"g.{kind}", good.rdf(kind, good.ROWS), ("inspect", f"g.{kind}")
    for kind, separator in good.TABLES.items():
        yield f"g{kind}", good.triples(separator), ("inspect", f"g{kind}")
    for kind in good.LINK_KINDS[:-1]:
        content = (folder / "good" / f"links{kind}").read_bytes()
        yield f"k{kind}", content, ("convert", f"k{kind}", "out/k.tsv")
        yield f"gold{kind}", content, ("evaluate", "../good/few.tsv", f"gold{kind}")
    for kind in (".json", ".tsv", ".csv"):
        yield f"names{kind}", good.names(kind), (*ALIGN, "--names", f"names{kind}")
    words = ("--features", "word", "--word-vectors", "v.txt")
    yield "v.txt", good.vectors(), (*ALIGN, *words)
    yield "seeds.tsv", good.links("\t", 10), (*ALIGN, "--seeds", "seeds.tsv")
    yield (
        "no.txt",
        b"a:\xc3\xa9\na:b\n" * 500,
        (*("evaluate", "../good/few.tsv", "../good/few.tsv", "--no-match", "no.txt"),),
    )


def messages(folder: Path) -> Iterator[Attempt]:
    """What is said about each kind of mistake."""
    for row in refusals():
        yield Attempt("messages", row.name, row.command, "refused", row.files, says=row.says)


def archives(folder: Path) -> Iterator[Attempt]:
    """Every reader x every codec x every damage."""
    for name, content, command in readers(folder):
        for codec in bad.CODECS:
            packed = tuple(word + codec if word == name else word for word in command)
            for damage, data, promise in bad.archives(codec, content):
                files = {name + codec: data}
                yield Attempt("archives", f"{damage}", packed, promise, files)


def bombs(folder: Path) -> Iterator[Attempt]:
    """Archives that hold more than --max-bytes allows, for every reader."""
    for name, content, command in readers(folder):
        line = LINE.get(Path(name).suffix, content.splitlines(keepends=True)[-1])
        for codec in bad.CODECS:
            packed = tuple(word + codec if word == name else word for word in command)
            for damage, data, promise in bad.bombs(codec, line):
                files = {name + codec: data}
                yield Attempt("bombs", damage, packed + LIMIT, promise, files, inside=_limit_memory)
    for name, command in (("g-bomb", "inspect"), ("k-bomb", "convert"), ("k-bomb", "evaluate")):
        more = ("out/k.tsv",) if command == "convert" else ("../good/few.tsv",)
        words = (command, f"../good/{name}.parquet", *(more if command != "inspect" else ()))
        yield Attempt("bombs", "one long text", words + LIMIT, inside=_limit_memory)


def encodings(folder: Path) -> Iterator[Attempt]:
    """Every reader x every odd encoding."""
    for name, content, command in readers(folder):
        any_text = name.startswith(("no.txt", "v.txt"))  # any text is a name there
        for damage, data, promise in bad.encodings(content):
            empty = damage in ("only nothing", "only line breaks", "only a byte order mark")
            if (name.startswith("k") and empty) or (
                any_text and damage.startswith(("only", "rev"))
            ):
                promise = "either"  # a file of no links is a file of links
            yield Attempt("encodings", damage, command, promise, {name: data})


def shapes(folder: Path) -> Iterator[Attempt]:
    """Texts that are what they say, but hold the wrong things; columns of every type."""
    convert = ("convert", "k", "out/k.tsv")
    for kind, command, made in (
        ("names.json", (*ALIGN, "--names", "names.json"), bad.names_shapes),
        ("k.jsonl", convert, bad.jsonl_shapes),
        ("g.jsonld", ("inspect", "g"), bad.jsonld_shapes),
        ("g.rdf", ("inspect", "g"), bad.xml_shapes),
        ("k.rdf", convert, bad.xml_shapes),
        ("g.ttl", ("inspect", "g"), bad.turtle_shapes),
        ("g.nt", ("inspect", "g"), bad.turtle_shapes),
        ("k.sssom.tsv", convert, bad.sssom_shapes),
    ):
        words = tuple(kind if word in ("g", "k") else word for word in command)
        for name, data, promise in made():
            if kind == "k.jsonl" or (kind in ("g.nt", "k.rdf") and promise == "refused"):
                promise = "either"
            yield Attempt("shapes", f"{kind}: {name}", words, promise, {kind: data})
    for path in sorted((folder / "good").glob("?-*-*.parquet")):
        place, table = path.name[0], f"../good/{path.name}"
        commands: dict[str, list[tuple[str, ...]]] = {
            "g": [("inspect", table), ("align", table, "../good/r.tsv", "-o", "out/links.tsv")],
            "k": [("convert", table, "out/k.nt"), ("evaluate", "../good/few.tsv", table)],
            "e": [(*ALIGN, "--embeddings", table)],
        }
        for command in commands[place]:
            yield Attempt("shapes", path.stem, command)


def folders(folder: Path) -> Iterator[Attempt]:
    """Benchmark folders and run folders with a file missing, empty, cut, or of another kind."""
    for layout, files in (("dbp15k", good.DBP15K), ("openea", good.OPENEA)):
        for name, content in files.items():
            for how, data in _harmed(content):
                changed = {f"p/{other}": files[other] for other in files if other != name}
                if data is not None:
                    changed[f"p/{name}"] = data
                yield Attempt("folders", f"{layout} {name}: {how}", ("inspect", "p"), files=changed)
    run = folder / "good" / "run"
    names = [path for path in sorted(run.rglob("*")) if path.is_file()]
    for path in names:
        for how, data in _harmed(path.read_bytes()):
            inner = path.relative_to(run)
            for command in (
                ("evaluate", "run", "../good/few.tsv"),
                ("convert", "run", "out/k.tsv"),
                ("merge", "run", "-o", "out/m.nt"),
                ("explain", "run", "l:é1", "--drawing", "out/x.svg"),
            ):
                yield Attempt(
                    "folders",
                    f"run {inner}: {how}",
                    command,
                    prepare=lambda inner=inner, data=data: _harmed_run(inner, data),
                )

    record = json.loads((run / "run.json").read_bytes())
    for part, name in [
        *(("options", name) for name in (*record["options"], "seeds", "embeddings", "names")),
        *(("summary", name) for name in record["summary"]),
        *(("", name) for name in ("sameas", "audit", "inputs")),
    ]:
        for command in (("explain", "run", "l:é1"), ("convert", "run", "out/k.tsv")):
            prepare = lambda part=part, name=name: _naming_run(part, name)  # noqa: E731
            yield Attempt(
                "folders", f"run.json names a model: {part} {name}", command, prepare=prepare
            )


def _naming_run(part: str, name: str) -> None:
    """A run whose record names a folder with code, which nothing may open."""
    shutil.copytree("../good/run", "run")
    Path("canary").mkdir()
    Path("canary/modules.json").write_text('[{"type": "evil.X", "path": ""}]')
    Path("canary/evil.py").write_text("raise SystemExit(1)")
    record = json.loads(Path("run/run.json").read_text("utf8"))
    (record[part] if part else record)[name] = str(Path("canary").absolute())
    Path("run/run.json").write_text(json.dumps(record), "utf8")


def _harmed(content: bytes) -> Iterator[tuple[str, bytes | None]]:
    yield "missing", None
    yield "empty", b""
    yield "cut", content[: len(content) // 2]
    yield "zeros", bytes(len(content))
    yield "text", b"hello\n"


def _harmed_run(inner: Path, data: bytes | None) -> None:
    shutil.copytree("../good/run", "run")
    if data is None:
        ("run" / inner).unlink()
    else:
        ("run" / inner).write_bytes(data)


def endpoints(address: str) -> Iterator[Attempt]:
    """A server that misbehaves in every way we know."""
    free = {"longer-nt", "longer-ttl", "no-type", "many-headers"}
    for name in server.behaviours():
        refused = not name.startswith(("status-2", "empty", "packed")) and name not in free
        promise: Promise = "refused" if refused else "either"
        command = ("inspect", f"{address}/{name}", *LIMIT)
        yield Attempt("endpoints", name, command, promise, inside=_impatient, seconds=40)
    for place in (
        *("http://127.0.0.1:1/", "http://127.0.0.1:99999/", "http://[::1/", "http://", "https://a"),
        *(
            "http://127.0.0.1:1/\x7f",
            "http://é.invalid/",
            "http://a b/",
            "http://user:p@127.0.0.1:1/",
        ),
    ):
        yield Attempt("endpoints", place, ("inspect", f"sparql+{place}"), "refused")
    for query in (b"", b"\xff", b"SELECT", b"SELECT * {} LIMIT 1", bytes(100)):
        command = ("inspect", f"{address}/html", "--query", "q")
        yield Attempt("endpoints", f"query {query[:10]!r}", command, "refused", {"q": query})


def _impatient() -> None:
    """Wait for two seconds where a command waits for minutes, so that we need not."""
    from sameas.formats import files, sparql

    sparql.SECONDS = files.WRITER_SECONDS = files.SILENT_SECONDS = 2
    _limit_memory()


def options(folder: Path) -> Iterator[Attempt]:
    """Every option of every command x values that nobody would give."""
    from sameas.cli.main import main

    given = {
        "align": ALIGN,
        "dedupe": ("dedupe", "../good/l.tsv", "-o", "out/d.tsv"),
        "convert": ("convert", "../good/few.tsv", "out/k.nt"),
        "inspect": ("inspect", "../good/l.tsv"),
        "evaluate": ("evaluate", "../good/few.tsv", "../good/few.tsv"),
        "merge": ("merge", "../good/run", "-o", "out/m.nt"),
        "explain": ("explain", "../good/run", "l:é1"),
        "demo": ("demo",),
        "audit": ("audit", "../good/run"),
        "names": ("names", "../good/l.tsv", "../good/r.tsv", "-o", "out/n.tsv"),
        "report": ("report", "../good/run", "-o", "out/r.html"),
        # These would go on until they are stopped.
        "review": ("review", "nowhere"),
        "serve": ("serve", "nowhere"),
    }
    values = (
        "",
        "x" * 100_000,
        "-1",
        "nan",
        "9" * 5000,
        "\udcff",
        "日本\u202e",
        "1e999",
        "a=b",
        "0",
    )
    for name, command in main.commands.items():
        for option in command.params:
            flag = option.opts[-1]
            if not flag.startswith("-") or getattr(option, "is_flag", False):
                continue
            for value in values if name == "align" else values[:7]:
                words = (*given[name], flag, value)
                yield Attempt("options", f"{flag} {value[:12]}", words)
        for value in values[:7]:  # as an argument
            yield Attempt("options", f"{name} {value[:12]}", (name, value, *given[name][2:]))
        yield Attempt("options", "too many", (*given[name], *["x"] * 5000), "refused")
    endless = ("--iterations", "1000000000", "--preset", "paper")
    yield Attempt("options", "endless iterations", (*ALIGN, *endless), seconds=60)
    for word in ("", "\udcff", "aling", "x" * 100_000, "--nope", "-", "日本"):
        yield Attempt("options", f"no command: {word[:12]}", (word,), "refused")


def outputs(folder: Path) -> Iterator[Attempt]:
    """Places where nothing can be written."""
    writers: dict[str, tuple[str, ...]] = {
        **{f"k{kind}": ("convert", "../good/links.tsv") for kind in WRITTEN},
        **{
            f"m.{kind}": ("merge", "../good/run", "-o") for kind in ("nt", "ttl", "nq.gz", "nt.zst")
        },
        **{
            f"x.{kind}": ("explain", "../good/run", "l:é1", "--drawing") for kind in ("svg", "html")
        },
        "r.html": ("report", "../good/run", "-o"),
        "links.tsv": ALIGN[:4],
        "run": ALIGN[:4],
    }
    for how in ((), ("--preset", "paper"), ("--solver", "hungarian")):
        inside = _no_room_for_checkpoints
        yield Attempt("outputs", "no room for checkpoints", (*ALIGN, *how), "read", inside=inside)
    for name, command in writers.items():

        def attempt(how: str, out: str, promise: Promise = "refused", command=command, **rest):
            return Attempt("outputs", f"{how}: {out[-20:]}", (*command, out), promise, **rest)

        earlier = {f"out/{name}": b"earlier"} if "." in name else {}
        if name != "report":
            for most in (0, 100, 1500):
                limit = lambda most=most: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))  # noqa: E731
                small = name.startswith(("x", "links", "m", "run")) and most > 100
                promise = "either" if small else "refused"
                yield attempt(
                    f"disk full after {most}", f"out/{name}", promise, inside=limit, files=earlier
                )
        yield attempt("no such folder", f"nowhere/{name}")
        yield attempt("below a file", f"file/{name}", files={"file": b"x"})
        yield attempt("too long", f"out/{'é' * 130}{name}")
        for left in range(0, 60, 6):
            stem = "n" * (255 - len(name) - left)
            yield attempt(f"{255 - left} letters", f"out/{stem}{name}", "either")
        yield attempt("no UTF-8", f"out/\udcff{name}", "either")
        yield attempt("line break", f"out/a\n{name}", "either")
        yield attempt("a full device", "/dev/full" if "." not in name else f"out/full{name}",
                      prepare=lambda name=name: Path(f"out/full{name}").symlink_to("/dev/full"),
                      promise="either")  # fmt: skip
        yield attempt("a link to itself", f"out/{name}", "either",
                      prepare=lambda name=name: Path(f"out/{name}").symlink_to(name))  # fmt: skip
        yield attempt("a folder is there", f"out/{name}", prepare=lambda name=name: Path(
                      f"out/{name}/x").mkdir(parents=True))  # fmt: skip
        yield attempt(
            "a folder that may not be written", f"out/{name}", inside=lambda: _ordinary_user(0o555)
        )


def _no_room_for_checkpoints() -> None:
    """Keep every phase, on a disk that has room for the links alone."""
    from sameas.pipeline import checkpoint

    checkpoint.WORTH_SECONDS = 0.0
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))


def overwriting(folder: Path) -> Iterator[Attempt]:
    """Outputs that are inputs by another name, or that keep nothing."""
    graph, links = good.small("l"), good.links("\t", 10)
    names = {
        "itself": lambda name: None,
        "a symbolic link": lambda name: Path(f"out/x{name}").symlink_to(f"../in{name}"),
        "a hard link": lambda name: Path(f"out/x{name}").hardlink_to(f"in{name}"),
        "through a folder": lambda name: Path("out/here").symlink_to(".."),
    }
    spelled = {"itself": "in{}", "through a folder": "out/here/in{}"}
    for how, prepare in names.items():
        for name, content, command in (
            (".tsv", graph, ("align", "in.tsv", "../good/r.tsv", "-o")),
            (".tsv", links, (*ALIGN[:3], "--seeds", "in.tsv", "-o")),
            (".tsv", graph, ("names", "in.tsv", "../good/r.tsv", "-o")),
            (".tsv", links, ("convert", "in.tsv")),
            (".nt", good.rdf("nt"), ("align", "in.nt", "../good/r.tsv", "-o")),
        ):
            output = spelled.get(how, "out/x{}").format(name)
            yield Attempt("overwriting", f"{how}: {command[0]} {name}", (*command, output),
                          "refused", {f"in{name}": content},
                          prepare=lambda prepare=prepare, name=name: prepare(name))  # fmt: skip
    copied = lambda: shutil.copytree("../good/run", "run")  # noqa: E731
    for command in (
        ("convert", "run", "run/links.parquet"),
        ("convert", "run", "run/left/triples.parquet"),
        ("align", "run/left/triples.parquet", "../good/r.tsv", "-o", "run"),
        (*ALIGN[:3], "--names", "run/left/entities.parquet", "-o", "run"),
    ):
        name = f"files of a run: {' '.join(command[:2])}"
        yield Attempt("overwriting", name, command, "refused", prepare=copied)
    for output in ("memory://x.tsv", "memory://x", "memory:/x.nt", ""):
        yield Attempt("overwriting", f"-o {output}", (*ALIGN[:4], output), "refused")
        words = ("convert", "../good/links.tsv", output)
        yield Attempt("overwriting", f"convert to {output}", words, "refused")
    for host in ("nonsense host", "", "256.1.1.1", "a\tb", "::zz", "é" * 300, "8.8.8.8"):
        for words in (("review", "../good/run", "--no-browser"), ("serve", "../good/l.tsv")):
            words = (*words, "--host", host, "--token", "t" * 20)
            yield Attempt("overwriting", f"{words[0]} at {host[:20]}", words, "refused")


def inputs(folder: Path) -> Iterator[Attempt]:
    """Paths that lead to no readable file."""
    uses: dict[str, Callable[[str], tuple[str, ...]]] = {
        ".tsv": lambda path: ("inspect", path),
        ".parquet": lambda path: ("inspect", path),
        ".nt": lambda path: ("inspect", path),
        ".jsonl": lambda path: ("convert", path, "out/k.tsv"),
        ".rdf": lambda path: ("convert", path, "out/k.tsv"),
        ".csv": lambda path: ("evaluate", "../good/few.tsv", path),
        ".json": lambda path: (*ALIGN, "--names", path),
        ".txt": lambda path: (*ALIGN, "--features", "word", "--word-vectors", path),
        ".npy": lambda path: (*ALIGN, "--embeddings", path),
        "": lambda path: ("evaluate", path, "../good/few.tsv"),
    }
    for kind, command in uses.items():
        path = f"x{kind}"
        ways: dict[str, Callable[[], object]] = {
            "missing": lambda: None,
            "a folder": lambda path=path: Path(path).mkdir(),
            "a link to itself": lambda path=path: Path(path).symlink_to(path),
            "a link to nowhere": lambda path=path: Path(path).symlink_to("nowhere"),
            "a pipe": lambda path=path: os.mkfifo(path),
            "zeros without end": lambda path=path: Path(path).symlink_to("/dev/zero"),
            "nothing": lambda path=path: Path(path).symlink_to("/dev/null"),
            "a socket": lambda path=path: os.mknod(path, 0o140777),
            "memory": lambda path=path: Path(path).symlink_to("/proc/self/mem"),
        }
        for how, prepare in ways.items():
            yield Attempt("inputs", f"{how}: {path}", (*command(path), *LIMIT), "refused",
                          prepare=prepare, inside=_impatient, seconds=40)  # fmt: skip
        secret = lambda path=path: (Path(path).write_bytes(b"x"), Path(path).chmod(0))  # noqa: E731
        yield Attempt("inputs", f"may not be read: {path}", command(path), "refused",
                      prepare=secret, inside=_ordinary_user, says=("is not readable",))  # fmt: skip
        closed = lambda: (Path("d").mkdir(), Path("d/x.nt").write_bytes(b""), Path("d").chmod(0))  # noqa: E731
        yield Attempt("inputs", f"in a closed folder: {path}", command(f"d/{path}"), "refused",
                      prepare=closed, inside=_ordinary_user)  # fmt: skip
        yield Attempt("inputs", f"long name: {kind}", command("x" * 5000 + kind), "refused")
        yield Attempt("inputs", f"no UTF-8: {kind}", command("\udcff" + kind), "refused")
    locked = lambda: (Path("d").mkdir(), Path("d").chmod(0))  # noqa: E731
    for command in (
        ("inspect", "d"),
        ("align", "d", "-o", "out/k.tsv"),
        ("evaluate", "d", "../good/few.tsv"),
    ):
        yield Attempt("inputs", "a folder that may not be read", command, "refused",
                      prepare=locked, inside=_ordinary_user, says=("is not readable",))  # fmt: skip
    for command in (("inspect", "d"), ("align", "d", "../good/r.tsv", "-o", "out/k.tsv")):
        unread = lambda: (  # noqa: E731
            Path("d").mkdir(),
            Path("d/x.nt").write_bytes(b"<a:a> <a:b> <a:c> ."),
            Path("d/x.nt").chmod(0),
        )
        yield Attempt("inputs", "files of a folder may not be read", command, "refused",
                      prepare=unread, inside=_ordinary_user)  # fmt: skip


def environments(folder: Path) -> Iterator[Attempt]:
    """Streams, encodings, folders and limits that a command may find itself with."""
    commands: list[tuple[str, ...]] = [
        ("--version",),
        ("align", "--help"),
        ("inspect", "../good/l.tsv"),
        ("inspect", "../good/l.tsv", "--json"),
        ("convert", "../good/links.tsv", "out/k.nt"),
        ("evaluate", "../good/few.tsv", "../good/few.tsv"),
        ("merge", "../good/run", "-o", "out/m.nt"),
        ("explain", "../good/run", "l:é1"),
        ("inspect", "nowhere.tsv"),
        ALIGN,
    ]
    for command in commands:
        shown = command == commands[1] or command == ALIGN
        for shell in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full"):
            yield Attempt("environments", shell, command, shell=shell)
        if shown:
            continue
        for name, value in {
            "PYTHONIOENCODING": "ascii",
            "PYTHONUTF8": "0",
            "LC_ALL": "C",
            "COLUMNS": "1",
            "TERM": "nonsense",
            "TZ": "nowhere",
            "HOME": "/nowhere",
            "TMPDIR": "/nowhere",
        }.items():
            inside = lambda name=name, value=value: os.environ.update({name: value})  # noqa: E731
            yield Attempt("environments", f"{name}={value}", command, inside=inside, shell="")
        gone = lambda: (Path("gone").mkdir(), os.chdir("gone"), Path("../gone").rmdir())  # noqa: E731
        yield Attempt("environments", "folder is gone", command, inside=gone)
    for command in (("inspect", "-", "--format", "nt"), ("inspect", "-", "--format", "rdf")):
        for shell in ("<&-", "</dev/null", "</dev/zero", "<../good/l.tsv", "</dev/full"):
            words = (*command, *LIMIT)
            yield Attempt("environments", f"input {shell}", words, "refused", shell=shell)
    for home in ("/nowhere", "/proc"):
        for more in ((), ("--preset", "paper"), ("--method", "paris")):
            inside = lambda home=home: _read_only_package(home)  # noqa: E731
            yield Attempt("environments", f"read-only package, HOME={home}", (*ALIGN, *more),
                          "read", inside=inside, shell="", seconds=300, megabytes=1000)  # fmt: skip
    for megabytes in (1000, 2000):  # with less, Polars and LLVM abort
        for command in (*commands[2:], (*ALIGN, "--preset", "paper")):
            inside = lambda megabytes=megabytes: _limit_memory(megabytes)  # noqa: E731
            yield Attempt("environments", f"{megabytes} MB more of memory", command, inside=inside)
    for limit in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        for kilobytes in (200_000, 400_000, 600_000, 1_000_000, 1_500_000, 2_000_000):
            small = limit == resource.RLIMIT_AS or kilobytes < 600_000
            promise: Promise = "refused" if small else "either"
            inside = lambda limit=limit, size=kilobytes * 1024: resource.setrlimit(  # noqa: E731
                limit, (size, size)
            )
            for command in (commands[2], commands[4], ALIGN):
                yield Attempt("environments", f"ulimit {limit} {kilobytes}", command,
                              promise, inside=inside, shell="")  # fmt: skip
    for files in (3, 8, 16, 32):
        for command in commands[2:]:
            inside = lambda files=files: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))  # noqa: E731
            yield Attempt("environments", f"{files} open files", command, inside=inside)


def changes(folder: Path) -> Iterator[Attempt]:
    """Files that change while they are read: the old content, the new one, or a refusal."""
    for kind in ("tsv", "csv", "nt", "ttl", "parquet"):
        for way in (_truncate, _append, _replace):
            for wait in (0.0, 0.02, 0.1):
                yield Attempt(
                    "changes",
                    f"{way.__name__[1:]} {kind} after {wait}",
                    ("inspect", f"g.{kind}", "--json"),
                    prepare=lambda kind=kind: shutil.copy(f"../good/big.{kind}", f"g.{kind}"),
                    meanwhile=lambda process, kind=kind, way=way, wait=wait: _while_open(
                        process, Path(f"g.{kind}"), way, wait
                    ),
                    accept=_old_or_new,
                )


def _old_or_new(output: str) -> bool:
    """Whether the old content was counted, or all of the new: half, one triple more, or one."""
    found = next(iter(json.loads(output)["graphs"].values()))["triples"]
    return any(abs(found - whole) <= 2 for whole in (good.BIG, good.BIG // 2, 1))


def _while_open(process: int, path: Path, change: Callable[[Path], None], wait: float) -> None:
    """Change a file as soon as a process has opened it, or has ended."""
    place = str(path.absolute())
    end = time.monotonic() + 20
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            opened = list(Path(f"/proc/{process}/fd").iterdir())
            if not opened or any(str(one.readlink()) == place for one in opened):
                break
    time.sleep(wait)
    change(path)


def _truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"a\tb\tc\n" if path.suffix == ".tsv" else b"<a:a> <a:b> <a:c> .\n")


def _replace(path: Path) -> None:
    other = path.with_name("new")
    other.write_bytes(b"a\tb\tc\n" if path.suffix == ".tsv" else b"<a:a> <a:b> <a:c> .\n")
    other.replace(path)


def memory(folder: Path) -> Iterator[Attempt]:
    """Graphs of odd shapes under --memory 1G: at most 10% and 200 MB more are used."""
    ceiling = int(1024 * 1.1) + 200

    def graph(rows: list[tuple[str, str, str]]) -> bytes:
        return "".join("\t".join(row) + "\n" for row in rows).encode()

    many = graph([(f"e{n}", f"r{n}", f"e{n * 7 % 60_000}") for n in range(60_000)])
    few = graph([(f"e{n}", "r", f"e{n * 7 % 40}") for n in range(40)])
    long = json.dumps({f"e{n}": f"{n} " * 500_000 for n in range(40)}).encode()
    tall = json.dumps({"e3": "".join(f"{n} " for n in range(1_500_000)), "e4": "four"}).encode()
    wide = graph([(f"e{n}", "r", f"e{n * 7 % 4900}") for n in range(4900)])
    empty = json.dumps({f"e{n}": "" for n in range(4900)}).encode()
    star = graph([("e0", "r", f"e{n}") for n in range(30_000)])
    cases: dict[str, tuple[bytes, bytes | None, tuple[str, ...]]] = {
        "40 names of 1.5 million letters": (few, long, ()),
        "a name of 10 million letters": (few, tall, ()),
        "60,000 relations": (many, None, ()),
        "4,900 empty names, exact": (wide, empty, ("--solver", "hungarian")),
        "a star of 30,000": (star, None, ()),
    }
    for name, (content, names, more) in cases.items():
        files = {"l.tsv": content, "r.tsv": content, **({"n.json": names} if names else {})}
        words = ("align", "l.tsv", "r.tsv", "-o", "out/k.tsv", "--memory", "1G", *more)
        words += ("--names", "n.json") if names else ()
        for how in ((), ("--preset", "paper"), ("--method", "paris")):
            if how and more and "paris" in how:
                continue
            yield Attempt("memory", f"{name} {' '.join(how)}", words + how, files=files,
                          megabytes=ceiling, seconds=300)  # fmt: skip
    for how in ((), ("--preset", "paper"), ("--method", "paris")):
        words = (*ALIGN, "--memory", "1M", *how)
        yield Attempt("memory", f"1M {' '.join(how)}", words, "refused")


def _limit_memory(megabytes: int = 3000) -> None:
    """Let this process have so much more address space than it has."""
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = now + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _ordinary_user(mode: int = 0o777) -> None:
    """Let even root respect permissions, now and in programs that it starts."""
    Path("out").chmod(mode)
    library = ctypes.CDLL(None)
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    library.capget(header, sets)
    for number in (0, 1):  # effective and permitted, without CAP_DAC_OVERRIDE and _READ_SEARCH
        sets[number] &= ~0b110
    library.capset(header, sets)
    for capability in (1, 2):
        library.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def _read_only_package(home: str) -> None:
    """Use a package that nobody can write to, without a home, as in a container."""
    package = Path("../good/package").resolve()
    os.environ.update(HOME=home, PYTHONPATH=str(package), PYTHONDONTWRITEBYTECODE="1")
    os.environ.pop("NUMBA_CACHE_DIR", None)
    _ordinary_user()


def attempts(
    folder: Path, address: str, seed: int = 0
) -> dict[str, Callable[[], Iterator[Attempt]]]:
    """All attempts, by kind; those that are made by chance follow from the seed."""
    tables = (messages, archives, bombs, encodings, shapes, folders, options, outputs, overwriting)
    more = (inputs, clients.clients, clients.databases, environments, changes, memory)
    return {
        **{table.__name__: lambda table=table: table(folder) for table in (*tables, *more)},
        "endpoints": lambda: endpoints(address),
        **{kind: lambda kind=kind: mutations.attempts(kind, seed) for kind in mutations.KINDS},
    }
