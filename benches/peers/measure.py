#!/usr/bin/env python3
"""Measures every contestant on every corpus, prints one table and writes results.json.

Usage: benches/peers/measure.py [JOB-PREFIX ...]     (all jobs, about 15 minutes)

Per frame: nanoseconds (the best of many runs, minutes apart), instructions (callgrind runs a job with N and with
2N batches; the difference over N) and allocations. With prefixes only those jobs are measured, and
take the place of what results.json had of them. Nothing is asserted: a contestant that fails, or
whose frames are not the ones that were sent, gets a dash and a reason.
"""

import json
import os
import pathlib
import platform
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE.parent))
import callgrind  # noqa: E402

RESULTS = HERE / "results.json"

# What a round should take: long enough for the clock, short enough to be undisturbed now and then.
TIMED_SECONDS = 0.001
ROUNDS = 400
# The same for valgrind.
COUNTED_SECONDS = 0.003
# Of a job that takes longer for a batch the instructions are not counted.
SLOW_SECONDS = 0.1
PATIENCE_SECONDS = 180
# The machine may be slow for seconds on end: what is short is timed again when all were.
MORE_TIMES = 2


def main():
    binary = build()
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"jobs": {}}
    listed = run(binary)[0].split()
    wanted = [j for j in listed if not sys.argv[1:] or j.startswith(tuple(sys.argv[1:]))]
    if not wanted:
        sys.exit("no job begins like that")
    measured = {job: known["jobs"].get(job) for job in listed}
    for job in wanted:
        measured[job] = measure(binary, job)
        print(f"{job:42} {line(measured[job])}", file=sys.stderr, flush=True)
    for _ in range(MORE_TIMES):
        for job in wanted:
            time_again(binary, job, measured[job])
    results = {
        "machine": machine(),
        "jobs": {job: result for job, result in measured.items() if result},
    }
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    print(table(results["jobs"]))


def build():
    subprocess.run(["cargo", "build", "--release", "--locked"], cwd=HERE, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", HERE / "target")
    return str(pathlib.Path(target) / "release" / "stomp-peers")


def machine():
    cpu = "unknown"
    for described in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if described.startswith("model name"):
            cpu = described.split(":", 1)[1].strip()
            break
    rustc = subprocess.run(["rustc", "--version"], check=True, stdout=subprocess.PIPE, text=True)
    system = " ".join([platform.system(), platform.machine(), *platform.libc_ver()])
    return {"cpu": cpu, "system": system, "rustc": rustc.stdout.strip()}


def run(binary, *arguments):
    """What a run prints, or why it failed."""
    try:
        done = subprocess.run(
            [binary, *arguments], capture_output=True, text=True, timeout=PATIENCE_SECONDS
        )
    except subprocess.TimeoutExpired:
        return None, f"a batch takes more than {PATIENCE_SECONDS} seconds"
    if done.returncode == 0:
        return done.stdout, None
    reason = (done.stderr.strip().splitlines() or ["it died"])[-1]
    # stomp-rs writes headers in the order of a hash.
    return None, re.sub(r" at octet \d+", "", reason)


def measure(binary, job):
    output, reason = run(binary, job, "1")
    if reason:
        return {"reason": reason}
    first = json.loads(output)
    batch = first["nanoseconds"] / 1e9
    result = {
        "octets": first["octets"] / first["frames"],
        "nanoseconds": first["nanoseconds"] / first["frames"],
        "allocations": first["allocations"] / first["frames"],
        "instructions": None,
    }
    if batch > SLOW_SECONDS:
        if batch < PATIENCE_SECONDS / 60:
            again = json.loads(run(binary, job, "1", "7")[0])
            result["nanoseconds"] = again["nanoseconds"] / again["frames"]
        return result
    again = timed(binary, job, batch)
    result["nanoseconds"] = again["nanoseconds"] / again["frames"]
    result["allocations"] = again["allocations"] / again["frames"]
    batch = result["nanoseconds"] * first["frames"] / 1e9
    count = max(1, min(32, round(COUNTED_SECONDS / batch)))
    once, twice = (callgrind.instructions(binary, job, n * count) for n in (1, 2))
    result["instructions"] = (twice - once) / (count * first["frames"])
    return result


def timed(binary, job, batch):
    """The fastest of many rounds, when a batch takes so many seconds."""
    count = max(1, round(TIMED_SECONDS / batch))
    rounds = min(ROUNDS, max(5, round(ROUNDS * TIMED_SECONDS / (count * batch))))
    return json.loads(run(binary, job, str(count), str(rounds))[0])


def time_again(binary, job, result):
    if result.get("instructions") is None:
        return
    once = json.loads(run(binary, job, "1")[0])
    again = timed(binary, job, once["nanoseconds"] / 1e9)
    result["nanoseconds"] = min(result["nanoseconds"], again["nanoseconds"] / again["frames"])


def line(result):
    if "reason" in result:
        return f"- {result['reason']}"
    counted = result["instructions"]
    counted = "-" if counted is None else f"{counted:,.0f}"
    return f"{result['nanoseconds']:14,.1f} ns {counted:>14} {result['allocations']:12,.2f}"


def table(jobs):
    """All of it as Markdown; ratios are to the lower bound on whole frames, and to ours."""
    head = "| job | contestant | ns | ÷ bound | ÷ ours | instructions | ÷ bound | ÷ ours | allocations |"
    lines = [head, "|---|---|--:|--:|--:|--:|--:|--:|--:|"]
    reasons = {}
    for job, result in jobs.items():
        setting, contestant = job.rsplit("/", 1)
        if "reason" in result:
            note = reasons.setdefault(result["reason"], len(reasons) + 1)
            cells = [f"— ({note})"] + 6 * ["—"]
        else:
            cells = []
            for unit in ("nanoseconds", "instructions"):
                value = result[unit]
                cells += [
                    number(value),
                    ratio(value, bound(jobs, setting, unit)),
                    ratio(value, ours(jobs, setting, unit)),
                ]
            cells.append(number(result["allocations"]))
        lines.append(f"| `{setting}` | {contestant} | {' | '.join(cells)} |")
    lines += [""] + [f"({note}) {reason}  " for reason, note in reasons.items()]
    return "\n".join(lines)


def bound(jobs, setting, unit):
    """The lower bound, which exists on whole frames only."""
    way, corpus = setting.split("/")[:2]
    whole = f"{way}/{corpus}/whole/" if way == "decode" else f"{way}/{corpus}/"
    return jobs.get(whole + "lower-bound", {}).get(unit)


def ours(jobs, setting, unit):
    """This crate as the others are used: an owned frame in, a frame that is at hand out."""
    name = "ours-owned" if setting.startswith("decode/") else "ours-borrowed"
    return jobs.get(f"{setting}/{name}", {}).get(unit)


def number(value):
    if value is None:
        return "—"
    if value >= 100 or value == round(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def ratio(value, other):
    return "—" if value is None or not other else number(float(f"{value / other:.3g}"))


if __name__ == "__main__":
    main()
