"""Writes to the served systems of the guides with pymongo, while connections are cut and the server is killed: `python crash_client.py SERVED`.

8 threads write, each by a connection of its own. WRITES is the number of writes of each, KILLS that of kills, and SEED makes other writes.
After each kill, and every 1,000 writes, the server audits all databases. In the end everything that was acknowledged must be there, once.
"""

import datetime
import os
import random
import sys
import tempfile
import threading
import time

from bson import Decimal128, Int64, ObjectId
from pymongo import DeleteMany, DeleteOne, InsertOne, MongoClient, ReplaceOne, ReturnDocument, UpdateMany, UpdateOne, errors

from proxy import Proxy
from served import Served

WRITES = int(os.environ.get("WRITES", "75"))
KILLS = int(os.environ.get("KILLS", "2"))
SEED = int(os.environ.get("SEED", "1"))
THREADS = 8
POOL = 12
# The field of a movie that `find` does not return.
COLD = "details"
# Errors of a server that has a fault.
FAULTS = {1, 8, 22}


def places(value, path=""):
    """The paths to all values in a document, with positions in arrays."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    for name, element in inner:
        place = f"{path}{name}"
        yield place, element
        yield from places(element, f"{place}.")


def without_positions(place):
    return ".".join(name for name in place.split(".") if not name.isdigit())


class Shapes:
    """Random documents, updates and filters, made of the documents that were there in the beginning."""

    def __init__(self, chance, databases, templates):
        self.chance, self.databases, self.templates = chance, databases, templates

    def other(self, value):
        """Another value, most often of the same type."""
        chance = self.chance
        if chance.random() < 0.04:
            return chance.choice([None, True, "other", 1.5, Int64(7), [], {"a": 1}, Decimal128("0.5"), float("nan"), b"bytes"])
        number = chance.randrange(POOL)
        if isinstance(value, bool):
            return not value
        if isinstance(value, ObjectId):
            return ObjectId(bytes([number] * 12))
        if isinstance(value, str):
            return f"{value.split(' ')[0]} {number}"
        if isinstance(value, dict):
            return {name: self.other(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.other(chance.choice(value)) for _ in range(chance.randrange(4))] if value else []
        if isinstance(value, datetime.datetime):
            return value.replace(microsecond=1000 * number)
        if isinstance(value, Decimal128):
            return Decimal128(f"{number}.50")
        return value if value is None else type(value)(number)

    def document(self, template):
        """A document with some other values. Those of derived fields are lies, as those of the template may be by now."""
        document = dict(template)
        for name in self.chance.sample(list(document), self.chance.randrange(1, len(document) + 1)):
            document[name] = self.other(document[name])
        if self.chance.random() < 0.1:
            del document[self.chance.choice(list(document))]
        # The library stores a document without its cold part, which an audit finds.
        if COLD in template and not isinstance(document.get(COLD), dict):
            document[COLD] = template[COLD]
        if self.chance.random() < 0.05:
            document["of_nobody"] = self.other("text 1")
        # The own documents of threads have ids that no random write names.
        document["_id"] = self.id(template)
        return document

    def id(self, template):
        id = template["_id"]
        number = self.chance.randrange(POOL)
        return ObjectId(bytes([number] * 12)) if isinstance(id, ObjectId) else f"id {number}" if isinstance(id, str) else number

    def filter(self, template):
        """Names one document, or some by one of their values. No own document of a thread matches."""
        if self.chance.random() < 0.6:
            return {"_id": self.id(template)}
        place, value = self.chance.choice(list(places(template)))
        ids = {"_id": {"$in": [self.id(template) for _ in range(5)]}}
        return {"$and": [ids, {without_positions(place): self.chance.choice([self.other(value), {"$exists": True}, {"$ne": None}])}]}

    def update(self, template):
        """An update of any operator, the paths that it names, and its array filters."""
        chance = self.chance
        if chance.random() < 0.1:
            return self.pipeline(template)
        update, named, filters = {}, [], None
        for _ in range(chance.randrange(1, 3)):
            place, value = chance.choice(list(places(template)))
            if chance.random() < 0.3:
                place = ".".join(chance.choice(["$[]", name]) if name.isdigit() else name for name in place.split("."))
            item = chance.choice(value) if isinstance(value, list) and value else self.other("text 1")
            items = [self.other(item) for _ in range(chance.randrange(3))]
            each = {"$each": items} | chance.choice([{}, {"$slice": -3}, {"$position": 0}, {"$sort": 1}, {"$sort": -1, "$slice": 2}])
            wanted = chance.choice([item, {"$gte": item}]) if not isinstance(item, dict) else {name: item[name] for name in list(item)[:1]}
            if isinstance(value, list) and value and filters is None and chance.random() < 0.2:
                filters = [{"f.street": "text 3"} if isinstance(value[0], dict) else {"f": value[0]}]
                operator, place, argument = "$set", f"{place}.$[f]", self.other(value[0])
            elif isinstance(value, list):
                operator, argument = chance.choice([
                    ("$push", items), ("$push", each), ("$push", self.other(item)), ("$addToSet", self.other(item)),
                    ("$addToSet", {"$each": items}), ("$pull", wanted), ("$pullAll", [item] + items), ("$pop", chance.choice([1, -1])),
                    ("$set", self.other(value)),
                ])
            elif isinstance(value, (int, float, Decimal128)) and not isinstance(value, bool):
                bit = {chance.choice(["and", "or", "xor"]): type(value)(5)} if isinstance(value, int) else {"or": 1}
                operator, argument = chance.choice([
                    ("$inc", self.other(value)), ("$mul", self.other(value)), ("$min", self.other(value)), ("$max", self.other(value)),
                    ("$bit", bit), ("$set", self.other(value)),
                ])
            elif isinstance(value, datetime.datetime):
                operator, argument = chance.choice([
                    ("$currentDate", True), ("$currentDate", {"$type": "date"}), ("$max", self.other(value)), ("$set", self.other(value)),
                ])
            else:
                operator, argument = chance.choice([
                    ("$set", self.other(value)), ("$set", self.other(value)), ("$min", self.other(value)), ("$max", self.other(value)),
                    ("$setOnInsert", self.other(value)), ("$unset", 1), ("$rename", "of_nobody"),
                ])
            update.setdefault(operator, {})[place] = argument
            named.append(without_positions(place.replace(".$[]", "").replace(".$[f]", "")))
        return update, named, filters

    def pipeline(self, template):
        name = self.chance.choice(list(template))
        stage = self.chance.choice([
            {"$set": {name: {"$literal": self.other(template[name])}}},
            {"$addFields": {name: {"$ifNull": ["$of_nobody", "$" + name]}}},
            {"$set": {name: {"$cond": [{"$isNumber": "$" + name}, {"$add": ["$" + name, 1]}, "$" + name]}}},
            {"$unset": name},
            {"$replaceWith": {"$mergeObjects": ["$$ROOT", {"of_nobody": "text 1"}]}},
            {"$project": {"of_nobody": 0}},
        ])
        fields = stage.get("$set") or stage.get("$addFields") or ({name: 1} if "$unset" in stage else {})
        return [stage], list(fields), None


class Acknowledged:
    """A sum of changes of one number: those that were acknowledged, and those of which nothing is known."""

    def __init__(self):
        self.known = self.unknown = 0

    def check(self, what, value):
        assert self.known <= value <= self.known + self.unknown, (what, value, self.known, self.unknown)


class Writer:
    """A thread that writes."""

    def __init__(self, number, proxy, databases, templates):
        self.chance = random.Random(SEED * 1000 + number)
        self.client = MongoClient("127.0.0.1", proxy.port, directConnection=True, maxPoolSize=1, serverSelectionTimeoutMS=60_000)
        self.shapes = Shapes(self.chance, databases, templates)
        self.databases, self.templates, self.number = databases, templates, number
        self.done = self.refused = self.unknown = 0
        self.inserted = []
        self.sums = {name: Acknowledged() for name in ("update", "modify", "bulk", "transaction", "upsert")}
        self.stock = {name: ObjectId() for name in ("update", "modify")}

    def own(self, name):
        """The collection and the `_id` of an own document. Those of `parts` belong to a model."""
        if name in self.stock:
            return self.client.catalog.parts, self.stock[name]
        return self.client.reviews.counters, f"{name} {self.number}"

    def has_begun(self):
        for name, id in self.stock.items():
            part = {"_id": id, "partno": f"{name} of {self.number}", "name": "own", "qty": 0, "cost": 1.0, "price": 1.0}
            try:
                self.client.catalog.parts.update_one({"_id": id}, {"$setOnInsert": part}, upsert=True)
            except errors.ConnectionFailure:
                return False
        return True

    def run(self):
        while not self.has_begun():
            pass
        for _ in range(WRITES):
            work = self.random_write if self.chance.random() < 0.75 else self.own_write
            try:
                work()
                self.done += 1
            except errors.ConnectionFailure:
                self.unknown += 1
            except (errors.OperationFailure, errors.WriteError) as error:
                assert not self.codes(error) & FAULTS, error.details
                self.refused += 1

    @staticmethod
    def codes(error):
        return {error.code} | {each["code"] for each in (error.details or {}).get("writeErrors", [])}

    def count(self, name, by, write):
        """Carries out a write that adds to a sum. It must not be refused."""
        try:
            result = write()
        except errors.ConnectionFailure:
            self.sums[name].unknown += by
            raise
        except errors.OperationFailure as error:
            raise AssertionError((name, error.details)) from error
        self.sums[name].known += by
        return result

    def own_write(self):
        name = self.chance.choice([*self.sums, "insert"])
        if name == "insert":
            return self.insert_tasks()
        collection, id = self.own(name)
        if name == "update":
            done = self.count(name, 1, lambda: collection.update_one({"_id": id}, {"$inc": {"qty": 1}}))
            assert done.modified_count == 1, done
        elif name == "upsert":
            self.count(name, 1, lambda: collection.update_one({"_id": id}, {"$inc": {"n": 1}}, upsert=True))
        elif name == "bulk":
            self.count(name, 3, lambda: collection.bulk_write([UpdateOne({"_id": id}, {"$inc": {"n": 1}}, upsert=True)] * 3))
        elif name == "modify":
            after = ReturnDocument.AFTER
            part = self.count(name, 1, lambda: collection.find_one_and_update({"_id": id}, {"$inc": {"qty": 1}}, return_document=after))
            self.sums[name].check("returned", part["qty"])
        else:
            def both(session):
                for which in ("left", "right"):
                    collection.update_one({"_id": f"{which} {id}"}, {"$inc": {"n": 1}}, upsert=True, session=session)

            with self.client.start_session() as session:
                self.count(name, 1, lambda: session.with_transaction(both))

    def insert_tasks(self):
        tasks = [self.task() for _ in range(3)]
        try:
            self.client.tasks.tasks.insert_many(tasks, ordered=self.chance.random() < 0.5)
        except errors.BulkWriteError as error:
            # A duplicate key would be a write that was carried out twice.
            raise AssertionError(error.details) from error
        self.inserted += [task["_id"] for task in tasks]

    def task(self):
        due = datetime.datetime(2026, 1, 1)
        return {"_id": ObjectId(), "description": f"of {self.number}", "due_date": due, "owner": None}

    def random_write(self):
        chance, shapes = self.chance, self.shapes
        name = chance.choice(list(self.databases))
        of = chance.choice([of for of in self.databases[name] if self.templates[name, of]])
        collection, template = self.client[name][of], chance.choice(self.templates[name, of])
        update, named, filters = shapes.update(template)
        where, document = shapes.filter(template), shapes.document(template)
        upsert = chance.random() < 0.2
        work = chance.choice([
            lambda: collection.insert_one(document),
            lambda: collection.insert_one(dict(template)),
            lambda: collection.insert_many([document, shapes.document(template)], ordered=chance.random() < 0.5),
            lambda: collection.replace_one(where, document, upsert=upsert),
            lambda: collection.delete_one(where),
            lambda: collection.delete_many({"_id": {"$in": [shapes.id(template), shapes.id(template)]}}),
            lambda: collection.find_one_and_delete(where, sort=[("_id", -1)]),
            lambda: collection.find_one_and_replace(where, document, upsert=upsert),
            lambda: self.update(collection, named, lambda: collection.update_one(where, update, upsert, array_filters=filters)),
            lambda: self.update(collection, named, lambda: collection.update_one({"_id": template["_id"]}, update, array_filters=filters)),
            lambda: self.update(collection, named, lambda: collection.update_many(where, update, upsert, array_filters=filters)),
            lambda: self.update(collection, named, lambda: collection.find_one_and_update(where, update, array_filters=filters)),
            lambda: self.positional(collection, template),
            lambda: collection.bulk_write(self.bulk(template, update, where, document, filters), ordered=chance.random() < 0.5),
            lambda: self.transaction(collection, update, where, document, filters),
        ])
        work()

    def update(self, collection, named, write):
        """An update, which must be refused if it names a derived field."""
        derived = self.databases[collection.database.name][collection.name]
        is_lie = any(path == lie or path.startswith(lie + ".") for path in named for lie in derived)
        write()
        assert not is_lie, (collection.full_name, named)

    def positional(self, collection, template):
        """Changes the element of an array that a filter has found."""
        arrays = [(place, value) for place, value in places(template) if isinstance(value, list) and value]
        if arrays:
            place, value = self.chance.choice(arrays)
            where = {"_id": template["_id"], without_positions(place): self.chance.choice(value)}
            update = {"$set": {f"{without_positions(place)}.$": self.shapes.other(self.chance.choice(value))}}
            self.update(collection, [without_positions(place)], lambda: collection.update_one(where, update))

    def bulk(self, template, update, where, document, filters):
        writes = [
            InsertOne(document), UpdateOne(where, update, array_filters=filters), UpdateMany(where, update, array_filters=filters),
            DeleteOne(where), DeleteMany({"_id": self.shapes.id(template)}), ReplaceOne({"_id": document["_id"]}, document, upsert=True),
        ]
        return self.chance.sample(writes, 3)

    def transaction(self, collection, update, where, document, filters):
        with self.client.start_session() as session, session.start_transaction():
            collection.update_one(where, update, array_filters=filters, session=session)
            collection.insert_one(document, session=session)
            if self.chance.random() < 0.2:
                session.abort_transaction()

    def check(self, client):
        self.client.close()
        found = client.tasks.tasks.count_documents({"_id": {"$in": self.inserted}})
        assert found == len(self.inserted), (found, len(self.inserted))
        for name, id in self.stock.items():
            self.sums[name].check(name, client.catalog.parts.find_one({"_id": id})["qty"])
        counters = {row["_id"]: row["n"] for row in client.reviews.counters.find()}
        for name in ("bulk", "upsert"):
            self.sums[name].check(name, counters.get(f"{name} {self.number}", 0))
        left, right = (counters.get(f"{which} transaction {self.number}", 0) for which in ("left", "right"))
        assert left == right, (left, right)
        self.sums["transaction"].check("transaction", left)


def run(served, proxy):
    client = MongoClient("127.0.0.1", served.port, directConnection=True)
    databases = served.databases
    templates = {(name, of): list(client[name][of].find()) for name in databases for of in databases[name]}
    for movie in templates["movies", "movies"]:
        movie[COLD] = client.movies.movie_details.find_one({"movie_id": movie["_id"]}, {"_id": 0, "movie_id": 0})
    client.close()
    writers = [Writer(number, proxy, databases, templates) for number in range(THREADS)]
    failed = []

    def guarded(writer):
        try:
            writer.run()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=guarded, args=(writer,), daemon=True) for writer in writers]
    for thread in threads:
        thread.start()
    chance, kills, audits, down = random.Random(SEED), 0, 0, 0.0
    total = THREADS * WRITES
    while any(thread.is_alive() for thread in threads) and not failed:
        time.sleep(chance.random() * 0.05)
        written = sum(writer.done + writer.refused + writer.unknown for writer in writers)
        if kills < KILLS and written >= total * (kills + 1) // (KILLS + 1):
            begun = time.monotonic()
            served.kill()
            served.start()
            proxy.target = served.port
            kills += 1
            down += time.monotonic() - begun
        elif written >= (audits + 1) * 1000:
            served.audit()
            audits += 1
    if failed:
        raise failed[0]
    client = MongoClient("127.0.0.1", served.port, directConnection=True)
    for writer in writers:
        writer.check(client)
    client.close()
    done, refused, unknown = (sum(getattr(writer, name) for writer in writers) for name in ("done", "refused", "unknown"))
    inserted = sum(len(writer.inserted) for writer in writers)
    known = sum(sum.known for writer in writers for sum in writer.sums.values())
    print(f"pymongo: {done} writes done, {refused} refused, {unknown} unknown, with {proxy.cuts} cuts and {kills} kills"
          f" ({down:.1f} s down); {audits} audits beside them; {known} increments and {inserted} inserts are there, once")


with tempfile.TemporaryDirectory() as folder:
    begun = time.monotonic()
    served = Served(sys.argv[1], folder)
    try:
        run(served, Proxy(served.port, SEED))
        served.end()
    finally:
        served.kill()
    print(f"pymongo: {time.monotonic() - begun:.1f} s")
