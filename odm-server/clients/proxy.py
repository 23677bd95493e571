"""A proxy of MongoDB's protocol that cuts connections at random."""

import random
import socket
import struct
import threading

MORE_TO_COME = 2


class Cut(Exception):
    """The end of a connection."""


def received(connection, length):
    data = b""
    while len(data) < length:
        part = connection.recv(length - len(data))
        if not part:
            raise Cut
        data += part
    return data


def message(connection):
    length = received(connection, 4)
    return length + received(connection, struct.unpack("<i", length)[0] - 4)


class Proxy:
    """Passes messages on to the port `target`. Each can be the last one: before it is passed on, after that, or when its answer is there."""

    def __init__(self, target, seed, rate=0.01):
        self.target, self.rate, self.cuts = target, rate, 0
        self.chance = random.Random(seed)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, client):
        with client:
            try:
                with socket.create_connection(("127.0.0.1", self.target)) as server:
                    for each in (client, server):
                        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    while True:
                        self.exchange(client, server)
            except (Cut, OSError):
                pass

    def exchange(self, client, server):
        request = message(client)
        self.may_cut()
        server.sendall(request)
        self.may_cut()
        while True:
            answer = message(server)
            self.may_cut()
            client.sendall(answer)
            if not struct.unpack_from("<i", answer, 16)[0] & MORE_TO_COME:
                return

    def may_cut(self):
        if self.chance.random() < self.rate / 3:
            self.cuts += 1
            raise Cut
