#!/usr/bin/env python3
"""Makes the seed corpora of the fuzz targets from the vectors and captures of the tests.

Usage: fuzz/seeds.py

Writes to fuzz/corpus. Streams get a script of zeros in front: what an application does, and in
which reads octets come, is for the fuzzer to find.
"""

import hashlib
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).parent.parent
SCRIPT = bytes(32)


def main():
    streams = {"c2s": set(), "s2c": set()}
    for capture in sorted((ROOT / "tests/captures").glob("*.txt")):
        for direction, octets in chunks(capture.read_text(encoding="utf-8")):
            streams[direction].add(octets)
    vectors = set(codec_vectors())
    frames = streams["c2s"] | streams["s2c"] | vectors
    for version in range(4):
        save("decode", {bytes([version]) + SCRIPT[1:] + octets for octets in frames})
    save("server", {SCRIPT + octets for octets in streams["c2s"] | vectors})
    save("client", {SCRIPT + octets for octets in streams["s2c"] | vectors})
    save("round_trip", {bytes([n]) + octets for octets in frames for n in range(3)})
    save("destination", {SCRIPT + line for line in destination_vectors()})


def save(target, inputs):
    folder = ROOT / "fuzz/corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    for octets in inputs:
        (folder / hashlib.sha256(octets).hexdigest()[:16]).write_bytes(octets)
    print(f"{target}: {len(list(folder.iterdir()))} inputs")


def chunks(transcript):
    """The octets of each direction of each connection."""
    streams = {}
    connection = None
    for line in transcript.splitlines():
        if line.startswith("connection "):
            connection = line
        elif part := re.match(r"\d+ (c2s|s2c) (.*)", line):
            key = (connection, part[1])
            streams[key] = streams.get(key, b"") + unescaped(part[2])
    return [(direction, octets) for (_, direction), octets in streams.items()]


def unescaped(text):
    """Undoes Rust's escape_ascii, whose escapes Python has as well."""
    return text.encode("ascii").decode("unicode_escape").encode("latin-1")


def codec_vectors():
    for vector in lines("codec-vectors.jsonl"):
        if vector["op"] == "decode":
            yield vector["in"].encode("latin-1")


def destination_vectors():
    for vector in lines("destination-vectors.jsonl"):
        if vector["op"] == "parse":
            yield vector["in"].encode()
        elif vector["op"] == "plan":
            letter = {"SEND": "S", "SUBSCRIBE": "B"}[vector["frame"]]
            headers = [["destination", vector["destination"] or ""], *vector.get("headers", [])]
            yield "\t".join([letter, *(":".join(header) for header in headers)]).encode()


def lines(name):
    text = (ROOT / "tests/data" / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


if __name__ == "__main__":
    main()
