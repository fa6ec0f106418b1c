"""A cluster that is none, and workers that die, for tests of engines."""

import os
import pickle
import signal
from pathlib import Path

from sameas.pipeline.cluster import Dask


class Fatal:
    """A function that kills the processes that call it first; each leaves a mark."""

    def __init__(self, work, folder, times):
        self.work, self.mark, self.times = work, f"{folder}/{work.__name__}", times

    def __call__(self, *given):
        for number in range(self.times):
            try:
                Path(f"{self.mark}-{number}").touch(exist_ok=False)
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)
        return self.work(*given)


class Killing(Dask):
    """Kills workers in every stage; ``folder`` gets the marks."""

    folder: Path
    times: int

    def map(self, work, parts, take, *shared):
        return super().map(Fatal(work, self.folder, self.times), parts, take, *shared)

    @property
    def killed(self):
        return {mark.name for mark in self.folder.iterdir()}


def delivered(value):
    """The value as Dask delivers it: arrays cannot be written to, and lie anywhere in a buffer."""
    buffers = []
    content = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    frames = [memoryview(b"x" + buffer.raw())[1:] for buffer in buffers]
    return pickle.loads(content, buffers=frames)


class Future:
    def __init__(self, value=None, error=None):
        self.value, self.error = value, error
        self.status = "error" if error is not None else "finished"


class Client:
    """A cluster in this process, which can be told to lose things."""

    def __init__(self, threads=2, lose=lambda task: None, memory=2**30):
        self.threads, self.lose, self.memory = threads, lose, memory
        self.tasks, self.sent = [], []

    def run(self, function, **_):
        return {"worker": function()}

    def nthreads(self):
        return {"worker": self.threads}

    def scheduler_info(self, **_):
        return {"workers": {"worker": {"memory_limit": self.memory}}}

    def wait_for_workers(self, count, timeout):
        pass

    def scatter(self, values, *, broadcast=False, **_):
        self.sent += [(value, broadcast) for value in values]
        return [Future(value) for value in values]

    def submit(self, run, work, data, *held, pure):
        self.tasks.append(data.value.value)
        if (error := self.lose(len(self.tasks))) is not None:
            return Future(error=error)
        try:
            return Future(run(work, data.value, *(each.value for each in held)))
        except Exception as error:
            return Future(error=error)

    def gather(self, future, direct):
        if future.error is not None:
            raise future.error
        return delivered(future.value)
