"""Puts the peers on the machine: Debian packages, a venv and node modules, each once."""

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

TRIES = 3
PAUSE = 10
TIMEOUT = 600

# Whatever a package would start when it is configured stays off: peers run as ordinary processes.
POLICY = Path("/usr/sbin/policy-rc.d")
NOTHING_STARTS = "#!/bin/sh\nexit 101\n"


class InstallError(Exception):
    """A peer that is not there after all tries."""


def apt(packages):
    """Installs those of the Debian packages that are missing."""
    missing = [package for package in packages if not apt_version(package)]
    if not missing:
        return
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *missing]
    had_policy = POLICY.exists()
    if not had_policy:
        POLICY.write_text(NOTHING_STARTS)
        POLICY.chmod(0o755)
    try:
        _retry([["apt-get", "update"], install], env)
    finally:
        if not had_policy:
            POLICY.unlink()


def apt_version(package):
    """The installed version of a Debian package; empty: it is not installed."""
    query = ["dpkg-query", "--show", "--showformat", "${db:Status-Status} ${Version}", package]
    shown = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    status, _, version = shown.partition(" ")
    return version if status == "installed" else ""


def venv(requirements, folder):
    """A venv in `folder` with the requirements; its interpreter."""
    python = folder / "bin" / "python"
    if not _is_done(requirements, folder):
        create = [sys.executable, "-m", "venv", "--clear", str(folder)]
        pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
        _retry([create, [*pip, "--requirement", str(requirements)]])
        _mark_done(requirements, folder)
    return python


def node_modules(manifest, folder):
    """The dependencies of the `package.json` in `folder`; where they are."""
    if not _is_done(manifest, folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_bytes(manifest.read_bytes())
        npm = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder)]
        _retry([npm])
        _mark_done(manifest, folder)
    return folder / "node_modules"


def _retry(commands, env=None):
    """Runs the commands one after the other; all of them again if one fails."""
    for attempt in range(1, TRIES + 1):
        failure = _first_failure(commands, env)
        if failure is None:
            return
        print(f"try {attempt} of {TRIES}: {failure}", file=sys.stderr, flush=True)
        if attempt < TRIES:
            time.sleep(PAUSE)
    raise InstallError(failure)


def _first_failure(commands, env):
    """What failed, in words; `None`: nothing."""
    for command in commands:
        name = " ".join(command)
        try:
            done = subprocess.run(
                command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                errors="replace", timeout=TIMEOUT, check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{name}: {error}"
        if done.returncode != 0:
            return f"{name}: exit status {done.returncode}\n{(done.stderr or done.stdout)[-2000:]}"
    return None


def _is_done(wanted, folder):
    mark = folder / "installed"
    return mark.exists() and mark.read_text() == _digest(wanted)


def _mark_done(wanted, folder):
    (folder / "installed").write_text(_digest(wanted))


def _digest(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()
