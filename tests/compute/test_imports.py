"""What is not imported."""

from __future__ import annotations

import subprocess
import sys


def test_a_run_imports_no_modules_that_it_does_not_need():
    script = """
import sys
import sameas.cli.main, sameas.pipeline.cluster, sameas.pipeline.align, sameas.result.run_folder
slow = "scipy.special", "yaml", "ssl", "webbrowser"
print([name for name in slow if name in sys.modules])
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (found.stdout.strip(), found.stderr) == ("[]", "")
