"""A cluster that is none, for tests of engines."""


class Future:
    def __init__(self, value=None, error=None):
        self.value, self.error = value, error
        self.status = "error" if error is not None else "finished"


class Client:
    """A cluster in this process, which can be told to lose things."""

    def __init__(self, threads=2, lose=lambda task: None):
        self.threads, self.lose = threads, lose
        self.tasks, self.sent = [], []

    def run(self, function, **_):
        return {"worker": function()}

    def nthreads(self):
        return {"worker": self.threads}

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
        return future.value
