"""What a release is made of: known vulnerabilities, licences and a bill of materials.

Run it from the root of the repository::

    python scripts/supply.py --out dist

The wheel is built and installed, with all it needs and nothing else, in a new environment. Of
everything there the licence must be one that we know to be free of duties for our users,
``sameas-<version>.cdx.json`` becomes the bill of materials (CycloneDX), and pip-audit looks for
known vulnerabilities. It asks an advisory service; where that cannot be reached, it says so, and
the exit code is 3 instead of 1.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ("pip-audit>=2.9", "cyclonedx-bom>=7.0")
FREE = re.compile(
    r"MIT|BSD|Apache|PSF|Python Software|ISC|Zlib|0BSD|Unlicense|CC0|MPL-2\.0|MPL 2\.0"
)
"""Licences that allow any use; MPL asks for the source of its own files alone."""
BOUND = re.compile(r"\b(A?GPL|LGPL|SSPL|BUSL|Proprietary|Commercial)", re.IGNORECASE)
EXCEPTED = {
    "numpy": "the GPL of the compiler's runtime library, which has an exception for its users",
    "scipy": "the GPL of the compiler's runtime library, which has an exception for its users",
}


def run(*words: object) -> subprocess.CompletedProcess[str]:
    """A command; what it says is shown only if asked for."""
    return subprocess.run([str(word) for word in words], cwd=ROOT, text=True, capture_output=True)


def environment(folder: Path, *packages: object) -> Path:
    """The Python of a new environment with some packages."""
    python = folder / "bin" / "python"
    for words in (
        (sys.executable, "-m", "venv", folder),
        (python, "-m", "pip", "install", "-q", *packages),
    ):
        if (done := run(*words)).returncode:
            sys.exit(f"cannot be set up: {done.stderr}")
    return python


def licence(package: Distribution) -> str:
    """The licence that a package declares: an expression, a classifier, or a first line."""
    known = package.metadata
    classifiers = [one for one in known.get_all("Classifier") or () if one.startswith("License")]
    names = [one.split(" :: ")[-1] for one in classifiers]
    said = (known.get("License") or "").strip().split("\n")[0]
    return known.get("License-Expression") or ", ".join(names) or said or "unknown"


def licences(site: Path) -> list[tuple[str, str, str, bool]]:
    """Each package with its version, its licence, and whether that is free of duties."""
    rows = []
    for package in sorted(distributions(path=[str(site)]), key=lambda one: one.name.lower()):
        said = licence(package)
        free = bool(FREE.search(said)) and not BOUND.search(said)
        rows.append((package.name, package.version, said, free or package.name in EXCEPTED))
    return rows


def main() -> None:
    """Build, install, look."""
    parser = argparse.ArgumentParser(description="Licences, bill of materials, vulnerabilities.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the files go")
    out = parser.parse_args().out.absolute()
    out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sameas-supply-") as name:
        folder = Path(name)
        if (
            done := run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT)
        ).returncode:
            sys.exit(done.stderr)
        (wheel,) = folder.glob("sameas-*.whl")
        python = environment(folder / "release", wheel)
        run(python, "-m", "pip", "uninstall", "-q", "-y", "pip", "setuptools")
        (site,) = (folder / "release").glob("lib/python*/site-packages")
        tools = environment(folder / "tools", *TOOLS)
        wrong = 0
        for package, version, said, free in licences(site):
            wrong += not free
            print(f"{'  ' if free else '! '}{package} {version}: {said}")
        bill = out / f"{'-'.join(wheel.name.split('-')[:2])}.cdx.json"
        made = run(tools.with_name("cyclonedx-py"), "environment", python, "-o", bill,
                   "--pyproject", ROOT / "pyproject.toml")  # fmt: skip
        print(f"{bill.name} written" if not made.returncode else made.stderr)
        audit = run(tools.with_name("pip-audit"), "--path", site, "-f", "json",
                    "--progress-spinner", "off")  # fmt: skip
    wrong += bool(made.returncode)
    known = json.loads(audit.stdout)["dependencies"] if audit.stdout else []
    others = [one for one in known if one["name"] != "sameas"]
    skipped = [one["name"] for one in others if "skip_reason" in one]
    for one in others:
        for flaw in one.get("vulns", ()):
            wrong += 1
            mended = ", ".join(flaw["fix_versions"]) or "no version"
            print(f"! {one['name']} {one['version']}: {flaw['id']}, mended in {mended}")
    if skipped or not others:
        count = f"{len(skipped)} of {len(others)} packages" if others else "all packages"
        # Its last line is "No known vulnerabilities found" where it could not look for any.
        failed = audit.returncode and not audit.stdout
        why = f" ({audit.stderr.strip().splitlines()[-1]})" if failed and audit.stderr else ""
        print(f"Not audited: {count}; the advisory service did not answer{why}.")
    else:
        print(f"{len(others)} packages audited")
    sys.exit(1 if wrong else 3 if skipped or not others else 0)


if __name__ == "__main__":
    main()
