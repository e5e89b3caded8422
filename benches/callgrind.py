#!/usr/bin/env python3
"""Counts instructions per frame with callgrind and prints them as a table.

Usage: benches/callgrind.py [--check | --update] [--simd] [JOB ...]

Each job of benches/instructions.rs runs twice, with N and 2N frames; the difference over N is what
one frame costs, start-up left out. The counts do not depend on how busy the machine is, but on the
compiler: benches/baseline.json names the one that its counts were made with.

--check compares with the baseline and fails where a job costs 3 % more. Where it costs 3 % less it
says so, for the gain to be held too. --update writes the counts into the baseline. --simd counts
the jobs that read with the feature of that name; they have a baseline of their own.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

BASELINE = pathlib.Path("benches/baseline.json")
TOLERANCE = 0.03
# What a beat may differ by: 3 % of it is less than an instruction.
LEAST = 1.0

# A multiple of what the jobs do at once.
FRAMES = 8000
LARGE_FRAMES = 8


def main():
    options = arguments()
    go_home()
    known = jobs(options.simd)
    unknown = set(options.jobs) - set(known)
    if unknown:
        sys.exit(f"no such job: {', '.join(sorted(unknown))}")
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    binary = build("instructions", ["--features", "simd"] if options.simd else [])
    counts = {}
    for job in known:
        if not options.jobs or job in options.jobs:
            counts[job] = count(binary, job)
            print(f"{job:42} {counts[job]:12,.1f}", flush=True)
    if options.update:
        update(baseline, counts, options.simd)
    if options.check:
        check(baseline, counts, options.simd, whole=not options.jobs)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="compare with the baseline")
    what.add_argument("--update", action="store_true", help="write the baseline")
    parser.add_argument("--simd", action="store_true", help="count with that feature")
    parser.add_argument("jobs", nargs="*", metavar="JOB")
    return parser.parse_args()


def go_home():
    """To the root of the crate, on a machine that can count."""
    os.chdir(pathlib.Path(__file__).parent.parent)
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not installed: instructions cannot be counted")


def build(bench, options=()):
    """Builds a bench and returns the path of its binary."""
    command = ["cargo", "bench", "--locked", *options, "--bench", bench, "--no-run"]
    command.append("--message-format=json")
    built = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    messages = (json.loads(line) for line in built.splitlines())
    paths = [m["executable"] for m in messages if m.get("executable")]
    return paths[-1]


def jobs(simd):
    """All of them, or those that the feature is for."""
    with open("benches/instructions.rs", encoding="utf-8") as source:
        found = re.findall(r'^    \("([a-z0-9/-]+)", ', source.read(), re.MULTILINE)
    return [job for job in found if not simd or job.startswith(("decode/", "client/"))]


def section(simd):
    """Where the baseline has them."""
    return "simd" if simd else "instructions"


def count(binary, job):
    """Instructions per frame."""
    frames = LARGE_FRAMES if "large" in job else FRAMES
    once, twice = (instructions(binary, job, n * frames) for n in (1, 2))
    return (twice - once) / frames


def instructions(binary, *arguments):
    """Instructions of one run."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", binary]
    run = subprocess.run(
        [*command, *map(str, arguments)], check=True, capture_output=True, text=True
    )
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def compiler():
    command = ["rustc", "--version"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def update(baseline, counts, simd):
    if baseline.get("rustc") != compiler():
        baseline = {"rustc": compiler()}
    kept = baseline.get(section(simd), {})
    kept.update((job, round(counted, 1)) for job, counted in counts.items())
    missing = [job for job in jobs(simd) if job not in kept]
    if missing:
        sys.exit(f"another compiler: count all jobs at once, {', '.join(missing)} too")
    baseline[section(simd)] = {job: kept[job] for job in jobs(simd)}
    BASELINE.write_text(json.dumps(baseline, indent=2) + "\n")
    print(f"{BASELINE} is written")


def check(baseline, counts, simd, whole):
    known = baseline.get(section(simd), {})
    if baseline.get("rustc") != compiler():
        print(f"note: the baseline was made with {baseline.get('rustc')}, this is {compiler()}")
    faults = [f"{job} is not in the baseline" for job in counts if job not in known]
    if whole:
        faults += [f"{job} is in the baseline and no job" for job in known if job not in counts]
    better = []
    for job, counted in counts.items():
        if job not in known:
            continue
        change = counted - known[job]
        said = f"{job}: {counted:,.1f}, was {known[job]:,.1f} ({change / known[job]:+.1%})"
        if abs(change) <= max(TOLERANCE * known[job], LEAST):
            continue
        (faults if change > 0 else better).append(said)
    if better:
        print("better; benches/callgrind.py --update holds it:", *better, sep="\n  ")
    if faults:
        print("worse than the baseline, or not comparable to it:", *faults, sep="\n  ")
        sys.exit(1)
    print(f"{len(counts)} jobs cost what the baseline says")


if __name__ == "__main__":
    main()
