"""The example client of this repository, by its command line."""

import ast
import json
import os
import subprocess
import sys
import time

PROGRAM = sys.argv[1]
VERSION = os.environ["STOMP_VERSION"]
QUEUE = os.environ["STOMP_QUEUE"]
SILENCE = float(os.environ["STOMP_SILENCE"])

OPTIONS = [
    PROGRAM, "--host", "/", "--login", "guest", "--versions", VERSION,
    f"127.0.0.1:{os.environ['STOMP_PORT']}",
]
ENV = {**os.environ, "STOMP_PASSCODE": "guest"}

BINARY = b"\0\xff\xfe\x80 \0 end\n\0"
MIB = bytes(range(256)) * 4096
MODES = ("auto", "client", "client-individual")


def ok(*features):
    for feature in features:
        print("ok", feature, flush=True)


def send(body):
    """Ends when the broker has confirmed the message."""
    subprocess.run([*OPTIONS, "send", QUEUE], env=ENV, input=body, check=True)


def start_subscriber(mode, *options):
    subscribe = ["subscribe", QUEUE, "--ack", mode, "--count", "1", "--json", *options]
    return subprocess.Popen([*OPTIONS, *subscribe], env=ENV, stdout=subprocess.PIPE)


def receive(subscriber, body):
    """It ends when it has acknowledged one message and the broker has confirmed its leave."""
    out, _ = subscriber.communicate()
    if subscriber.returncode != 0:
        raise AssertionError(f"exit status {subscriber.returncode}")
    message = json.loads(out)
    # Rust's way to write octets down is also Python's.
    received = ast.literal_eval(f"b'{message['body']}'")
    if received != body:
        raise AssertionError(f"{received[:40]!r} instead of {body[:40]!r}")


def heart_beat():
    if VERSION == "1.0":
        return print("not heart-beat: 1.0 has no heart-beats")
    subscriber = start_subscriber("client", "--heart-beat", "1000,1000")
    time.sleep(SILENCE)
    send(b"still here")
    receive(subscriber, b"still here")
    ok("heart-beat")


def play():
    print("peer examples/client")
    send("héllo".encode())
    ok("connect", "send", "receipt")
    receive(start_subscriber("client"), "héllo".encode())
    ok("subscribe", "ack", "disconnect")
    for mode in MODES:
        send(mode.encode())
        receive(start_subscriber(mode), mode.encode())
    ok("ack-modes")
    for feature, body in ("binary", BINARY), ("1-MiB", MIB):
        send(body)
        receive(start_subscriber("client"), body)
        ok(feature)
    heart_beat()
    for feature in "nack", "transaction", "escapes":
        print(f"not {feature}: the command line has nothing for it, see the row of stomp-proto")


play()
