"""What is in the wheel: the package as it is in the repository, its licences, and nothing else."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from sameas import __version__

wheel = pytest.importorskip("hatchling.builders.wheel", reason="builds the wheel")
ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    (built,) = wheel.WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    assert Path(built).name == f"sameas-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(built) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_every_file_of_the_package_is_in_the_wheel(contents):
    files = [path for path in (SOURCE / "sameas").rglob("*") if path.is_file()]
    expected = {
        path.relative_to(SOURCE).as_posix(): path.read_bytes()
        for path in files
        if "__pycache__" not in path.parts
    }
    packed = {name: data for name, data in contents.items() if name.startswith("sameas/")}
    assert packed == expected
    assert {"sameas/py.typed", "sameas/demo/world/ent_links"} <= set(packed)


def test_beside_the_package_there_are_only_metadata_and_licences(contents):
    folder = f"sameas-{__version__}.dist-info"
    names = {name for name in contents if not name.startswith("sameas/")}
    licences = {name for name in names if name.startswith(f"{folder}/licenses/")}
    expected = {f"{folder}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")}
    assert names - licences == expected
    assert f"{folder}/licenses/LICENSE" in licences
    assert len(licences) == 1 + len(list((SOURCE / "sameas/demo/world/LICENSES").iterdir()))
