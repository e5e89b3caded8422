"""stomp.py, over TCP and WebSocket."""

import queue
import time

import stomp

from story import (
    BEAT, BINARY, ESCAPED, HOST, LOGIN, NO_BEATS, NO_ESCAPES, NO_NACK, PASSCODE, PATIENCE, PORT,
    QUEUE, SILENCE, TEXT, TEXT_FRAMES, TRANSPORT, VERSION, equal, lacks, ok, peer,
)

ID = "subscription:1"
MODE = "client" if VERSION == "1.0" else "client-individual"


class Listener(stomp.ConnectionListener):
    """Puts frames in queues, of messages and of all others."""

    def __init__(self):
        self.messages, self.others = queue.Queue(), queue.Queue()

    def on_message(self, frame):
        self.messages.put(frame)

    def on_connected(self, frame):
        self.others.put(("CONNECTED", frame.headers))

    def on_receipt(self, frame):
        self.others.put(("RECEIPT", frame.headers["receipt-id"]))

    def on_error(self, frame):
        self.others.put(("ERROR", frame.headers))

    def on_heartbeat_timeout(self):
        self.others.put(("heart-beat", "missing"))

    def on_disconnected(self):
        self.others.put(("disconnected", ""))


def connection():
    options = {"auto_decode": False}
    if VERSION != "1.0":
        options |= {"vhost": "/", "heartbeats": (BEAT, BEAT)}
    address = [(HOST, PORT)]
    if TRANSPORT == "ws":
        return stomp.WSStompConnection(address, ws_path="/ws", **options)
    classes = {"1.0": stomp.Connection10, "1.1": stomp.Connection11, "1.2": stomp.Connection12}
    return classes[VERSION](address, **options)


class Story:
    def __init__(self):
        self.client, self.listener = connection(), Listener()
        self.client.set_listener("story", self.listener)

    def message(self, body):
        frame = self.listener.messages.get(timeout=PATIENCE)
        equal(frame.body, body)
        return frame

    def expect(self, *event):
        equal(self.listener.others.get(timeout=PATIENCE), event)

    def settle(self, settle, frame, **options):
        """ACK or NACK in the form of the version."""
        if VERSION == "1.2":
            settle(frame.headers["ack"], **options)
        elif VERSION == "1.1":
            settle(frame.headers["message-id"], ID, **options)
        else:
            settle(frame.headers["message-id"], **options)

    def play(self):
        client = self.client
        client.connect(LOGIN, PASSCODE, wait=True)
        word, headers = self.listener.others.get(timeout=PATIENCE)
        equal((word, headers.get("version", "1.0")), ("CONNECTED", VERSION))
        ok("connect")
        client.subscribe(QUEUE, id=ID, ack=MODE, headers={"receipt": "subscribed"})
        self.expect("RECEIPT", "subscribed")
        ok("subscribe")
        client.send(QUEUE, TEXT, headers={"receipt": "sent"})
        self.expect("RECEIPT", "sent")
        frame = self.message(TEXT.encode())
        ok("send", "receipt")
        self.settle(client.ack, frame, receipt="acknowledged")
        self.expect("RECEIPT", "acknowledged")
        ok("ack")
        self.nack()
        self.transaction()
        self.binary()
        self.escapes()
        self.heart_beat(headers)
        client.disconnect(receipt="bye")
        # It takes its leave before it tells of the RECEIPT.
        self.expect("disconnected", "")
        self.expect("RECEIPT", "bye")
        ok("disconnect")

    def nack(self):
        if VERSION == "1.0":
            return lacks("nack", NO_NACK)
        self.client.send(QUEUE, "again")
        self.settle(self.client.nack, self.message(b"again"))
        again = self.message(b"again")
        equal(again.headers["redelivered"], "true")
        self.settle(self.client.ack, again)
        ok("nack")

    def transaction(self):
        for body, end in ("aborted", self.client.abort), ("committed", self.client.commit):
            name = self.client.begin()
            self.client.send(QUEUE, body, transaction=name)
            end(name)
        self.settle(self.client.ack, self.message(b"committed"))
        ok("transaction")

    def binary(self):
        if TRANSPORT == "ws":
            return lacks("binary", TEXT_FRAMES)
        self.client.send(QUEUE, BINARY)
        self.settle(self.client.ack, self.message(BINARY))
        ok("binary")

    def escapes(self):
        if VERSION == "1.0":
            return lacks("escapes", NO_ESCAPES)
        self.client.send(QUEUE, "escaped", headers={"x-escaped": ESCAPED})
        frame = self.message(b"escaped")
        equal(frame.headers["x-escaped"], ESCAPED)
        self.settle(self.client.ack, frame)
        ok("escapes")

    def heart_beat(self, connected):
        if VERSION == "1.0":
            return lacks("heart-beat", NO_BEATS)
        equal(connected["heart-beat"], f"{BEAT},{BEAT}")
        time.sleep(SILENCE)
        self.client.send(QUEUE, "still here")
        self.settle(self.client.ack, self.message(b"still here"))
        ok("heart-beat")


peer("stomp.py", "stomp.py")
Story().play()
