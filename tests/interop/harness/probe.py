"""Looks into a queue when a story is over: what it acknowledged must be gone."""

import socket

TIMEOUT = 10
LAST = b"the last message of the queue"


def leftovers(port, queue):
    """The bodies that wait in the queue."""
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as wire:
        wire.sendall(
            b"CONNECT\naccept-version:1.2\nhost:/\nlogin:guest\npasscode:guest\n\n\0"
            b"SEND\ndestination:%b\n\n%b\0"
            b"SUBSCRIBE\nid:0\ndestination:%b\nack:client\n\n\0" % (queue, LAST, queue)
        )
        found = []
        for command, headers, body in _frames(wire.makefile("rb")):
            if command == b"ERROR":
                raise OSError(f"the broker says {headers}")
            if command != b"MESSAGE":
                continue
            if body == LAST:
                # Leaves the queue empty for whoever looks next.
                wire.sendall(b"ACK\nid:%b\n\n\0DISCONNECT\nreceipt:0\n\n\0" % headers[b"ack"])
            else:
                found.append(body)
        return found


def _frames(stream):
    """The frames up to the end of the stream, unescaped as little as this needs."""
    while line := stream.readline():
        command = line.strip()
        if not command:
            continue
        headers = {}
        while header := stream.readline().strip():
            name, _, value = header.partition(b":")
            headers.setdefault(name, value)
        yield command, headers, _body(stream, headers)


def _body(stream, headers):
    if b"content-length" in headers:
        return stream.read(int(headers[b"content-length"]) + 1)[:-1]
    body = bytearray()
    while (octet := stream.read(1)) not in (b"", b"\0"):
        body += octet
    return bytes(body)
