//! Collations: plans of queries, and indexes.

use std::fs;

use bson::{Document, doc};
use odm_mql::key::Types;
use odm_store::{CollectionSpec, ErrorKind, Explain, Find, IndexSpec, Reader, Result, Store};

use super::support::*;
use crate::{
    Embedded,
    disk::Disk,
    engine::Engine,
    layout::{META, Tree},
    schema::{Collection, Index, RECORD, Schema},
    uses::Uses,
};

async fn plan(reader: &dyn Reader, find: Find) -> Explain {
    reader.explain(&find).await.expect("a plan")
}

#[test]
fn an_index_of_bytes_serves_a_collation_for_what_is_no_text() {
    block_on(async {
        let store = things(vec![
            index("by_name", &[("name", 1)]),
            index("by_n", &[("n", 1)]),
        ])
        .await;
        let documents = (0..100).map(|i| {
            let name = ["ann", "Ann", "bob"][i as usize % 3];
            doc! { "_id": i, "name": name, "n": i }
        });
        insert(&store, documents.collect())
            .await
            .expect("an insert");
        let reader = store.reader().expect("an open store");
        let english = collation(2);
        let with = |document| Find {
            filter: filter(document).collated(Some(&english)),
            ..find_all()
        };
        let by_name = with(doc! { "name": "ANN" });
        assert_eq!(plan(&*reader, by_name.clone()).await.index, None);
        assert_eq!(found(&*reader, &by_name).await.len(), 67);
        let by_n = plan(&*reader, with(doc! { "n": { "$gte": 10, "$lt": 20 } })).await;
        assert_eq!(
            (by_n.index.as_deref(), by_n.cost.documents_examined),
            (Some("by_n"), 10)
        );
        // Of values that are no texts an index gives the order in any collation.
        let ordered = |filter, keys| Find {
            sort: sort(keys).collated(Some(&english)),
            limit: Some(3),
            ..with(filter)
        };
        let by_n = plan(
            &*reader,
            ordered(doc! { "n": { "$gt": 10 } }, doc! { "n": -1 }),
        )
        .await;
        assert!(by_n.sorted_by_index, "{by_n:?}");
        let unknown = plan(&*reader, ordered(doc! {}, doc! { "n": -1 })).await;
        assert!(!unknown.sorted_by_index, "{unknown:?}");
        let by_id = plan(&*reader, ordered(doc! {}, doc! { "_id": 1 })).await;
        assert!(!by_id.sorted_by_index, "{by_id:?}");
    });
}

#[test]
fn an_index_with_a_collation_answers_and_orders_queries_with_the_same_one() {
    block_on(async {
        let store = things(vec![collated(index("by_name", &[("name", 1)]), 2)]).await;
        let documents = (0..100).map(|i| {
            let name = ["ann", "Ann", "bob", "Bob", "eve"][i as usize % 5];
            doc! { "_id": i, "name": name }
        });
        insert(&store, documents.collect())
            .await
            .expect("an insert");
        let reader = store.reader().expect("an open store");
        let of = |strength| {
            let collation = collation(strength);
            Find {
                filter: filter(doc! { "name": { "$gte": "ANN", "$lt": "BOB" } })
                    .collated(Some(&collation)),
                sort: sort(doc! { "name": 1 }).collated(Some(&collation)),
                ..find_all()
            }
        };
        let same = plan(&*reader, of(2)).await;
        assert_eq!(same.index.as_deref(), Some("by_name"));
        assert!(
            same.sorted_by_index && same.cost.documents_examined == 40,
            "{same:?}"
        );
        let (count, cost) = reader.count(&of(2)).await.expect("a count");
        assert_eq!((count, cost.documents_examined), (40, 0));
        assert_eq!(plan(&*reader, of(1)).await.index, None);
        let plain = Find {
            filter: filter(doc! { "name": "ann" }),
            ..find_all()
        };
        assert_eq!(plan(&*reader, plain).await.index, None);
    });
}

#[test]
fn a_unique_index_with_a_collation_takes_equal_texts_once() {
    block_on(async {
        let store = things(vec![collated(unique("by_name", &[("name", 1)]), 2)]).await;
        let person = |id: i32, name: &str| vec![doc! { "_id": id, "name": name }];
        insert(&store, person(1, "Ann")).await.expect("an insert");
        let error = insert(&store, person(2, "ANN")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DuplicateKey);
        assert!(error.to_string().contains("`name` = \"ANN\""), "{error}");
        insert(&store, person(2, "Änn")).await.expect("an insert");
        store.check_integrity().await.expect("sound indexes");
    });
}

