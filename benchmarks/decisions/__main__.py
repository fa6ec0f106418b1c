"""Keep the candidates of the bench's tasks, and judge rules of decision and the audit on them.

python -m benchmarks.decisions DATA --dump DIR [--only PART...]
python -m benchmarks.decisions --compare DIR
python -m benchmarks.decisions --audit DIR
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from benchmarks.decisions.audited import audit_page, said_and_true
from benchmarks.decisions.compare import compare
from benchmarks.decisions.dump import dump_task, read_dump, write_dump
from benchmarks.decisions.tasks import bench_tasks


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--dump", type=Path)
    parser.add_argument("--only", nargs="*", default=[""])
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--audit", type=Path)
    given = parser.parse_args()
    if given.compare:
        print("\n".join(compare(given.compare)))
    if given.audit:
        tasks = sorted(given.audit.glob("*.npz"))
        print(audit_page({path.stem: said_and_true(read_dump(path)) for path in tasks}))
    if given.dump:
        given.dump.mkdir(parents=True, exist_ok=True)
        for name, make in bench_tasks(given.data):
            path = given.dump / f"{name.replace('/', ' ')}.npz"
            if path.exists() or not any(part in name for part in given.only):
                continue
            begin = time.perf_counter()
            dump = dump_task(make())
            write_dump(path, dump)
            print(
                f"{name}: {len(dump.left):,} pairs, {time.perf_counter() - begin:.0f} s",
                file=sys.stderr,
                flush=True,
            )


if __name__ == "__main__":
    main()
