"""Free ports on the loopback interface."""

import os
import socket


class Ports:
    """Hands out ports from a range that nobody listens at, none of them twice."""

    def __init__(self):
        self._next = int(os.environ.get("INTEROP_PORT", "52000"))

    def take(self):
        while True:
            port = self._next
            self._next += 1
            if _is_free(port):
                return port


def _is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
