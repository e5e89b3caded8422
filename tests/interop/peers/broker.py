"""The broker example of this repository, with its queues in memory or in RabbitMQ."""

import subprocess
from contextlib import contextmanager
from dataclasses import dataclass

from harness import place
from harness.process import ProcessError, running


@dataclass(frozen=True)
class Broker:
    """A broker that is ready, called by where its queues are."""

    name: str
    tcp: int
    ws: int
    kind: str = "stomp-broker"

    def port(self, transport):
        return self.ws if transport == "ws" else self.tcp


def build(what):
    """Builds a part of this repository."""
    cargo = ["cargo", "build", "--release", "--locked", *what]
    status = subprocess.run(cargo, cwd=place.REPOSITORY, stdin=subprocess.DEVNULL).returncode
    if status != 0:
        raise ProcessError(f"{' '.join(cargo)}: exit status {status}")


@contextmanager
def broker(backend, folder, ports, amqp=None):
    """Starts a broker; with `amqp`, the port of a RabbitMQ, its queues are there."""
    tcp, ws = ports.take(), ports.take()
    log = folder / f"broker-{backend}.log"
    command = [
        place.TARGET / "release" / "stomp-broker",
        "--tcp", f"127.0.0.1:{tcp}", "--ws", f"127.0.0.1:{ws}",
    ]
    if amqp:
        command += ["--amqp", f"amqp://guest:guest@127.0.0.1:{amqp}/%2f"]

    def is_ready():
        """It says so of each socket."""
        return log.read_text(errors="replace").count("listening on ") >= 2

    with running(command, log, is_ready, {"NO_COLOR": "1"}):
        yield Broker(backend, tcp, ws)
