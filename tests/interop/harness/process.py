"""Starts programs and stops them again, whatever happens in between."""

import os
import signal
import socket
import subprocess
import time
from contextlib import contextmanager

PATIENCE = 20
PAUSE = 0.05


# The servers that are to run at the moment, each with its log.
_SERVERS = []


class ProcessError(Exception):
    """A server that did not get ready in time, or ended by itself."""


def output_of(command, env, timeout):
    """Runs a program to its end: exit status, standard output, standard error.

    After `timeout` seconds it is ended, and the status is `None`.
    """
    process = subprocess.Popen(
        [str(part) for part in command], env={**os.environ, **env}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        _signal(process, signal.SIGKILL)
        out, err = process.communicate()
        return None, out, err
    finally:
        # What the program left running, or all of it when the run is interrupted.
        _signal(process, signal.SIGKILL)
        process.wait()


@contextmanager
def running(command, log, is_ready, env=None, timeout=60):
    """A server, from when `is_ready()` holds to the end of the block."""
    with open(log, "wb") as out:
        process = subprocess.Popen(
            [str(part) for part in command], env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
        )
    try:
        _wait_until(is_ready, process, log, timeout)
        _SERVERS.append((process, log))
        yield
    finally:
        _SERVERS[:] = [server for server in _SERVERS if server[0] is not process]
        _end(process)


def ensure_servers_run():
    """A server that ended by itself has failed more than one check."""
    for process, log in _SERVERS:
        if process.poll() is not None:
            raise ProcessError(f"{process.args[0]} ended by itself:\n{_tail(log)}")


def accepts(port):
    """Whether somebody listens at the port."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def _wait_until(is_ready, process, log, timeout):
    deadline = time.monotonic() + timeout
    while not is_ready():
        if process.poll() is not None:
            raise ProcessError(f"{process.args[0]} ended while it started:\n{_tail(log)}")
        if time.monotonic() > deadline:
            raise ProcessError(f"{process.args[0]} is not ready in {timeout} s:\n{_tail(log)}")
        time.sleep(PAUSE)


def _tail(log):
    return log.read_text(errors="replace")[-2000:]


def _end(process):
    """SIGTERM first, to the server alone: it knows in what order its children end."""
    try:
        process.terminate()
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        pass
    finally:
        _signal(process, signal.SIGKILL)
        process.wait()


def _signal(process, number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass
