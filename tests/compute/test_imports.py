"""What is not imported."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType
from typing import Any

from sameas.compute.imports import standing_in


def test_nothing_stands_in_for_what_is_there_or_comes():
    package: Any = ModuleType("package")
    package.here = "here"
    with standing_in(package, "here", "absent", "comes"):
        assert package.here == "here"
        assert package.absent is None
        package.comes = "came"
    assert package.here == "here"
    assert package.comes == "came"
    assert not hasattr(package, "absent")


def test_a_run_imports_no_modules_that_it_does_not_need_and_all_can_be_used_afterwards():
    script = """
import sys
import sameas.cli.main, sameas.pipeline.cluster, sameas.pipeline.align, sameas.result.run_folder
import numpy
slow = "numpy.f2py", "numpy.testing", "scipy.special", "yaml", "ssl", "webbrowser"
print([name for name in slow if name in sys.modules])
numpy.testing.assert_array_equal(numpy.polynomial.Polynomial([1, 2])(1), 3)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (found.stdout.strip(), found.stderr) == ("[]", "")
