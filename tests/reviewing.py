"""A server of sameas review for tests."""

import re
import subprocess
import sys

TOKEN = "a-token-of-the-tests"


class Server:
    """``sameas review`` of a run folder, as a process of its own."""

    def __init__(self, run):
        self.run, self.port = run, 0
        self.start()

    def start(self):
        command = [sys.executable, "-m", "sameas", "review", str(self.run), "--no-browser"]
        command += ["--port", str(self.port), "--reviewer", "Ada", "--token", TOKEN]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            if found := re.match(r"Open (http://\S+)", line):
                self.url = found[1]
                self.root = self.url.partition("/?")[0]
                self.port = int(self.root.rpartition(":")[2])
                return
        raise AssertionError("".join(lines))

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
