"""stompest, its synchronous client."""

import time

from stompest.config import StompConfig
from stompest.protocol import StompSpec
from stompest.sync import Stomp

from story import (
    BEAT, BINARY, ESCAPED, HOST, LOGIN, NO_BEATS, NO_ESCAPES, NO_NACK, PASSCODE, PATIENCE, PORT,
    QUEUE, SILENCE, TEXT, VERSION, equal, lacks, ok, peer,
)

MODE = "client" if VERSION == "1.0" else "client-individual"


class Story:
    def __init__(self):
        uri = f"tcp://{HOST}:{PORT}"
        self.client = Stomp(
            StompConfig(uri, login=LOGIN, passcode=PASSCODE, version=VERSION)
        )

    def frame(self, command):
        assert self.client.canRead(PATIENCE), f"no {command} in {PATIENCE} s"
        frame = self.client.receiveFrame()
        equal(frame.command, command)
        return frame

    def receipt(self, name):
        equal(self.frame("RECEIPT").headers["receipt-id"], name)

    def message(self, body):
        frame = self.frame("MESSAGE")
        equal(frame.body, body)
        return frame

    def play(self):
        client = self.client
        beats = None if VERSION == "1.0" else (BEAT, BEAT)
        client.connect(
            versions=[VERSION], host="/", heartBeats=beats,
            connectTimeout=PATIENCE, connectedTimeout=PATIENCE,
        )
        equal(client.session.version, VERSION)
        ok("connect")
        headers = {StompSpec.ACK_HEADER: MODE, StompSpec.ID_HEADER: "1"}
        client.subscribe(QUEUE, headers, receipt="subscribed")
        self.receipt("subscribed")
        ok("subscribe")
        # A broker may confirm a message before or after it delivers it.
        client.send(QUEUE, TEXT.encode(), receipt="sent")
        frames = {frame.command: frame for frame in (client.receiveFrame(), client.receiveFrame())}
        equal(frames["RECEIPT"].headers["receipt-id"], "sent")
        equal(frames["MESSAGE"].body, TEXT.encode())
        ok("send", "receipt")
        client.ack(frames["MESSAGE"], receipt="acknowledged")
        self.receipt("acknowledged")
        ok("ack")
        self.nack()
        self.transaction()
        # It never says a length by itself.
        client.send(QUEUE, BINARY, {"content-length": str(len(BINARY))})
        client.ack(self.message(BINARY))
        ok("binary")
        self.escapes()
        self.heart_beat()
        client.disconnect(receipt="bye")
        self.receipt("bye")
        client.close()
        ok("disconnect")

    def nack(self):
        if VERSION == "1.0":
            return lacks("nack", NO_NACK)
        self.client.send(QUEUE, b"again")
        self.client.nack(self.message(b"again"))
        again = self.message(b"again")
        equal(again.headers["redelivered"], "true")
        self.client.ack(again)
        ok("nack")

    def transaction(self):
        try:
            with self.client.transaction() as name:
                self.client.send(QUEUE, b"aborted", {StompSpec.TRANSACTION_HEADER: name})
                raise InterruptedError
        except InterruptedError:
            pass
        with self.client.transaction() as name:
            self.client.send(QUEUE, b"committed", {StompSpec.TRANSACTION_HEADER: name})
        self.client.ack(self.message(b"committed"))
        ok("transaction")

    def escapes(self):
        if VERSION == "1.0":
            return lacks("escapes", NO_ESCAPES)
        self.client.send(QUEUE, b"escaped", {"x-escaped": ESCAPED})
        frame = self.message(b"escaped")
        equal(frame.headers["x-escaped"], ESCAPED)
        self.client.ack(frame)
        ok("escapes")

    def heart_beat(self):
        if VERSION == "1.0":
            return lacks("heart-beat", NO_BEATS)
        client = self.client
        equal((client.serverHeartBeat, client.clientHeartBeat), (BEAT, BEAT))
        # It has no thread: beats are the business of the application.
        start = time.time()
        while time.time() < start + SILENCE:
            client.beat()
            assert not client.canRead(BEAT / 2000), "a frame instead of silence"
            heard = time.time() - client.lastReceived
            assert heard < 2 * BEAT / 1000, f"no beat of the server in {heard} s"
        client.send(QUEUE, b"still here")
        client.ack(self.message(b"still here"))
        ok("heart-beat")


peer("stompest", "stompest")
Story().play()
