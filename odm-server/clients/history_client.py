"""Carries out writes that come as lines of extended JSON with pymongo, and prints the outcome of each: `python history_client.py URI`."""

import sys

from bson import json_util
from pymongo import MongoClient, errors

client = MongoClient(sys.argv[1])
options = json_util.CANONICAL_JSON_OPTIONS


def write(database, collection, do, id, document):
    collection, named = client[database][collection], {"_id": id}
    if do == "insert":
        collection.insert_one(document)
        return True
    if do == "replace":
        return collection.replace_one(named, document).matched_count == 1
    if do == "upsert":
        collection.replace_one(named, document, upsert=True)
        return True
    if do == "update":
        return collection.update_one(named, document).matched_count == 1
    assert do == "delete", do
    return collection.delete_one(named).deleted_count == 1


for line in sys.stdin:
    try:
        print("done" if write(*json_util.loads(line, json_options=options).values()) else "missing")
    except errors.OperationFailure as error:
        print(error.code, error.details["errmsg"])
