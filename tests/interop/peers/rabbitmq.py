"""RabbitMQ with STOMP, as an ordinary process that knows nothing of the system's own."""

from contextlib import contextmanager
from dataclasses import dataclass

from harness.process import accepts, running
from peers import install

# The wrapper in /usr/sbin would change the user, and insists on the folders of the system.
SERVER = "/usr/lib/rabbitmq/bin/rabbitmq-server"

CONFIG = """\
loopback_users = none
listeners.tcp.1 = 127.0.0.1:{amqp}
stomp.listeners.tcp.1 = 127.0.0.1:{stomp}
stomp.default_user = guest
stomp.default_pass = guest
log.console = false
disk_free_limit.absolute = 50MB
"""


@dataclass(frozen=True)
class RabbitMq:
    """A node that is ready."""

    name: str
    amqp: int
    tcp: int
    kind: str = "rabbitmq"

    def port(self, _):
        return self.tcp


def install_rabbitmq():
    install.apt(["rabbitmq-server"])


@contextmanager
def rabbitmq(folder, ports):
    """Starts a node with its data in `folder`, and its port mapper."""
    base = folder / "rabbitmq"
    for name in ("home", "mnesia", "log"):
        (base / name).mkdir(parents=True)
    amqp, stomp, mapper, distribution = (ports.take() for _ in range(4))
    (base / "enabled_plugins").write_text("[rabbitmq_stomp].\n")
    (base / "rabbitmq.conf").write_text(CONFIG.format(amqp=amqp, stomp=stomp))
    env = _env(base, amqp, mapper, distribution)
    # A node starts a port mapper of its own if it finds none, and leaves it behind when it ends.
    epmd = ["epmd", "-port", mapper, "-address", "127.0.0.1"]
    with running(epmd, base / "epmd.log", lambda: accepts(mapper), env):

        def is_ready():
            """Plugins listen before or after the core, as the version has it."""
            return accepts(stomp) and accepts(amqp)

        with running([SERVER], base / "out.log", is_ready, env, timeout=90):
            version = install.apt_version("rabbitmq-server").partition("-")[0]
            yield RabbitMq(f"RabbitMQ {version}", amqp, stomp)


def _env(base, amqp, mapper, distribution):
    return {
        "HOME": str(base / "home"),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "ERL_EPMD_PORT": str(mapper),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODENAME": f"interop{amqp}@localhost",
        "RABBITMQ_CONF_ENV_FILE": str(base / "none.conf"),
        "RABBITMQ_CONFIG_FILE": str(base / "rabbitmq.conf"),
        "RABBITMQ_ADVANCED_CONFIG_FILE": str(base / "none.config"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(base / "enabled_plugins"),
        "RABBITMQ_MNESIA_BASE": str(base / "mnesia"),
        "RABBITMQ_LOG_BASE": str(base / "log"),
        "RABBITMQ_PID_FILE": str(base / "pid"),
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(amqp),
        "RABBITMQ_DIST_PORT": str(distribution),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS":
            "-kernel inet_dist_use_interface {127,0,0,1} +S 2:2 +sbwt none",
    }
