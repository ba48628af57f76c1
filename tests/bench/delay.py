#!/usr/bin/env python3
"""Delays what goes to port 22: delay.py PORT MILLISECONDS, in a network namespace whose nft table sends such connections to PORT.

A relay of TCP: each byte is handed on half the round-trip time after it came, and a connection is made a whole one later. Its own
connections have a mark, which the table leaves alone. Prints a line when it listens."""

import asyncio
import socket
import struct
import sys

MARK = 7
ORIGINAL_DESTINATION = 80  # SO_ORIGINAL_DST of linux/netfilter_ipv4.h


async def hand_on(reader, writer, delay_s):
    """Bytes keep their order: each piece waits for its own time in a queue."""
    loop = asyncio.get_running_loop()
    pieces = asyncio.Queue()

    async def send():
        while True:
            due, piece = await pieces.get()
            await asyncio.sleep(max(0, due - loop.time()))
            if not piece:
                break
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()

    sender = asyncio.create_task(send())
    try:
        piece = b"."
        while piece:
            piece = await reader.read(65536)
            pieces.put_nowait((loop.time() + delay_s, piece))
        await sender
    except OSError:
        sender.cancel()


async def serve(reader, writer, rtt_s):
    own = writer.get_extra_info("socket")
    own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    port, address = struct.unpack("!2xH4s8x", own.getsockopt(socket.IPPROTO_IP, ORIGINAL_DESTINATION, 16))
    there = socket.socket()
    there.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, MARK)
    there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    there.setblocking(False)
    try:
        await asyncio.sleep(rtt_s)
        await asyncio.get_running_loop().sock_connect(there, (socket.inet_ntoa(address), port))
        back, forth = await asyncio.open_connection(sock=there)
        await asyncio.gather(hand_on(reader, forth, rtt_s / 2), hand_on(back, writer, rtt_s / 2))
        forth.close()
    except OSError as error:
        print(f"delay: {error}", file=sys.stderr)
    finally:
        there.close()
        writer.close()


async def main():
    port, rtt_s = int(sys.argv[1]), float(sys.argv[2]) / 1000
    server = await asyncio.start_server(lambda reader, writer: serve(reader, writer, rtt_s), "0.0.0.0", port)
    print(f"{port} delays by {rtt_s * 1000:g} ms", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
