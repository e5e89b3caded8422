"""Which clients there are, what they run on and what they speak."""

import sys
from dataclasses import dataclass

from harness import place

ALL = ("1.0", "1.1", "1.2")
# One after the other, and then all of them in one offer.
AND_ANY = (*ALL, "1.0,1.1,1.2")

PYTHON = place.CACHE / "python"
NODE = place.CACHE / "node"
EXAMPLES = place.TARGET / "release" / "examples"
JARS = "/usr/share/activemq/lib/*"


@dataclass(frozen=True)
class Client:
    """A client: the program of its story, and the versions that it speaks over each transport."""

    name: str
    command: tuple
    versions: dict
    packages: tuple = ()
    is_quick: bool = False


def _python(name, script, versions, **options):
    command = (PYTHON / "bin" / "python", place.CLIENTS / "python" / script)
    return Client(name, command, versions, **options)


def _node(name, script, versions, **options):
    return Client(name, ("node", place.CLIENTS / "node" / script), versions, **options)


# Against our broker.
CLIENTS = (
    # Over WebSocket, stomp.py has 1.2 only.
    _python("stomp.py", "stomp_py.py", {"tcp": ALL, "ws": ("1.2",)}, is_quick=True),
    _python("stompest", "stompest_sync.py", {"tcp": ALL}),
    _python("stompman", "stompman_client.py", {"tcp": ("1.2",), "ws": ("1.2",)}),
    _python("aiostomp", "aiostomp_client.py", {"tcp": ("1.1",)}),
    _node("stompjs", "stompjs.js", {"tcp": ALL, "ws": AND_ANY}, is_quick=True),
    _node("stompit", "stompit.js", {"tcp": ALL}),
    _node("webstomp", "webstomp.js", {"ws": ALL}),
    Client(
        "ruby", ("ruby", place.CLIENTS / "ruby" / "stomp.rb"), {"tcp": ALL},
        packages=("ruby", "ruby-stomp"),
    ),
    Client(
        "perl", ("perl", place.CLIENTS / "perl" / "net_stomp.pl"), {"tcp": ("1.0", "1.1")},
        packages=("libnet-stomp-perl",),
    ),
    Client(
        "php", ("php", place.CLIENTS / "php" / "stomp.php"), {"tcp": ALL},
        packages=("php8.2-cli", "php8.2-stomp"),
    ),
    Client(
        "java", ("java", "-cp", JARS, place.CLIENTS / "java" / "Story.java"), {"tcp": ALL},
        packages=("activemq", "openjdk-17-jdk-headless"),
    ),
    Client(
        "chromium", (sys.executable, place.INTEROP / "browser" / "run.py"), {"ws": AND_ANY},
        packages=("chromium",),
    ),
)

# Ours, against the brokers of others.
OWN = (
    Client("session", (EXAMPLES / "story",), {"tcp": ALL}, is_quick=True),
    Client(
        "example", (sys.executable, place.CLIENTS / "rust" / "example.py", EXAMPLES / "client"),
        {"tcp": ALL}, is_quick=True,
    ),
)
