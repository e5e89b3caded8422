"""Decodes one direction of a recorded STOMP connection, as a second opinion on the crate's decoder.

It shares nothing with the crate and is written to be read, not to be fast: it sees a whole stream at once, so chunk
borders, limits and offsets of errors are not its business. A stream from the server keeps malformed header lines
aside (the crate's `Keep`); in a stream from the client they are fatal (`Reject`).
"""

import json
import re
from dataclasses import dataclass, field

COMMANDS = (
    "CONNECT STOMP CONNECTED SEND SUBSCRIBE UNSUBSCRIBE ACK NACK BEGIN COMMIT ABORT DISCONNECT MESSAGE RECEIPT ERROR"
).split()
NEVER_ESCAPED = ("CONNECT", "STOMP", "CONNECTED")
MAY_HAVE_A_BODY = ("SEND", "MESSAGE", "ERROR")
ESCAPES = {
    "1.1": {"n": "\n", "c": ":", "\\": "\\"},
    "1.2": {"n": "\n", "c": ":", "\\": "\\", "r": "\r"},
}
LF, CR, NUL = b"\n", b"\r", b"\0"


@dataclass
class Frame:
    command: str
    headers: list
    body: bytes
    malformed: list

    def header(self, name):
        return next((value for key, value in self.headers if key == name), None)


@dataclass
class Decoded:
    """What a stream holds: frames and, between them, lengths of runs of EOLs; how it ended; its STOMP version."""

    sender: str
    items: list = field(default_factory=list)
    error: str | None = None
    version: str | None = None

    @property
    def commands(self):
        return [item.command for item in self.items if isinstance(item, Frame)]

    @property
    def eols(self):
        return sum(item for item in self.items if isinstance(item, int))

    @property
    def digest(self):
        """FNV-1a, 64 bits, over one JSON line an item."""
        return fnv1a("".join(describe(item, self.sender) + "\n" for item in self.items).encode())


class Fault(Exception):
    """Something that no decoder reads past; its argument is the name of the crate's error kind."""


def decode(octets, sender, agreed=None):
    """Decodes all that `sender` ("client" or "server") wrote.

    The server's CONNECTED tells the version itself; for the client it is passed in as `agreed` and holds behind its
    CONNECT or STOMP. Before that there is no version: nothing is unescaped or trimmed.
    """
    reader = Reader(octets, sender, agreed)
    try:
        while reader.position < len(octets):
            reader.step()
    except Fault as fault:
        reader.decoded.error = str(fault)
    return reader.decoded


