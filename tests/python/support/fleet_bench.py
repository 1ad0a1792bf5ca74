"""A fleet without processes of its own: the queue of a lab, and what a worker does."""

from collections.abc import Callable
from pathlib import Path

from wattlock.lab.collection import Collection
from wattlock.lab.fleet.conductor import Drive, Send
from wattlock.lab.fleet.queue import Queue
from wattlock.lab.fleet.worker import TaskOrder, TaskOutput, key_of, refuse_unsigned
from wattlock.targets import named


class Bench:
    """A lab with a queue and no processes of its own."""

    def __init__(self, data: Path) -> None:
        self.lab = Collection.open(data)
        (data / "fleet").mkdir()
        self.queue = Queue(self.lab.engine, backoff_s=0.0)
        self.key = key_of(data)
        self.orders: list[TaskOrder] = []

    def drive(self, called: str, send: Send | None = None) -> Drive:
        """Carries out the jobs of a target here."""
        return Drive(self.lab.data, self.lab, self.queue, self.key, send or self.send, called)

    def send(self, order: TaskOrder, _attempt: int, _stopped: Callable[[], bool]) -> TaskOutput:
        """What a worker does, in this process."""
        self.orders.append(order)
        refuse_unsigned(self.key.public, order)
        written: list[bytes] = []
        device = named.target(order.target)
        code, complaints = device.start(["measure"], order.text, order.limits, written.append, who=order.who)
        return TaskOutput(b"".join(written), code, complaints)

    def carried_out(self, called: str, send: Send | None = None) -> tuple[str, str | None]:
        """State and reason of the next job of a target, after it was carried out."""
        job = self.queue.next_job(called)
        assert job is not None
        self.drive(called, send).carry_out(job)
        after = self.queue.job(job.number)
        return after.state, after.reason
