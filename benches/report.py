#!/usr/bin/env python3
"""Writes the tables of benches/README.md and benches/peers/RESULTS.md from what was measured.

Usage: benches/report.py

The numbers come from benches/peers/results.json (peers/measure.py), benches/growth.json (growth.py)
and benches/baseline.json (callgrind.py). A table lies between two comments that name it.
"""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE / "peers"))
import measure  # noqa: E402
from measure import bound, number, ours, ratio  # noqa: E402

README = HERE / "README.md"
FULL = HERE / "peers" / "RESULTS.md"

NAMES = {
    "memcpy": "memcpy",
    "memchr": "memchr to NUL",
    "httparse": "httparse",
    "ours-borrowed": "**stomp-proto**, borrowed",
    "ours-owned": "**stomp-proto**, owned",
    "ours-session": "**stomp-proto**, session",
    "ours-built": "**stomp-proto**, frame built anew",
    "ours-client": "**stomp-proto**, `Client`",
    "ours-server": "**stomp-proto**, `Server`",
}
YARDSTICKS = ("lower-bound", "memcpy", "memchr", "httparse")

HEAD = """# Every job of `measure.py`

Written by `benches/report.py`. Ratios: to the lower bound, and to this crate (decoding: owned; encoding: a
frame that is at hand).

"""

# What was set before there was code: what must hold and what is aimed at, in instructions.
BUDGETS = [
    ("decode/small/borrowed", "decode `small`, borrowed, every check", 1800, 1500),
    ("simd:decode/small/borrowed", "the same with `simd`", 1300, 1000),
    ("decode/small/owned", "decode `small` to an owned frame", 2100, 1700),
    ("client/small/poll-event", "`small` as an event of a client, all in", 2800, 2200),
    ("decode/escaped/borrowed", "decode a frame of escapes, borrowed", 3500, 1800),
    ("encode/send", "encode a SEND of 207 octets", 1300, 800),
    ("session/beat-in", "a beat in", 100, 10),
    ("session/beat-out", "a beat out: when is it due, make it, take it", 100, 10),
]


def main():
    results = json.loads((HERE / "peers" / "results.json").read_text())
    growth = json.loads((HERE / "growth.json").read_text())
    baseline = json.loads((HERE / "baseline.json").read_text())
    jobs = results["jobs"]
    tables = {
        "machine": machine(results["machine"]),
        "small": small(jobs),
        "corpora": corpora(jobs),
        "encode": encoded(jobs),
        "budgets": budgets(baseline, jobs),
        "reads": reads(growth),
        "acks": acks(growth),
        "settled": settled(growth),
        "idle": idle(growth),
        "relay": relay(growth),
    }
    text = README.read_text()
    for name, table in tables.items():
        mark = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        if not mark.search(text):
            sys.exit(f"README.md has no place for {name}")
        text = mark.sub(lambda found, table=table: f"{found[1]}{table}\n{found[2]}", text)
    README.write_text(text)
    FULL.write_text(HEAD + measure.table(jobs) + "\n")


