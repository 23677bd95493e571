"""Measures pymongo on one collection: `python client.py URI DATABASE SECONDS FIRST_ID`. Prints the operations of each kind in a
second."""

import itertools
import sys
import time

from bson import Int64
from pymongo import MongoClient

uri, database, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
things = MongoClient(uri)[database].things
documents = 10_000
new = itertools.count(int(sys.argv[4]))


def thing(id):
    return {"_id": Int64(id), "name": f"thing {id}", "n": Int64(id % 1000), "tags": ["red", "steel"], "text": "x" * 100}


def update(n):
    things.update_one({"_id": n % documents}, {"$inc": {"n": Int64(1)}})


def insert(n):
    things.insert_one(thing(next(new)))


def insert_many(n):
    things.insert_many([thing(next(new)) for _ in range(1000)])


def find(n):
    assert things.find_one({"_id": n % documents})


def find_many(n):
    from_id = n % (documents - 100)
    assert len(list(things.find({"_id": {"$gte": from_id}}).sort("_id").limit(100))) == 100


for operation in [find, find_many, update, insert, insert_many]:
    done, begun = 0, time.monotonic()
    while time.monotonic() - begun < seconds:
        operation(done * 7919)
        done += 1
    print(done / (time.monotonic() - begun), flush=True)
