"""What the stories of the Python clients share: where the broker is, what is sent, what is said."""

import importlib.metadata
import os

HOST = "127.0.0.1"
PORT = int(os.environ["STOMP_PORT"])
TRANSPORT = os.environ["STOMP_TRANSPORT"]
VERSION = os.environ["STOMP_VERSION"]
QUEUE = os.environ["STOMP_QUEUE"]
LOGIN = PASSCODE = "guest"

TEXT = "héllo"
BINARY = b"\0\xff\xfe\x80 \0 end\n\0"
ESCAPED = "a:b\\c\nd"
# Milliseconds between two beats, and seconds without anything but beats.
BEAT = 1000
SILENCE = 3.5
# Longer than any answer of a broker on the same machine takes.
PATIENCE = 10

NO_NACK = "1.0 has no NACK"
NO_BEATS = "1.0 has no heart-beats"
NO_ESCAPES = "1.0 has no escapes"
TEXT_FRAMES = "sends every frame as WebSocket text, which must be UTF-8"


def peer(name, distribution):
    print("peer", name, importlib.metadata.version(distribution), flush=True)


def ok(*features):
    for feature in features:
        print("ok", feature, flush=True)


def lacks(feature, reason):
    print(f"not {feature}: {reason}", flush=True)


def equal(is_, should_be):
    if is_ != should_be:
        raise AssertionError(f"{is_!r} instead of {should_be!r}")