def grid(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def machine(described):
    return f"{described['cpu']}; {described['system']}; {described['rustc']}"


def contestants(jobs, setting):
    return [job.rsplit("/", 1)[1] for job in jobs if job.startswith(f"{setting}/")]


def side_by_side(jobs, setting, lowest):
    rows = []
    for name in contestants(jobs, setting):
        result = jobs[f"{setting}/{name}"]
        cells = [lowest if name == "lower-bound" else NAMES.get(name, name)]
        if "reason" in result:
            rows.append(cells + 7 * ["—"])
            continue
        for unit in ("nanoseconds", "instructions"):
            value = result[unit]
            cells += [number(value), ratio(value, bound(jobs, setting, unit))]
            cells.append(ratio(value, ours(jobs, setting, unit)))
        rows.append(cells + [number(result["allocations"])])
    head = ["", "ns", "÷ bound", "÷ ours", "instructions", "÷ bound", "÷ ours", "allocations"]
    return grid(head, rows)


def small(jobs):
    return side_by_side(jobs, "decode/small/whole", "a scan that checks nothing")


def encoded(jobs):
    return side_by_side(jobs, "encode/send", "the pieces copied, nothing checked")


def corpora(jobs):
    """How many times ours each peer takes: instructions, or time where they were not counted."""
    settings = list(dict.fromkeys(job.rsplit("/", 1)[0] for job in jobs))
    peers = [n for n in contestants(jobs, "decode/small/whole") if n not in YARDSTICKS]
    peers = [name for name in peers if not name.startswith("ours-")]
    rows, reasons = [], {}
    for setting in settings:
        name = "ours-owned" if setting.startswith("decode/") else "ours-borrowed"
        us = jobs.get(f"{setting}/{name}", {})
        counted = us.get("instructions")
        cells = [f"`{setting}`", number(counted) if counted else f"{number(us['nanoseconds'])} ns"]
        for peer in peers:
            cells.append(times(jobs.get(f"{setting}/{peer}", {"reason": "?"}), us, reasons))
        rows.append(cells)
    notes = "\n".join(f"({note}) {reason}  " for reason, note in reasons.items())
    return grid(["", "ours", *peers], rows) + "\n\n" + notes


def times(result, us, reasons):
    if "reason" in result:
        return f"— ({reasons.setdefault(result['reason'], len(reasons) + 1)})"
    if result["instructions"] and us["instructions"]:
        return f"× {ratio(result['instructions'], us['instructions'])}"
    return f"× {ratio(result['nanoseconds'], us['nanoseconds'])} (time)"


def budgets(baseline, jobs):
    counts = baseline["instructions"] | {f"simd:{k}": v for k, v in baseline["simd"].items()}
    rows = []
    for job, said, must, aim in BUDGETS:
        rows.append(budget(said, must, aim, counts[job], f"{counts[job]:,.0f}"))
    drip = counts["decode/small/owned/16-octet-reads"] / counts["decode/small/owned"]
    rows.append(budget("the owned frame in reads of 16 octets ÷ whole", 4, 3, drip, f"{drip:.2f}"))
    scan = "decode/large-to-nul/whole"
    nul = jobs[f"{scan}/ours-borrowed"]["nanoseconds"] / jobs[f"{scan}/memchr"]["nanoseconds"]
    said = "1 MiB to its NUL, borrowed ÷ memchr alone, in time"
    rows.append(budget(said, 1.05, None, nul, f"{nul:.2f}"))
    return grid(["", "must", "aim", "is", "holds"], rows)


def budget(said, must, aim, value, shown):
    kept = "**neither**"
    if aim is not None and value <= aim:
        kept = "aim"
    elif value <= must:
        kept = "must"
    return [said, f"{must:,}", "" if aim is None else f"{aim:,}", shown, kept]


def sized(size):
    for unit, said in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size % unit == 0:
            return f"{size // unit:,} {said}"
    return f"{size:,}"


def reads(growth):
    kinds = ["read/small", "read/large-counted", "read/large-to-nul"]
    rows = []
    for at in zip(*(growth[kind] for kind in kinds)):
        cells = [sized(at[0]["size"])]
        for kind in at:
            cells += [f"{kind['instructions']:.2f}", f"{kind['nanoseconds']:.2f}"]
        rows.append(cells)
    head = ["octets a read", "`small`", "ns", "1 MiB, counted", "ns", "1 MiB, to NUL", "ns"]
    return grid(head, rows)


def acks(growth):
    kinds = ["ack/1.2", "ack/1.1", "ack/1.0"]
    rows = []
    for at in zip(*(growth[kind] for kind in kinds)):
        cells = [f"{at[0]['size']:,}"]
        for kind in at:
            cells += [f"{kind['instructions']:,.0f}", f"{kind['nanoseconds']:,.0f}"]
        rows.append(cells + [f"{at[0]['held']:,.0f}"])
    head = ["open deliveries", "1.2", "ns", "1.1", "ns", "1.0", "ns", "octets held for each"]
    return grid(head, rows)


def settled(growth):
    rows = [
        [f"{at['size']:,}", f"{at['instructions']:,.0f}", f"{at['nanoseconds']:,.0f}"]
        for at in growth["settle"]
    ]
    return grid(["deliveries", "instructions", "ns"], rows)


def idle(growth):
    rows = [
        [f"{at['size']:,}", f"{at['instructions']:,.0f}", f"{at['nanoseconds']:,.0f}",
         number(at["allocations"]), f"{at['held']:,.0f}"]
        for at in growth["idle"]
    ]
    return grid(["sessions", "instructions", "ns", "allocations", "octets held for each"], rows)


def relay(growth):
    rows = []
    for at, copy in zip(growth["relay"], growth["copy"]):
        rows.append([
            sized(at["size"]), f"{1e9 / at['nanoseconds']:,.0f}",
            f"{at['size'] * 8 / at['nanoseconds']:.1f}", f"{1e9 / copy['nanoseconds']:,.0f}",
            ratio(at["nanoseconds"], copy["nanoseconds"]), number(at["allocations"]),
        ])
    head = ["octets of body", "frames a second", "Gbit/s of bodies", "copies a second",
            "relay ÷ copy", "allocations"]
    return grid(head, rows)


if __name__ == "__main__":
    main()
