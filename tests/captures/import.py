"""Turns a folder of recorded STOMP connections into the transcripts and frames.tsv next to this script.

Usage: python3 tests/captures/import.py SOURCE_DIR

SOURCE_DIR has one folder a capture and `index.tsv`; README.md here describes what they become. All checks come
before the first file is written: every transcript gives back the recorded octets, only streams that may be invalid
are, and the frames agree with `index.tsv`.
"""

import re
import sys
from collections import namedtuple
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ among the transcripts

from reference import decode, escape_ascii  # noqa: E402

HERE = Path(__file__).parent
DIRECTIONS = ("c2s", "s2c")
INDEX_COMMANDS_LEN = 200  # index.tsv cuts its column of commands there
TRANSCRIPT_HEAD = """\
# STOMP transcript: {}
# ms, direction, octets as Rust's escape_ascii writes them; a line without octets is the end of that stream
"""

Capture = namedtuple("Capture", "name connections")
Connection = namedtuple("Connection", "name transport events streams")  # streams: direction -> recorded octets
Event = namedtuple("Event", "ms direction octets")  # no octets: the end of that stream
Row = namedtuple("Row", "file connection direction frames eols commands digest error")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    source = Path(sys.argv[1])
    captures = [read_capture(folder) for folder in sorted(source.iterdir()) if folder.is_dir()]
    captures = [capture for capture in captures if capture.connections]
    index = read_index(source / "index.tsv")
    files = {}
    rows = []
    for capture in captures:
        files[f"{capture.name}.txt"] = transcript = write_transcript(capture)
        check_round_trip(capture, transcript)
        for connection in capture.connections:
            decoded = decode_connection(capture, connection)
            for row in decoded:
                check_against_index(row, connection, index.pop((capture.name, row.connection, row.direction), None))
            rows += decoded
    check(not index, f"in index.tsv but not here: {sorted(index)}")
    files["frames.tsv"] = write_table(rows)
    replace_files(files)
    print(f"{len(captures)} transcripts, {len(rows)} streams, {sum(map(len, files.values()))} octets")


# Reading the recordings


def read_capture(folder):
    """All connections below a capture's folder that carried STOMP, in numeric order."""
    tables = sorted(folder.rglob("*.chunks.tsv"), key=lambda path: (path.parent, connection_number(path)))
    connections = [read_connection(folder, table) for table in tables]
    return Capture(folder.name, [connection for connection in connections if carries_stomp(connection)])


def connection_number(table):
    return int(table.name.split(".")[0])


def read_connection(capture_folder, chunk_table):
    prefix = chunk_table.parent / str(connection_number(chunk_table))
    name = prefix.relative_to(capture_folder).as_posix()
    if Path(f"{prefix}.c2s.ws.tsv").exists():
        return Connection(name, "ws", websocket_events(prefix), read_streams(prefix, "stomp.bin"))
    return Connection(name, "tcp", tcp_events(prefix), read_streams(prefix, "bin"))


def carries_stomp(connection):
    """A WebSocket connection without a message only probed the handshake."""
    return connection.transport == "tcp" or any(connection.streams.values())


def read_streams(prefix, extension):
    return {direction: Path(f"{prefix}.{direction}.{extension}").read_bytes() for direction in DIRECTIONS}


def tcp_events(prefix):
    """One event a recv()."""
    streams = read_streams(prefix, "bin")
    return [
        Event(chunk.ms, chunk.dir, streams[chunk.dir][chunk.offset : chunk.offset + chunk.len])
        for chunk in read_table(f"{prefix}.chunks.tsv")
    ]


def websocket_events(prefix):
    """One event a WebSocket message that has octets, at the recv() that completed it."""
    pending = {direction: timed_messages(prefix, direction) for direction in DIRECTIONS}
    events = []
    for chunk in read_table(f"{prefix}.chunks.tsv"):
        messages = pending[chunk.dir]
        while messages and messages[0][0] <= chunk.offset + chunk.len:
            _, octets = messages.pop(0)
            events += [Event(chunk.ms, chunk.dir, octets)] if octets else []
        if chunk.len == 0:
            events.append(Event(chunk.ms, chunk.dir, b""))
    check(not any(pending.values()), f"{prefix}: a message without its chunk")
    return events


def timed_messages(prefix, direction):
    """Each message of one direction: where its last WebSocket frame ends on the wire, and its octets."""
    control_opcodes = range(8, 16)
    frames = [frame for frame in read_table(f"{prefix}.{direction}.ws.tsv") if frame.opcode not in control_opcodes]
    ends = [frame.offset + frame.len for frame in frames if frame.fin]
    stream = Path(f"{prefix}.{direction}.stomp.bin").read_bytes()
    messages = read_table(f"{prefix}.{direction}.msgs.tsv")
    check(len(ends) == len(messages), f"{prefix}.{direction}: not one final frame a message")
    return [(end, stream[message.offset : message.offset + message.len]) for end, message in zip(ends, messages)]