/// A closed store of documents with one index, which another version of the rules has made: it has other entries, and perhaps another
/// strength.
async fn of_other_rules(spec: IndexSpec, names: &[&str], strength: i32) -> Disk {
    let disk = Disk::default();
    let store = open(&disk).await.expect("a store");
    let made = store.ensure(&[collection("things", vec![spec])]).await;
    made.expect("an index");
    let documents = (0..)
        .zip(names)
        .map(|(id, name)| doc! { "_id": id, "name": name, "text": "x".repeat(200) });
    let inserted = insert(&store, documents.collect()).await;
    inserted.expect("an insert");
    store.close().await.expect("a close");
    let mut engine = Engine::open(disk.file(), "test".into(), 1 << 20).expect("an engine");
    let record = {
        let base = engine.newest().expect("a state");
        let record = base.get(META, RECORD).expect("a record");
        record.expect("a schema").to_vec()
    };
    let mut record: Document = bson::deserialize_from_slice(&record).expect("a document");
    let collections = record.get_array_mut("collections").expect("an array");
    let things = collections[0].as_document_mut().expect("a collection");
    let indexes = things.get_array_mut("indexes").expect("an array");
    let index = indexes[0].as_document_mut().expect("an index");
    let form = index.get_document_mut("collation").expect("a collation");
    form.insert("version", "icu4x-1.0.0");
    form.insert("strength", strength);
    let tree = Tree::try_from(index.get_i64("tree").expect("a number")).expect("a tree");
    let record = bson::serialize_to_vec(&record).expect("a record");
    let changes = [
        (META, RECORD, Some(&*record)),
        (tree, b"other".as_slice(), Some(b"key".as_slice())),
    ];
    engine.commit(changes.into_iter(), true).expect("a commit");
    drop(engine);
    disk.after_exit()
}

async fn open(disk: &Disk) -> Result<Embedded> {
    Embedded::builder().backend(disk.clone()).await
}

fn by_name(name: &str) -> Find {
    Find {
        filter: filter(doc! { "name": name }).collated(Some(&collation(2))),
        ..find_all()
    }
}

#[test]
fn an_index_of_other_rules_is_built_anew_when_the_store_is_opened_whatever_fails_meanwhile() {
    block_on(async {
        let names = ["ann", "Ann", "bob"].repeat(40);
        let stored = of_other_rules(collated(index("by_name", &[("name", 1)]), 2), &names, 2).await;
        let check = async |disk: &Disk| {
            let store = open(disk).await.expect("a store");
            store.check().await.expect("sound indexes");
            let reader = store.reader().expect("an open store");
            let explained = plan(&*reader, by_name("ANN")).await;
            assert_eq!(explained.index.as_deref(), Some("by_name"));
            assert_eq!(found(&*reader, &by_name("ANN")).await.len(), 80);
            assert_eq!(without_garbage(&store).indexes().count(), 1);
            store.close().await.expect("a close");
        };
        let disk = stored.after_exit();
        check(&disk).await;
        let before = disk.operations();
        check(&disk).await;
        // Opening it again builds nothing.
        let after = disk.operations();
        let disk = stored.after_exit();
        check(&disk).await;
        let operations = disk.operations();
        assert!(operations > after - before, "{operations} {before} {after}");
        let mut failed = 0;
        for at in 0..operations {
            let disk = stored.after_exit();
            disk.fail_after(at);
            if let Ok(store) = open(&disk).await {
                let _ = store.close().await;
            } else {
                failed += 1;
            }
            check(&disk.after_exit()).await;
            check(&disk.after_power_loss()).await;
            check(&disk.after_partial_loss(at as u64)).await;
        }
        assert!(failed > 5, "{failed}");
    });
}

