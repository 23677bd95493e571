//! The format of the file, read without the store, as `docs/format.md` describes it.

use std::{collections::BTreeMap, path::Path};

use bson::{Bson, Document, doc, oid::ObjectId};
use odm_store::{ErrorKind, Store};
use redb::{ReadableTable, TableHandle};

use super::support::*;
use crate::Embedded;

/// All keys and values of a file, by the names of the tables.
fn contents(path: &Path) -> BTreeMap<(String, Vec<u8>), Vec<u8>> {
    use redb::ReadableDatabase;

    let database = redb::Database::open(path).expect("a database");
    let transaction = database.begin_read().expect("a transaction");
    let mut contents = BTreeMap::new();
    for table in transaction.list_tables().expect("the tables") {
        let tree = table.name().to_owned();
        let table = redb::TableDefinition::<&[u8], &[u8]>::new(&tree);
        let table = transaction.open_table(table).expect("a table");
        for entry in table.iter().expect("the entries") {
            let (key, value) = entry.expect("an entry");
            let key = (tree.clone(), key.value().to_vec());
            contents.insert(key, value.value().to_vec());
        }
    }
    contents
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    let pairs = digits.chunks(2);
    pairs
        .map(|pair| u8::try_from(pair[0] * 16 + pair[1]).expect("a byte"))
        .collect()
}

fn decoded(value: &[u8]) -> Document {
    bson::deserialize_from_slice(value).expect("a document")
}

#[test]
fn a_file_has_the_format_that_is_documented() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        let id = ObjectId::parse_str("0123456789abcdef01234567").expect("an id");
        let one = doc! { "_id": 1, "tags": ["b", "a"], "n": -2.5 };
        let other = doc! { "_id": id, "tags": [], "n": (1_i64 << 53) + 1 };
        {
            let store = Embedded::open(&path).await.expect("a store");
            let indexes = vec![
                index("tags", &[("tags", 1), ("n", -1)]),
                unique("n", &[("n", 1)]),
            ];
            store
                .ensure(&[collection("things", indexes)])
                .await
                .expect("a collection");
            insert(&store, vec![one.clone(), other.clone()])
                .await
                .expect("an insert");
            store.close().await.expect("a close");
        }
        let mut found = contents(&path);
        let mut take = |tree: &str, key: &str| {
            let value = found.remove(&(tree.to_owned(), bytes(key)));
            value.unwrap_or_else(|| panic!("no value for {key} of {tree}"))
        };
        let schema = decoded(&take("0", "636174616c6f67"));
        let format = decoded(&take("0", "666f726d6174"));
        assert_eq!(format, doc! { "format": 6 });
        let mut log = decoded(&take("0", "6c6f67"));
        log.remove("log")
            .expect("the id")
            .as_object_id()
            .expect("an id");
        let last = log.get_i64("generation").expect("a number");
        let at = *log.get_datetime("at").expect("the time of the checkpoint");
        assert_eq!(log, doc! { "generation": last, "closed": true, "at": at });
        let field = |path: &str, descending: bool, multikey: bool, types: i32| doc! { "path": path, "descending": descending, "multikey": multikey, "types": types };
        assert_eq!(
            schema,
            doc! {
                "last_tree": 3_i64,
                "garbage": [],
                "collections": [{
                    "name": "things",
                    "tree": 1_i64,
                    "indexes": [
                        {
                            "name": "tags",
                            "tree": 2_i64,
                            "keys": [field("tags", false, true, 0), field("n", true, false, 0)],
                            "unique": false,
                            "present_only": false,
                        },
                        {
                            "name": "n",
                            "tree": 3_i64,
                            "keys": [field("n", false, false, 0b110)],
                            "unique": true,
                            "present_only": false,
                        },
                    ],
                }],
            }
        );
        // The documents.
        let (one_id, other_id) = ("20 bff0000000000000 00", "48 0123456789abcdef01234567");
        assert_eq!(decoded(&take("1", one_id)), one);
        assert_eq!(decoded(&take("1", other_id)), other);
        // The entries of the index on arrays: -2.5 descending, and 2^53 + 1, whose exact value is
        // 0.9007199254740993 * 10^16.
        let down = "df c004000000000000 ff";
        for tag in ["61", "62"] {
            let value = take("2", &format!("28 {tag} 00 {down} {one_id}"));
            assert_eq!(value, bytes("0000000a"));
        }
        let exact = "20 c340000000000000 01 8010 5b 08 14 5d 37 4b 0a 5e 00";
        let inverted: String = bytes(exact)
            .iter()
            .map(|byte| format!("{:02x}", !byte))
            .collect();
        let value = take("2", &format!("10 {inverted} {other_id}"));
        assert_eq!(value, bytes("0000000d"));
        // The entries of the unique index.
        let value = take("3", "20 3ffbffffffffffff 00");
        assert_eq!(value, bytes(one_id));
        assert_eq!(take("3", exact), bytes(other_id));
        assert_eq!(found, BTreeMap::new(), "nothing else is in the file");
    });
}