def read_table(path):
    """The rows of a tab-separated table whose first line names the columns; numbers become int."""
    head, *lines = Path(path).read_text(encoding="utf-8").splitlines()
    row = namedtuple("TableRow", head.lstrip("#").split("\t"))
    return [row(*(int(cell) if cell.isdigit() else cell for cell in line.split("\t"))) for line in lines]


def read_index(path):
    return {(row.dir, str(row.conn), row.direction): row for row in read_table(path)}


# What is written


def write_transcript(capture):
    blocks = [TRANSCRIPT_HEAD.format(capture.name)]
    for connection in capture.connections:
        blocks.append(f"connection {connection.name} {connection.transport}\n")
        blocks += map(write_event, connection.events)
    return "".join(blocks)


def write_event(event):
    octets = f" {escape_ascii(event.octets)}" if event.octets else ""
    return f"{event.ms} {event.direction}{octets}\n"


def decode_connection(capture, connection):
    """The table's rows for one connection: a row each direction that has octets."""
    server = decode(connection.streams["s2c"], "server")
    client = decode(connection.streams["c2s"], "client", server.version)
    return [
        describe_stream(capture.name, connection.name, direction, decoded)
        for direction, decoded in (("c2s", client), ("s2c", server))
        if connection.streams[direction]
    ]


def describe_stream(capture, connection, direction, decoded):
    expected = may_end_with(decoded.error, capture, connection, direction)
    check(expected, f"{capture} {connection} {direction}: {decoded.error}")
    commands = decoded.commands
    return Row(
        file=f"{capture}.txt",
        connection=connection,
        direction=direction,
        frames=len(commands),
        eols=decoded.eols,
        commands=" ".join(commands),
        digest=decoded.digest,
        error=decoded.error or "-",
    )


def write_table(rows):
    lines = ["#" + "\t".join(Row._fields)] + ["\t".join(map(str, row)) for row in rows]
    return "".join(line + "\n" for line in lines)


def replace_files(files):
    for old in HERE.glob("*.txt"):
        old.unlink()
    for name, contents in files.items():
        (HERE / name).write_text(contents, encoding="ascii", newline="\n")


# Checks


def check_round_trip(capture, transcript):
    streams = {}
    for line in transcript.splitlines():
        if line.startswith("connection "):
            connection = line.split(" ")[1]
        elif not line.startswith("#"):
            _, direction, *octets = line.split(" ", 2)
            key = connection, direction
            streams[key] = streams.get(key, b"") + unescape_ascii("".join(octets))
    for connection in capture.connections:
        for direction, recorded in connection.streams.items():
            written = streams.get((connection.name, direction), b"")
            check(written == recorded, f"{capture.name} {connection.name} {direction}: octets lost in the transcript")


def unescape_ascii(escaped):
    named = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}

    def replace(match):
        return bytes.fromhex(match[1].decode()) if match[1] else named.get(match[2], match[2])

    return re.sub(rb"\\(?:x(..)|(.))", replace, escaped.encode("ascii"))


def may_end_with(error, capture, connection, direction):
    """Whether a stream may end like this: only probes, their echo, and one real client wrote what is no STOMP."""
    if error is None:
        return True
    if capture.startswith("stomper-1.1-"):  # its DISCONNECT has no blank line
        return direction == "c2s" and error == "NulInHead"
    if direction == "s2c":  # this subscriber is handed what the NUL_in_header probes left in the queue
        return capture.startswith("raw-error-") and connection == "body_on_SUBSCRIBE/10" and error == "NulInHead"
    return capture.startswith("raw-")


def check_against_index(row, connection, expected):
    """Compares a row with the one of index.tsv, if there is one; behind an error only we stopped."""
    if expected is None:
        return
    where = f"{row.file} {row.connection} {row.direction}"
    octets = len(connection.streams[row.direction])
    check(expected.transport == connection.transport, f"{where}: index.tsv has {expected.transport}")
    check(expected.stomp_bytes == octets, f"{where}: index.tsv has {expected.stomp_bytes} octets, not {octets}")
    stopped_at = row.frames if row.error != "-" else expected.frames
    commands = " ".join(expected.commands.split()[:stopped_at])
    same = row.frames == stopped_at and row.commands[:INDEX_COMMANDS_LEN] == commands
    check(same, f"{where}: index.tsv has {expected.frames} frames, {expected.commands}")


def check(condition, complaint):
    if not condition:
        sys.exit(f"import.py: {complaint}")


if __name__ == "__main__":
    main()
