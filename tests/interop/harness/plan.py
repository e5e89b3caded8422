"""What a run consists of: what is installed, which servers start, who plays against whom."""

import itertools
from contextlib import ExitStack
from dataclasses import dataclass, field

from clients.catalogue import CLIENTS, NODE, OWN, PYTHON
from harness import place, probe
from harness.check import FEATURES, OWN_FEATURES, Subject, play
from harness.ports import Ports
from harness.process import ensure_servers_run
from harness.stories import tell_stories
from harness.table import table
from peers import install
from peers.activemq import activemq, install_activemq
from peers.broker import broker, build
from peers.rabbitmq import install_rabbitmq, rabbitmq

# How long our own client hears nothing but heart-beats: a real minute, or several beats.
MINUTE = 60
BEATS = 4
TIMEOUT = 60


class CheckError(Exception):
    """Not all went as it should."""


@dataclass
class Run:
    """One run: what was asked for, and what came of it."""

    is_quick: bool
    only: str
    results: list = field(default_factory=list)
    own_results: list = field(default_factory=list)
    queues: object = field(default_factory=lambda: itertools.count(1))

    def prepare(self):
        """Installs what the run needs, and builds what it is about."""
        install_rabbitmq()
        if not self.is_quick:
            install_activemq()
        install.apt(sorted({name for client in self._wanted(CLIENTS) for name in client.packages}))
        install.venv(place.CLIENTS / "python" / "requirements.txt", PYTHON)
        install.node_modules(place.CLIENTS / "node" / "package.json", NODE)
        build(["--package", "stomp-broker"])
        build(["--example", "client", "--example", "story"])

    def play(self):
        """Starts the servers and runs every check."""
        with place.run_folder() as folder, ExitStack() as servers:
            self.folder = folder
            start, ports = servers.enter_context, Ports()
            rabbit = start(rabbitmq(folder, ports))
            if not self.only:
                self._tell_stories(rabbit)
            theirs = [rabbit] if self.is_quick else [rabbit, start(activemq(folder, ports))]
            ours = [
                start(broker("memory", folder, ports)),
                start(broker("AMQP", folder, ports, rabbit.amqp)),
            ]
            for client, server in itertools.product(self._wanted(CLIENTS), ours):
                self._play_all(client, server, FEATURES, self.results)
            for client, server in itertools.product(self._wanted(OWN), theirs):
                self._play_all(client, server, OWN_FEATURES, self.own_results)
            results = self.results + self.own_results
            if not results:
                raise CheckError("there is nothing of that name to run")
            if any(result.failed for result in results):
                raise CheckError("not all checks passed")

    def _tell_stories(self, rabbit):
        fault = tell_stories(rabbit.amqp, self.is_quick)
        if fault:
            raise CheckError(f"a story of the broker example went wrong on {rabbit.name}:\n{fault}")
        print(f"ok    the stories of the broker example  {rabbit.name}", flush=True)

    def tables(self):
        """All results in Markdown."""
        groups = (self.results, FEATURES), (self.own_results, OWN_FEATURES)
        return "\n\n".join(table(results, features) for results, features in groups if results)

    def _wanted(self, clients):
        for client in clients:
            if self.only in client.name and (client.is_quick or not self.is_quick):
                yield client

    def _play_all(self, client, server, features, results):
        """Every version and transport that the client speaks."""
        for transport, versions in client.versions.items():
            for version in versions:
                subject = Subject(client.name, version, transport, server.name)
                result = self._play(client, server, subject, features)
                print(result.line(), flush=True)
                results.append(result)

    def _play(self, client, server, subject, features):
        queue = f"/queue/interop-{next(self.queues)}"
        silence = BEATS if self.is_quick else MINUTE
        env = {
            "STOMP_BROKER": server.kind,
            "STOMP_PORT": str(server.port(subject.transport)),
            "STOMP_TRANSPORT": subject.transport,
            "STOMP_VERSION": subject.version,
            "STOMP_QUEUE": queue,
            "STOMP_SILENCE": str(silence),
            "NODE_PATH": str(NODE / "node_modules"),
            "PYTHONDONTWRITEBYTECODE": "1",
            # Whatever a story leaves behind when it is killed goes with the run.
            "TMPDIR": str(self.folder),
        }
        result = play(subject, client.command, env, features, TIMEOUT + silence)
        ensure_servers_run()
        try:
            left = probe.leftovers(server.port("tcp"), queue.encode())
        except OSError as error:
            result.failed["queue"] = f"cannot be looked into: {error}"
        else:
            if left:
                result.failed["queue"] = f"{left!r} is left in it"
        return result
