"""Opens many connections to a served database: `python crowd_client.py SERVED`. CONNECTIONS is their number, 10,000 by default, or as many as
the process may have files.

First all of them are permitted, and each is answered, while another client reads and writes. Then the server permits 1,000, as by default: it
closes the others, and serves these.
"""

import os
import resource
import socket
import struct
import sys
import tempfile
import time

import bson
from pymongo import MongoClient

from served import Served

# Of the sockets of a connection and its task, and none of a message.
MOST_BYTES_OF_A_CONNECTION = 64 << 10
DEFAULT_LIMIT = 1_000
OP_MSG = 2013


def hello(number):
    body = struct.pack("<iB", 0, 0) + bson.encode({"hello": 1, "$db": "admin"})
    return struct.pack("<iiii", 16 + len(body), number, 0, OP_MSG) + body


def read(connection, length):
    parts = b""
    while len(parts) < length:
        part = connection.recv(length - len(parts))
        if not part:
            return None
        parts += part
    return parts


def answer(connection):
    """The answer at a connection, or none if the server has closed it."""
    try:
        head = read(connection, 16)
        if head is None:
            return None
        body = read(connection, struct.unpack("<i", head[:4])[0] - 16)
        return bson.decode(body[5:])
    except ConnectionResetError:
        return None


def connect(served, number):
    """Opens connections, of which each asks for the state of the server. Returns the answered ones."""
    connections = []
    for at in range(number):
        connection = socket.create_connection(("127.0.0.1", served.port), timeout=60)
        try:
            connection.sendall(hello(at))
        except (BrokenPipeError, ConnectionResetError):
            # It was closed at once, as is seen when its answer is read.
            pass
        connections.append(connection)
    answers = [(connection, answer(connection)) for connection in connections]
    for connection, document in answers:
        if document is None:
            connection.close()
        else:
            assert document["ok"] == 1, document
    return [connection for connection, document in answers if document is not None]


def memory(served):
    """The bytes of memory of the server."""
    with open(f"/proc/{served.process.pid}/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def work(served):
    """What a client does beside the others. Returns the seconds of a write and a read."""
    with MongoClient("127.0.0.1", served.port, directConnection=True) as client:
        notes = client[next(iter(served.databases))].crowd
        begun = time.monotonic()
        rounds = 100
        for at in range(rounds):
            inserted = notes.insert_one({"at": at}).inserted_id
            assert notes.find_one({"_id": inserted}) == {"_id": inserted, "at": at}
        return (time.monotonic() - begun) / rounds


def main():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    number = min(int(os.environ.get("CONNECTIONS", "10000")), most - 200)
    with tempfile.TemporaryDirectory() as folder:
        served = Served(sys.argv[1], folder, "--connections", str(number + 100))
        alone, before = work(served), memory(served)
        connections = connect(served, number)
        assert len(connections) == number, f"{len(connections)} of {number} connections were answered"
        grown = memory(served) - before
        assert grown < number * MOST_BYTES_OF_A_CONNECTION, f"{grown} bytes for {number} connections"
        beside = work(served)
        for connection in connections:
            connection.close()
        print(
            f"{number} connections at a time: {grown // number} bytes of each; a write and a read take {beside * 1000:.1f} ms beside them, "
            f"and {alone * 1000:.1f} ms alone"
        )
        served.end()
    with tempfile.TemporaryDirectory() as folder:
        served = Served(sys.argv[1], folder)
        connections = connect(served, number)
        assert len(connections) == DEFAULT_LIMIT, f"{len(connections)} connections were answered, and not {DEFAULT_LIMIT}"
        for connection in connections:
            connection.close()
        # Their places are free again.
        work(served)
        served.end()
        print(f"{number - DEFAULT_LIMIT} of {number} connections were closed, since the server permits {DEFAULT_LIMIT}")


main()
