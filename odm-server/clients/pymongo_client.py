"""Writes to a served shop with pymongo: `python pymongo_client.py URI`. WRITES is the number of random writes of each of 8 threads.

The server audits the shop in the end, which must find nothing wrong.
"""

import datetime
import os
import random
import sys
import threading

from bson import Decimal128, Int64
from pymongo import DeleteOne, InsertOne, MongoClient, ReturnDocument, UpdateOne, errors

URI = sys.argv[1]
WRITES = int(os.environ.get("WRITES", "150"))


def review(id, product):
    published = datetime.datetime(2026, 1, 1 + id % 28)
    return {"_id": Int64(id), "product": Int64(product), "stars": id % 6, "text": f"text {id}", "published": published}


def check_results(client):
    shop = client.shop
    written = shop.parts.bulk_write([
        UpdateOne({"_id": 1}, {"$inc": {"qty": Int64(1)}}),
        InsertOne({"_id": Int64(50), "name": "rivet", "qty": Int64(1), "price": 1.0, "tags": []}),
        UpdateOne({"_id": Int64(51)}, {"$set": {"name": "peg", "qty": Int64(1), "price": 1.0, "tags": []}}, upsert=True),
        DeleteOne({"_id": 50}),
    ])
    assert (written.inserted_count, written.upserted_ids, written.deleted_count) == (1, {2: 51}, 1), written
    nut = shop.parts.find_one_and_update({"name": "nut"}, {"$inc": {"qty": Int64(5)}}, return_document=ReturnDocument.AFTER)
    assert nut["qty"] == 10, nut
    pipeline = [
        {"$lookup": {"from": "products", "localField": "product", "foreignField": "_id", "as": "of"}},
        {"$unwind": "$of"},
        {"$group": {"_id": "$of.name", "n": {"$sum": 1}}},
        {"$sort": {"_id": 1}},
    ]
    counts = {product["name"]: product["review_count"] for product in shop.products.find() if product["review_count"]}
    assert {row["_id"]: row["n"] for row in shop.reviews.aggregate(pipeline)} == counts
    many = client.shop.numbers
    many.insert_many({"_id": n} for n in range(5000))
    assert [row["_id"] for row in many.find(batch_size=7).sort("_id", -1).limit(500)] == list(range(4999, 4499, -1))


def check_changes(client):
    shop = client.shop
    with shop.watch([{"$match": {"operationType": {"$in": ["insert", "update"]}}}]) as changes:
        shop.reviews.insert_one(review(901, 2))
        inserted, counted = changes.next(), changes.next()
    assert (inserted["ns"]["coll"], inserted["fullDocument"]["text"]) == ("reviews", "text 901")
    assert (counted["ns"]["coll"], counted["documentKey"]) == ("products", {"_id": 2})
    assert "review_count" in counted["updateDescription"]["updatedFields"]

    shop.reviews.delete_one({"_id": 901})
    with shop.watch(resume_after=counted["_id"], full_document_before_change="required") as changes:
        assert changes.next()["fullDocumentBeforeChange"]["text"] == "text 901"

    with client.watch(max_await_time_ms=50) as changes:
        assert changes.try_next() is None and changes.resume_token


def check_refusals(shop):
    def refused(write, text):
        try:
            write()
        except errors.OperationFailure as error:
            assert text in str(error.details), error.details
        else:
            raise AssertionError(text)

    refused(lambda: shop.products.update_one({"_id": 1}, {"$set": {"review_count": 5}}), "derived field")
    refused(lambda: shop.reviews.insert_one(review(900, 77)), "dangling reference")
    refused(lambda: shop.parts.delete_one({"_id": 1}), "restricted")
    refused(lambda: shop.parts.update_one({"_id": 1}, {"$set": {"qty": "many"}}), "qty")
    refused(lambda: shop.parts.insert_one({"_id": Int64(9), "name": "nut", "qty": Int64(1), "price": 1.0, "tags": []}), "E11000")
    refused(lambda: shop.parts.drop(), "database `shop`")
    refused(lambda: list(shop.parts.find().hint("name_1")), "hint")


def check_transactions(client):
    counters = client.shop.counters
    counters.insert_one({"_id": 1, "n": 0})

    def work():
        for _ in range(20):
            with client.start_session() as session:
                def increment(session):
                    number = counters.find_one({"_id": 1}, session=session)["n"]
                    counters.update_one({"_id": 1}, {"$set": {"n": number + 1}}, session=session)

                session.with_transaction(increment)

    run_all(work for _ in range(8))
    assert counters.find_one()["n"] == 160, counters.find_one()


LIES = [
    {"$set": {"review_count": Int64(99)}},
    {"$push": {"reviews": {"stars": 1, "text": "a lie"}}},
    {"$unset": {"reviews": 1}},
    {"$inc": {"version": Int64(1)}},
    [{"$set": {"review_count": {"$add": ["$review_count", 1]}}}],
]


def random_writes(client, seed):
    chance = random.Random(seed)
    shop = client.shop
    products = [1, 2, 3, 77]
    for _ in range(WRITES):
        id, product = chance.randrange(1000, 1040), chance.choice(products)
        writes = [
            lambda: shop.reviews.insert_one(review(id, product)),
            lambda: shop.reviews.update_one({"_id": id}, {"$set": {"product": Int64(product)}}),
            lambda: shop.reviews.update_many({"stars": chance.randrange(6)}, {"$inc": {"stars": 1}}),
            lambda: shop.reviews.update_many({"_id": {"$gt": id}}, [{"$set": {"stars": {"$mod": ["$stars", 5]}}}]),
            lambda: shop.reviews.replace_one({"_id": id}, review(id, product), upsert=True),
            lambda: shop.reviews.delete_one({"_id": id}),
            lambda: shop.reviews.find_one_and_delete({"product": product}, sort=[("published", -1)]),
            lambda: shop.reviews.insert_many([review(id, product), review(id + 1, product)], ordered=False),
            lambda: shop.products.update_one({"_id": product}, {"$set": {"name": f"name {id}"}}),
            lambda: shop.products.update_one({"_id": product}, chance.choice(LIES)),
            lambda: shop.products.replace_one({"_id": product}, {"name": "new", "price": {"value": 1.0, "currency": "EUR"}, "names": {}, "parts": [], "review_count": Int64(77)}),
            lambda: shop.products.update_one({"_id": product}, {"$set": {"price.value": Decimal128("1.5")}}),
            lambda: shop.products.update_one({"_id": product}, {"$rename": {"name": "other"}}),
            lambda: shop.products.update_one({"_id": product}, {"$addToSet": {"parts": Int64(chance.randrange(1, 5))}}),
            lambda: shop.parts.update_many({}, {"$mul": {"price": 1.01}, "$push": {"tags": {"$each": ["t"], "$slice": -3}}}),
        ]
        try:
            chance.choice(writes)()
        except errors.PyMongoError as error:
            assert not isinstance(error, errors.ConnectionFailure), error


def run_all(works):
    failed = []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


client = MongoClient(URI)
check_results(client)
check_changes(client)
check_refusals(client.shop)
check_transactions(client)
run_all((lambda seed=seed: random_writes(MongoClient(URI), seed)) for seed in range(8))
print(f"pymongo: {8 * WRITES} random writes; {client.shop.reviews.count_documents({})} reviews are left")
