#!/usr/bin/env python3
"""Draws benches/peers.svg from the numbers of benches/peers/results.json.

Usage: benches/plot.py [RESULTS [SVG]]

Instructions for one frame on a logarithmic scale, a row for each contestant: decoding the small
MESSAGE in three sizes of reads, and encoding a SEND. The picture has colours for light and for dark.
"""

import json
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).parent

NAMES = {
    "lower-bound": "a scan that checks nothing",
    "httparse": "httparse, an HTTP head",
    "ours-borrowed": "stomp-proto, borrowed",
    "ours-owned": "stomp-proto, owned",
    "ours-built": "stomp-proto, built anew",
    "ours-session": "stomp-proto, Client",
    "ours-client": "stomp-proto, Client",
    "pieces": "pieces copied unchecked",
}
READS = [("whole", "frames whole"), ("1448", "reads of 1,448 octets"), ("16", "reads of 16 octets")]

SUBTITLE = (
    "every Rust crate for STOMP that builds, side by side; further left is better; "
    "× is to stomp-proto, on whole frames"
)

WIDTH, LEFT, RIGHT = 880, 222, 74
ROW, TOP = 25, 92

STYLE = """
  .card { fill: #ffffff; stroke: #d5dae1; }
  text { font: 13px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif; fill: #2b3440; }
  .title { font-size: 17px; font-weight: 650; }
  .quiet, .tick { fill: #667282; }
  .tick { font-size: 11.5px; }
  .us { font-weight: 650; }
  .grid { stroke: #e3e7ec; }
  .span { stroke: #c3cbd5; stroke-width: 3; stroke-linecap: round; }
  .ours.span { stroke: #7fb2f0; }
  .whole { fill: #9aa5b3; } .r1448 { fill: #6b7787; } .r16 { fill: #3f4a58; }
  .ours.whole { fill: #4a90e2; } .ours.r1448 { fill: #1f6fd0; } .ours.r16 { fill: #0b4a99; }
  @media (prefers-color-scheme: dark) {
    .card { fill: #161b22; stroke: #30363d; }
    text { fill: #e2e7ee; }
    .quiet, .tick { fill: #97a3b1; }
    .grid { stroke: #283039; }
    .span { stroke: #465160; }
    .ours.span { stroke: #2b5f9e; }
    .whole { fill: #76818e; } .r1448 { fill: #a3aebb; } .r16 { fill: #d8dee6; }
    .ours.whole { fill: #3f8ae0; } .ours.r1448 { fill: #6fb0ff; } .ours.r16 { fill: #b9dbff; }
  }
"""


def main():
    arguments = [pathlib.Path(argument) for argument in sys.argv[1:]]
    defaults = [HERE / "peers" / "results.json", HERE / "peers.svg"]
    source, target = arguments + defaults[len(arguments) :]
    jobs = json.loads(source.read_text())["jobs"]
    decoded = rows(jobs, "decode/small", [read for read, _ in READS], ["memcpy", "memchr"])
    encoded = rows(jobs, "encode/send", [None], ["memcpy", "ours-server"])
    encoded = [("pieces" if name == "lower-bound" else name, costs) for name, costs in encoded]
    target.write_text(Picture().draw(decoded, encoded))
    print(f"{target} is written")


def rows(jobs, setting, reads, without):
    """Contestants with their instructions by read, the cheapest first."""
    found = {}
    for job, result in jobs.items():
        place, contestant = job.rsplit("/", 1)
        for read in reads:
            if place == (f"{setting}/{read}" if read else setting) and contestant not in without:
                if result.get("instructions"):
                    found.setdefault(contestant, {})[read or "whole"] = result["instructions"]
    return sorted(found.items(), key=lambda row: row[1]["whole"])


class Picture:
    def __init__(self):
        self.parts = []

    def draw(self, decoded, encoded):
        values = [value for _, costs in decoded + encoded for value in costs.values()]
        self.low = 10 ** math.floor(math.log10(min(values)))
        self.high = max(values) * 1.15
        self.text(24, 34, "Instructions for one frame", "title")
        self.text(24, 55, SUBTITLE, "quiet")
        bottom = self.panel(TOP, "decoding a MESSAGE of 322 octets", decoded, legend=True)
        bottom = self.panel(bottom + 56, "encoding a SEND of about 200 octets", encoded, legend=False)
        height = bottom + 44
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img" '
            'aria-label="Instructions for one frame, of this crate and its peers">\n'
            f"<style>{STYLE}</style>\n"
            f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="10"/>\n'
            + "\n".join(self.parts)
            + "\n</svg>\n"
        )

    def panel(self, top, title, contestants, legend):
        """Draws a panel and says where it ends."""
        self.text(24, top, title, "us")
        if legend:
            at = 318
            for read, said in READS:
                self.dot(at, top - 4, read, False)
                self.text(at + 10, top, said, "quiet")
                at += 40 + 6.4 * len(said)
        first = top + 26
        bottom = first + ROW * (len(contestants) - 1) + 14
        for power in range(round(math.log10(self.low)), math.ceil(math.log10(self.high))):
            for value in (10**power, 3 * 10**power):
                if value <= self.high:
                    self.tick(value, first - 14, bottom)
        us = dict(contestants).get("ours-owned") or dict(contestants)["ours-borrowed"]
        for index, (name, costs) in enumerate(contestants):
            self.row(first + ROW * index, name, costs, us)
        return bottom + 16

    def tick(self, value, top, bottom):
        x = f"{self.x(value):.1f}"
        self.parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{top}" y2="{bottom}"/>')
        self.text(self.x(value), bottom + 16, f"{value:,}", "tick", "middle")

    def row(self, y, name, costs, us):
        ours = name.startswith("ours-")
        self.text(LEFT - 16, y + 4.5, NAMES.get(name, name), "us" if ours else "", "end")
        ends = [self.x(value) for value in costs.values()]
        if len(ends) > 1:
            self.parts.append(
                f'<line class="span{" ours" * ours}" x1="{min(ends):.1f}" x2="{max(ends):.1f}" '
                f'y1="{y}" y2="{y}"/>'
            )
        for read, value in costs.items():
            self.dot(self.x(value), y, read, ours, f"{NAMES.get(name, name)}: {value:,.0f}")
        if name not in NAMES:
            times = costs["whole"] / us["whole"]
            said = f"× {times:.0f}" if times >= 10 else f"× {times:.1f}"
            self.text(max(ends) + 14, y + 4.5, said, "quiet")

    def dot(self, x, y, read, ours, said=None):
        kind = read if read == "whole" else f"r{read}"
        title = f"<title>{said}</title>" if said else ""
        self.parts.append(
            f'<circle class="{kind}{" ours" * ours}" cx="{x:.1f}" cy="{y}" r="5.5">{title}</circle>'
        )

    def x(self, value):
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def text(self, x, y, said, kind, anchor="start"):
        said = said.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y}" text-anchor="{anchor}">{said}</text>'
        )


if __name__ == "__main__":
    main()