#[test]
fn a_unique_index_with_equal_texts_by_the_present_rules_is_named_and_nothing_is_lost() {
    block_on(async {
        let spec = collated(unique("by_name", &[("name", 1)]), 3);
        let stored = of_other_rules(spec, &["Ann", "bob", "ANN"], 2).await;
        for _ in 0..2 {
            let error = open(&stored).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::DuplicateKey);
            let location = error.location().expect("a location");
            assert_eq!(location.index.as_deref(), Some("by_name"));
            for part in [
                "cannot open `test`",
                "`name` = \"ANN\"",
                "`by_name`",
                "drop the index",
            ] {
                assert!(error.to_string().contains(part), "{part}: {error}");
            }
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        fs::write(&path, stored.after_exit().bytes()).expect("a file");
        let store = Embedded::open_read_only(&path).await.expect("a store");
        let all = found(&*store.reader().expect("an open store"), &find_all()).await;
        assert_eq!(all.len(), 3);
    });
}

#[test]
fn a_store_that_is_read_only_answers_without_the_index_of_other_rules() {
    block_on(async {
        let spec = collated(index("by_name", &[("name", 1)]), 2);
        let stored = of_other_rules(spec.clone(), &["Ann", "bob", "ANN"], 2).await;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        fs::write(&path, stored.bytes()).expect("a file");
        let store = Embedded::open_read_only(&path).await.expect("a store");
        store.check_integrity().await.expect("sound documents");
        let reader = store.reader().expect("an open store");
        assert_eq!(plan(&*reader, by_name("ann")).await.index, None);
        assert_eq!(found(&*reader, &by_name("ann")).await.len(), 2);
        let listed = store.collections().await.expect("the collections");
        assert_eq!(listed, [collection("things", vec![spec])]);
    });
}

#[test]
fn a_store_of_format_5_has_an_index_with_a_collation_and_the_version_of_its_rules() {
    let mut schema = Schema::default();
    let mut index = Index {
        build: None,
        types: vec![Types::ANY],
        ..Index::new(2, collated(index("by_name", &[("name", 1)]), 2))
    };
    for other_rules in [None, Some("icu4x-1.0.0".to_owned())] {
        index.other_rules.clone_from(&other_rules);
        schema.set(Collection {
            name: "things".to_owned(),
            tree: 1,
            indexes: vec![index.clone()],
            collation: None,
            uses: Uses::default(),
        });
        assert_eq!(schema.format(), 5);
        let record = schema.encode().expect("a record");
        let read = Schema::decode(&record).expect("a schema");
        assert_eq!(read.specs(), schema.specs());
        let (_, read) = read.indexes().next().expect("an index");
        assert_eq!(read.other_rules, other_rules);
    }
}

#[test]
fn a_collection_has_its_default_collation_after_it_was_opened_again() {
    block_on(async {
        let disk = Disk::default();
        let store = open(&disk).await.expect("a store");
        let spec = CollectionSpec {
            collation: Some(collation(1)),
            ..collection("things", vec![])
        };
        let made = store.ensure(std::slice::from_ref(&spec)).await;
        made.expect("a collection");
        assert_eq!(without_garbage(&store).format(), 5);
        for disk in [disk.after_power_loss(), {
            store.close().await.expect("a close");
            disk
        }] {
            let store = open(&disk).await.expect("a store");
            let reader = store.reader().expect("an open store");
            let default = reader.default_collation("things").await.expect("a read");
            assert_eq!(default, spec.collation);
            let none = reader.default_collation("others").await.expect("a read");
            assert_eq!(none, None);
            let listed = store.collections().await.expect("the collections");
            assert_eq!(listed, std::slice::from_ref(&spec));
        }
    });
}

#[test]
fn an_index_with_a_collation_neither_ignores_case_nor_has_a_filter_that_compares_texts() {
    block_on(async {
        let collated = |index| odm_store::IndexSpec {
            collation: Some(collation(2)),
            ..index
        };
        let by_name = || index("by_name", &[("name", 1)]);
        let of_text = || partial(by_name(), doc! { "state": { "$gte": "open" } });
        let of_number = || partial(by_name(), doc! { "state": { "$gte": 1 } });
        for (refused, why) in [
            (
                collated(folded(by_name())),
                "ignores case beside a collation",
            ),
            (collated(of_text()), "compares texts"),
        ] {
            let store = crate::Embedded::memory().await.expect("a store");
            let error = store.ensure(&[collection("things", vec![refused])]).await;
            let error = error.expect_err("it is refused");
            assert_eq!(error.kind(), ErrorKind::Schema);
            assert!(error.to_string().contains(why), "{error}");
        }
        for allowed in [folded(of_text()), collated(of_number())] {
            things(vec![allowed]).await;
        }
    });
}
