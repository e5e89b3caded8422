#!/usr/bin/env python3
"""Counts instructions per frame with callgrind and prints them as a table.

Usage: benches/callgrind.py [JOB ...]

Each job of benches/instructions.rs runs twice, with N and 2N frames; the difference over N is what
one frame costs, start-up left out. The counts do not depend on how busy the machine is.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

# A multiple of what the jobs do at once.
FRAMES = 8000
LARGE_FRAMES = 8


def main():
    os.chdir(pathlib.Path(__file__).parent.parent)
    wanted = sys.argv[1:]
    unknown = set(wanted) - set(jobs())
    if unknown:
        sys.exit(f"no such job: {', '.join(sorted(unknown))}")
    binary = build()
    for job in jobs():
        if not wanted or job in wanted:
            frames = LARGE_FRAMES if "large" in job else FRAMES
            once, twice = (instructions(binary, job, n * frames) for n in (1, 2))
            print(f"{job:42} {(twice - once) / frames:12,.1f}", flush=True)


def build():
    """Builds the bench and returns the path of its binary."""
    command = ["cargo", "bench", "--bench", "instructions", "--no-run", "--message-format=json"]
    built = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    messages = (json.loads(line) for line in built.splitlines())
    paths = [m["executable"] for m in messages if m.get("executable")]
    return paths[-1]


def jobs():
    with open("benches/instructions.rs", encoding="utf-8") as source:
        return re.findall(r'^    \("([a-z0-9/-]+)", ', source.read(), re.MULTILINE)


def instructions(binary, job, frames):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    run = subprocess.run(
        [*command, binary, job, str(frames)], check=True, stderr=subprocess.PIPE, text=True
    )
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


if __name__ == "__main__":
    main()
