#!/usr/bin/env python3
"""Draws benches/growth.svg from the numbers of benches/growth.json.

Usage: benches/plot_growth.py [RESULTS [SVG]]

Four small pictures with the size from left to right on a logarithmic scale: what is flat does not
grow. The upright scales begin at nothing, but for that of the relay, which is logarithmic.
"""

import json
import math
import pathlib
import sys

import plot

HERE = pathlib.Path(__file__).parent

WIDTH, HEIGHT = 880, 612
PANEL_WIDTH, PANEL_HEIGHT = 340, 170

STYLE = """
  .line { fill: none; stroke-width: 2.5; stroke-linejoin: round; stroke-linecap: round; }
  .a { stroke: #1f6fd0; } .b { stroke: #d9822b; } .c { stroke: #2f9e6e; }
  text.a { fill: #1f6fd0; stroke: none; } text.b { fill: #b5651a; stroke: none; }
  text.c { fill: #24805a; stroke: none; }
  @media (prefers-color-scheme: dark) {
    .a { stroke: #6fb0ff; } .b { stroke: #f0a860; } .c { stroke: #62cfa0; }
    text.a { fill: #6fb0ff; } text.b { fill: #f0a860; } text.c { fill: #62cfa0; }
  }
"""


def main():
    arguments = [pathlib.Path(argument) for argument in sys.argv[1:]]
    defaults = [HERE / "growth.json", HERE / "growth.svg"]
    source, target = arguments + defaults[len(arguments) :]
    growth = json.loads(source.read_text())

    def lines(unit, **jobs):
        return {
            said.replace("_", " "): [(at["size"], unit(at)) for at in growth[job]]
            for said, job in jobs.items()
        }

    def counted(at):
        return at["instructions"]

    def per_second(at):
        return 1e9 / at["nanoseconds"]

    reads = lines(counted, small="read/small", **{"1 MiB, counted": "read/large-counted"})
    reads |= lines(counted, **{"1 MiB, to NUL": "read/large-to-nul"})
    acks = lines(counted, **{"1.2": "ack/1.2", "1.1": "ack/1.1", "1.0": "ack/1.0"})
    picture = Picture()
    picture.text(24, 34, "What grows with the size, and what does not", "title")
    picture.panel(72, 88, "instructions for an octet, by octets of a read", reads)
    picture.panel(510, 88, "instructions for an ACK, by open deliveries", acks)
    idle = lines(counted, a_turn_of_an_idle_session="idle")
    picture.panel(72, 368, "instructions for a beat in and out, by sessions", idle)
    relay = lines(per_second, relay="relay", copy="copy")
    picture.panel(510, 368, "frames a second on a core, by octets of body", relay, steps=True)
    target.write_text(picture.whole())
    print(f"{target} is written")


class Picture(plot.Picture):
    def whole(self):
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" role="img" '
            'aria-label="What grows with the size, and what does not">\n'
            f"<style>{plot.STYLE}{STYLE}</style>\n"
            f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="10"/>\n'
            + "\n".join(self.parts)
            + "\n</svg>\n"
        )

    def panel(self, left, top, title, lines, steps=False):
        """Draws lines over a logarithmic size; `steps`: on a scale that is logarithmic too."""
        self.text(left - 48, top - 22, title, "us")
        sizes = [size for line in lines.values() for size, _ in line]
        values = [value for line in lines.values() for _, value in line]
        low, high = min(sizes), max(sizes)
        marks = powers(min(values), max(values)) if steps else round_steps(max(values))

        def x(size):
            return left + PANEL_WIDTH * math.log(size / low) / math.log(high / low)

        def y(value):
            if steps:
                part = math.log(value / marks[0]) / math.log(marks[-1] / marks[0])
            else:
                part = value / marks[-1]
            return top + PANEL_HEIGHT * (1 - part)

        for mark in marks:
            at = f"{y(mark):.1f}"
            self.parts.append(
                f'<line class="grid" x1="{left}" x2="{left + PANEL_WIDTH}" y1="{at}" y2="{at}"/>'
            )
            self.text(left - 8, round(y(mark) + 4, 1), short(mark), "tick", "end")
        for size in sorted(set(sizes))[:: 2 if len(set(sizes)) > 6 else 1]:
            self.text(x(size), top + PANEL_HEIGHT + 18, short(size, 16 << 10 in sizes), "tick", "middle")
        for index, (said, line) in enumerate(lines.items()):
            kind = "abc"[index]
            points = " ".join(f"{x(size):.1f},{y(value):.1f}" for size, value in line)
            self.parts.append(f'<polyline class="line {kind}" points="{points}"/>')
            self.text(left + 118 * index, top + PANEL_HEIGHT + 42, said, f"us {kind}")


def round_steps(most):
    step = 10 ** math.floor(math.log10(most))
    step = next(s for s in (step / 5, step / 2, step, 2 * step) if most / s <= 5)
    return [step * count for count in range(math.ceil(most / step) + 1)]


def powers(least, most):
    first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
    return [10**power for power in range(first, last + 1)]


def short(value, binary=False):
    decimal = ((10**6, " M"), (10**3, " k"))
    for unit, said in ((1 << 20, " Mi"), (1 << 10, " Ki")) if binary else decimal:
        if value >= unit and value % unit == 0:
            return f"{value // unit:.0f}{said}"
    return f"{value:,.0f}" if value == round(value) else f"{value:g}"


if __name__ == "__main__":
    main()
