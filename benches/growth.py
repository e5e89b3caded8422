#!/usr/bin/env python3
"""Shows what grows with the size of a job of benches/growth.rs, and what does not.

Usage: benches/growth.py [JOB-PREFIX ...]     (all jobs, about 5 minutes)

For each size: nanoseconds (the fastest of some rounds, minutes apart) and instructions (callgrind runs a job with
N and with 2N; the difference over N) for a unit of cost, and the octets held for a unit of size.
Prints them and writes them into benches/growth.json. Nothing is asserted.
"""

import json
import pathlib
import subprocess
import sys

import callgrind

RESULTS = pathlib.Path("benches/growth.json")
# Short ones, for some of them to be undisturbed.
ROUNDS = 60
# The machine may be slow for seconds on end: all are timed again when all were.
MORE_TIMES = 2

READS = [16, 64, 256, 1448, 4096, 16 << 10, 64 << 10, 256 << 10, 1 << 20]
OPEN = [10, 100, 1000, 10_000, 100_000, 1_000_000]
SETTLED = [1, 10, 100, 1000, 10_000, 100_000]
CONNECTIONS = [10, 100, 1000, 10_000, 100_000]
BODIES = [64, 1 << 10, 4 << 10, 16 << 10, 64 << 10]

# Sizes, how many things to time in a round, and how many to count.
JOBS = {
    "read/small": (READS, 1, 1),
    "read/large-counted": (READS, 1, 1),
    "read/large-to-nul": (READS, 1, 1),
    "ack/1.2": (OPEN, 2000, 5000),
    "ack/1.1": (OPEN, 2000, 5000),
    "ack/1.0": (OPEN, 2000, 5000),
    "settle": (SETTLED, 10, 10),
    "idle": (CONNECTIONS, 5000, 10_000),
    "relay": (BODIES, 500, 1000),
    "copy": (BODIES, 500, 1000),
}


def main():
    callgrind.go_home()
    binary = callgrind.build("growth")
    wanted = [job for job in JOBS if not sys.argv[1:] or job.startswith(tuple(sys.argv[1:]))]
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for job in wanted:
        sizes, _, _ = JOBS[job]
        results[job] = []
        for size in sizes:
            results[job].append(measure(binary, job, size))
            print(line(job, results[job][-1]), flush=True)
    for job in MORE_TIMES * wanted:
        for result in results[job]:
            units, run = timed(binary, job, result["size"])
            result["nanoseconds"] = min(result["nanoseconds"], run["nanoseconds"] / units)
    results = {job: results[job] for job in JOBS if job in results}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def timed(binary, job, size):
    """How many units were timed, and what a run of them said."""
    _, count, _ = JOBS[job]
    command = [binary, job, str(size), str(count), str(ROUNDS)]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result = json.loads(run.stdout)
    return result["units"], result


def measure(binary, job, size):
    _, count, counted = JOBS[job]
    units, result = timed(binary, job, size)
    once, twice = (callgrind.instructions(binary, job, size, n * counted) for n in (1, 2))
    return {
        "size": size,
        "nanoseconds": result["nanoseconds"] / units,
        "instructions": (twice - once) / (units / count * counted),
        "allocations": result["allocations"] / units,
        "held": result["held"] / size,
    }


def line(job, result):
    return (
        f"{job:20} {result['size']:>9,} {result['nanoseconds']:12,.3f} ns "
        f"{result['instructions']:12,.3f} instructions {result['allocations']:8,.2f} allocations "
        f"{result['held']:10,.1f} octets held"
    )


if __name__ == "__main__":
    main()