#[test]
fn a_store_with_a_partial_index_has_its_filter() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("partial.odm");
        {
            let store = Embedded::open(&path).await.expect("a store");
            let some = partial(unique("t", &[("t", 1)]), doc! { "n": { "$gte": 2 } });
            let ensured = store.ensure(&[collection("things", vec![some])]).await;
            ensured.expect("a collection");
            let documents = (1..4).map(|n| doc! { "_id": n, "n": n, "t": n });
            insert(&store, documents.collect())
                .await
                .expect("an insert");
            store.close().await.expect("a close");
        }
        let found = contents(&path);
        let value = |tree: &str, key: &str| &found[&(tree.to_owned(), bytes(key))];
        assert_eq!(decoded(value("0", "666f726d6174")), doc! { "format": 6 });
        let schema = decoded(value("0", "636174616c6f67"));
        let form = bson::serialize_to_vec(&doc! { "n": { "$gte": 2 } }).expect("bytes");
        let filter = Bson::Binary(bson::Binary {
            subtype: bson::spec::BinarySubtype::Generic,
            bytes: form,
        });
        let collections = schema.get_array("collections").expect("collections");
        let index = &collections[0]
            .as_document()
            .expect("one")
            .get_array("indexes")
            .expect("indexes")[0];
        assert_eq!(
            index.as_document().expect("one").get("filter"),
            Some(&filter)
        );
        let entries = found.keys().filter(|(tree, _)| tree == "2");
        assert_eq!(entries.count(), 2);
        let store = Embedded::open(&path).await.expect("a store of format 6");
        store.check_integrity().await.expect("sound indexes");
        let error = insert(&store, vec![doc! { "_id": 9, "n": 9, "t": 3 }]).await;
        assert_eq!(
            error.expect_err("it is taken").kind(),
            ErrorKind::DuplicateKey
        );
    });
}

#[test]
fn a_store_with_an_index_that_ignores_case_has_folded_texts() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("case.odm");
        {
            let store = Embedded::open(&path).await.expect("a store");
            store
                .ensure(&[collection("things", vec![folded(index("t", &[("t", -1)]))])])
                .await
                .expect("a collection");
            insert(&store, vec![doc! { "_id": "A", "t": "ÄB" }])
                .await
                .expect("an insert");
            store.close().await.expect("a close");
        }
        let found = contents(&path);
        let value = |tree: &str, key: &str| &found[&(tree.to_owned(), bytes(key))];
        assert_eq!(decoded(value("0", "666f726d6174")), doc! { "format": 6 });
        let schema = decoded(value("0", "636174616c6f67"));
        assert!(
            schema.to_string().contains(r#""case_insensitive": true"#),
            "{schema}"
        );
        // All bits of `28 c3 a4 62 00` are inverted, and the `_id` is unchanged.
        let _ = value("2", "d7 3c 5b 9d ff 28 41 00");
        let store = Embedded::open(&path).await.expect("a store of format 6");
        store.check_integrity().await.expect("a sound store");
    });
}
