"""aiostomp."""

import asyncio

from aiostomp import AioStomp

from story import (
    BEAT, BINARY, ESCAPED, HOST, LOGIN, PASSCODE, PATIENCE, PORT, QUEUE, SILENCE, TEXT, equal,
    lacks, ok, peer,
)


class Story:
    def __init__(self):
        self.messages, self.errors = asyncio.Queue(), []
        self.client = AioStomp(
            HOST, PORT, heartbeat_interval_cx=BEAT, heartbeat_interval_cy=BEAT,
            reconnect_max_attempts=0, error_handler=self.error,
        )

    async def error(self, error):
        self.errors.append(error)

    async def hear(self, frame, body):
        await self.messages.put((frame, body))

    async def message(self, body):
        frame, is_ = await asyncio.wait_for(self.messages.get(), PATIENCE)
        equal((is_, self.errors), (body, []))
        return frame

    async def play(self):
        client = self.client
        await client.connect(LOGIN, PASSCODE)
        client.subscribe(QUEUE, ack="client-individual", handler=self.hear, auto_ack=False)
        client.send(QUEUE, TEXT)
        # It does not wait for CONNECTED: a message is the first sign of a session.
        client.ack(await self.message(TEXT.encode()))
        ok("connect", "subscribe", "send", "ack")
        lacks("receipt", "aiostomp takes no RECEIPT")
        lacks("transaction", "aiostomp has no transactions")
        client.send(QUEUE, "again")
        client.nack(await self.message(b"again"))
        again = await self.message(b"again")
        equal(again.headers["redelivered"], "true")
        client.ack(again)
        ok("nack")
        client.send(QUEUE, BINARY)
        client.ack(await self.message(BINARY))
        ok("binary")
        client.send(QUEUE, "escaped", headers={"x-escaped": ESCAPED})
        frame = await self.message(b"escaped")
        equal(frame.headers["x-escaped"], ESCAPED)
        client.ack(frame)
        ok("escapes")
        await asyncio.sleep(SILENCE)
        client.send(QUEUE, "still here")
        client.ack(await self.message(b"still here"))
        ok("heart-beat")
        lacks("disconnect", "aiostomp sends no DISCONNECT")
        client.close()
        # For what is still to be written.
        await asyncio.sleep(0.2)


async def main():
    # It looks for its loop as soon as it is made.
    await Story().play()


peer("aiostomp", "aiostomp")
asyncio.run(main())