class Reader:
    def __init__(self, octets, sender, agreed):
        self.octets = octets
        self.position = 0
        self.strict = sender == "client"
        self.agreed = agreed
        self.decoded = Decoded(sender)

    @property
    def version(self):
        return self.decoded.version

    def step(self):
        """Takes one EOL, one NUL between frames, or one frame."""
        if self.take(LF) or self.take(CR + LF):
            self.add_eol()
        elif self.version is None or not self.take(NUL):
            frame = self.frame()
            self.decoded.items.append(frame)
            self.settle_version(frame)

    def take(self, expected):
        found = self.octets.startswith(expected, self.position)
        self.position += len(expected) if found else 0
        return found

    def add_eol(self):
        items = self.decoded.items
        if items and isinstance(items[-1], int):
            items[-1] += 1
        else:
            items.append(1)

    def settle_version(self, frame):
        if self.version is not None:
            return
        if frame.command == "CONNECTED":
            self.decoded.version = frame.header("version") or "1.0"
        elif frame.command in ("CONNECT", "STOMP"):
            self.decoded.version = self.agreed
        assert self.version in (None, "1.0", "1.1", "1.2"), self.version

    def frame(self):
        command = self.command()
        headers, malformed = self.headers(command)
        return Frame(command, headers, self.body(command, headers), malformed)

    def command(self):
        for name in COMMANDS:
            if self.take(name.encode() + LF) or self.take(name.encode() + CR + LF):
                return name
        rest = self.octets[self.position :]
        if any((name.encode() + CR + LF).startswith(rest) for name in COMMANDS):
            raise Fault("Truncated")
        raise Fault("UnknownCommand")

    def headers(self, command):
        headers, malformed = [], []
        for line in self.head_lines():
            try:
                headers.append(self.header(command, line))
            except Fault:
                if self.strict:
                    raise
                malformed.append(line)
        return headers, malformed

    def head_lines(self):
        """The lines up to the blank one, without their ends: LF, or one CR and LF."""
        lines = []
        while True:
            line, lf, _ = self.octets[self.position :].partition(LF)
            if NUL in line:
                raise Fault("NulInHead")
            if not lf:
                raise Fault("Truncated")
            self.position += len(line) + len(lf)
            line = line.removesuffix(CR)
            if not line:
                return lines
            lines.append(line)

    def header(self, command, line):
        name, colon, value = line.partition(b":")
        if not colon:
            raise Fault("MissingColon")
        if not name:
            raise Fault("EmptyName")
        if self.version == "1.2" and CR in line:
            raise Fault("StrayCarriageReturn")
        if self.version == "1.0":
            value = value.lstrip(b" \t")
        escapes = None if command in NEVER_ESCAPED else ESCAPES.get(self.version)
        return [unescape(text(name), escapes), unescape(text(value), escapes)]

    def body(self, command, headers):
        length = self.content_length(headers)
        if command in MAY_HAVE_A_BODY and length is not None:
            return self.body_until(self.position + length)
        if command not in MAY_HAVE_A_BODY and self.version != "1.0":
            if self.octets[self.position : self.position + 1] not in (NUL, b""):
                raise Fault("UnexpectedBody")
        body = self.body_until(self.octets.find(NUL, self.position))
        return body if command in MAY_HAVE_A_BODY else b""

    def body_until(self, end):
        if end < 0 or end >= len(self.octets):
            raise Fault("Truncated")
        body = self.octets[self.position : end]
        self.position = end
        if not self.take(NUL):
            raise Fault("MissingNul")
        return body

    def content_length(self, headers):
        values = [value for name, value in headers if name == "content-length"]
        if self.version in (None, "1.0"):  # 1.0 pads values; before a version is known it may turn out to be 1.0
            values = [value.strip(" \t") for value in values]
        if not values:
            return None
        if not re.fullmatch("[0-9]+", values[0]) or (self.strict and len(set(values)) > 1):
            raise Fault("InvalidContentLength")
        return int(values[0])


def text(octets):
    try:
        return octets.decode()
    except UnicodeDecodeError:
        raise Fault("NotUtf8") from None


def unescape(escaped, escapes):
    """Undoes header escapes in a single pass; `escapes` is None where a backslash means nothing."""
    if escapes is None:
        return escaped

    def replace(match):
        if match[1] not in escapes:
            raise Fault("InvalidEscape")
        return escapes[match[1]]

    return re.sub(r"\\(.?)", replace, escaped, flags=re.DOTALL)


def describe(item, sender):
    """One frame or run of EOLs as a JSON line, the text that the digest covers."""
    if isinstance(item, int):
        description = {"from": sender, "eols": item}
    else:
        description = {
            "from": sender,
            "command": item.command,
            "headers": item.headers,
            "body": escape_ascii(item.body),
            "body_len": len(item.body),
        }
        if item.malformed:
            description["malformed"] = [escape_ascii(line) for line in item.malformed]
    return json.dumps(description, ensure_ascii=False, separators=(",", ":"))


def escape_ascii(octets):
    """Writes octets as Rust's `<[u8]>::escape_ascii` does."""
    named = {0x09: r"\t", 0x0A: r"\n", 0x0D: r"\r", 0x22: r"\"", 0x27: r"\'", 0x5C: r"\\"}
    return "".join(
        named.get(octet) or (chr(octet) if 0x20 <= octet <= 0x7E else f"\\x{octet:02x}") for octet in octets
    )


def fnv1a(octets):
    state = 0xCBF29CE484222325
    for octet in octets:
        state = (state ^ octet) * 0x100000001B3 % 2**64
    return f"{state:016x}"
