"""stompman, over TCP and WebSocket."""

import asyncio

import stompman
from stompman.connection_ws import WebSocketConnection

from story import (
    BEAT, BINARY, ESCAPED, HOST, LOGIN, PASSCODE, PATIENCE, PORT, QUEUE, SILENCE, TEXT, TEXT_FRAMES,
    TRANSPORT, equal, lacks, ok, peer,
)


class Story:
    def __init__(self):
        self.messages, self.errors = asyncio.Queue(), []

    def client(self):
        path = "/ws" if TRANSPORT == "ws" else None
        server = stompman.ConnectionParameters(
            host=HOST, port=PORT, login=LOGIN, passcode=PASSCODE, ws_uri_path=path
        )
        options = {"connection_class": WebSocketConnection} if TRANSPORT == "ws" else {}
        # Without a second try: a lost session would go unnoticed.
        return stompman.Client(
            servers=[server], heartbeat=stompman.Heartbeat(BEAT, BEAT), connect_retry_attempts=1,
            write_retry_attempts=1, on_error_frame=self.errors.append, **options,
        )

    async def message(self, body):
        frame = await asyncio.wait_for(self.messages.get(), PATIENCE)
        equal((frame.body, self.errors), (body, []))
        return frame

    async def play(self):
        async with self.client() as client:
            ok("connect")
            subscription = await client.subscribe_with_manual_ack(
                QUEUE, self.messages.put, ack="client-individual", receipt_timeout=PATIENCE
            )
            ok("subscribe")
            await client.send(TEXT.encode(), QUEUE, receipt_timeout=PATIENCE)
            frame = await self.message(TEXT.encode())
            ok("send", "receipt")
            await frame.ack()
            ok("ack")
            await self.nack(client)
            await self.transaction(client)
            await self.binary(client)
            await client.send(b"escaped", QUEUE, headers={"x-escaped": ESCAPED})
            frame = await self.message(b"escaped")
            equal(frame.headers["x-escaped"], ESCAPED)
            await frame.ack()
            ok("escapes")
            await self.heart_beat(client)
            await subscription.unsubscribe()
        # It waits for the RECEIPT of its DISCONNECT, and says nothing if there is none.
        equal(self.errors, [])
        ok("disconnect")

    async def nack(self, client):
        await client.send(b"again", QUEUE)
        await (await self.message(b"again")).nack()
        again = await self.message(b"again")
        equal(again.headers["redelivered"], "true")
        await again.ack()
        ok("nack")

    async def transaction(self, client):
        try:
            async with client.begin() as transaction:
                await transaction.send(b"aborted", QUEUE)
                raise InterruptedError
        except InterruptedError:
            pass
        async with client.begin() as transaction:
            await transaction.send(b"committed", QUEUE)
        await (await self.message(b"committed")).ack()
        ok("transaction")

    async def binary(self, client):
        if TRANSPORT == "ws":
            return lacks("binary", TEXT_FRAMES)
        await client.send(BINARY, QUEUE)
        await (await self.message(BINARY)).ack()
        ok("binary")

    async def heart_beat(self, client):
        await asyncio.sleep(SILENCE)
        assert client.is_alive(), "no beat of the server"
        await client.send(b"still here", QUEUE)
        await (await self.message(b"still here")).ack()
        ok("heart-beat")


peer("stompman", "stompman")
asyncio.run(Story().play())
