//! The result of a unit does not depend on the number of documents that it holds at once.

mod pages;
mod writes;

use std::sync::{Arc, Mutex};

use bson::{Document, RawDocument, RawDocumentBuf, doc};
use odm_embedded::Embedded;
use odm_mql::{Direction, Filter, Sort, Update};
use odm_store::{CollectionSpec, Find, IndexSpec, ReaderExt, Result, Store, TransactionOptions};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use writes::write;

use super::{
    AuditScope, Doc, OnConflict, PlannedChanges, ReturnDocument, ReturnedCheck, Write, WriteChange,
    WriteOutcome, WriteTarget, check,
    pipeline::{self, Work, apply_within},
    plan::planned,
    unit::{Bounds, Unit},
};
use crate::catalog::{
    Along, Cardinality, Catalog, Children, CopyDefinition, CountDefinition, DeclaredCollection,
    DerivedField, Edge, OnDelete, Relations, Split, SubsetDefinition, WriteFields,
};

const COLLECTIONS: [&str; 6] = ["authors", "posts", "comments", "nodes", "bios", "logs"];

fn edge(from: &str, path: &str, to: &str, on_delete: OnDelete) -> Edge {
    Edge {
        from: from.to_owned(),
        path: path.to_owned(),
        to: to.to_owned(),
        cardinality: Cardinality::Optional,
        list: None,
        unchecked: false,
        on_delete,
        inverse: None,
    }
}

fn copy(holder: &str, name: &str, source: &str, value: &str, along: &str) -> DerivedField {
    let along = match along.strip_prefix("by ") {
        Some(path) => Along::Reverse(path.to_owned()),
        None => Along::Local(along.to_owned()),
    };
    DerivedField::from(CopyDefinition {
        holder: holder.to_owned(),
        within: String::new(),
        name: name.to_owned(),
        source: source.to_owned(),
        value: value.to_owned(),
        along,
        frozen: false,
        optional: true,
        deferred: false,
    })
}

fn count(path: &str, child: &str, filter: Document) -> DerivedField {
    let (path, reference) = path.split_once(" by ").unwrap();
    let (parent, path) = path.split_once('.').unwrap();
    DerivedField::from(CountDefinition(Children {
        parent: parent.to_owned(),
        path: path.to_owned(),
        child: child.to_owned(),
        reference: reference.to_owned(),
        filter: Filter::parse(&filter).unwrap().into(),
        deferred: false,
    }))
}

fn subset(path: &str, child: &str, sort: Document, shown: &[&str]) -> DerivedField {
    let (path, reference) = path.split_once(" by ").unwrap();
    let (parent, path) = path.split_once('.').unwrap();
    DerivedField::from(SubsetDefinition {
        parent: parent.to_owned(),
        path: path.to_owned(),
        child: child.to_owned(),
        reference: reference.to_owned(),
        sort: Sort::parse(&sort).unwrap().total(),
        limit: 2,
        shown: Some(shown.iter().map(|&name| name.to_owned()).collect()),
        filter: Default::default(),
        deferred: false,
    })
}

fn catalog() -> Catalog {
    let collections = COLLECTIONS.iter().map(|&name| DeclaredCollection {
        write_fields: WriteFields {
            version: ["authors", "posts", "logs"]
                .contains(&name)
                .then(|| "v".to_owned()),
            ..WriteFields::default()
        },
        ..DeclaredCollection::new(name, name)
    });
    let owner = Edge {
        inverse: Some("owned".to_owned()),
        ..edge("posts", "owner", "authors", OnDelete::Nullify)
    };
    let owned = Edge {
        cardinality: Cardinality::Many,
        list: Some("owned".to_owned()),
        inverse: Some("owner".to_owned()),
        ..edge("authors", "owned", "posts", OnDelete::Pull)
    };
    let unchecked = Edge {
        unchecked: true,
        ..edge("comments", "fan", "authors", OnDelete::Keep)
    };
    let relations = Relations {
        validators: Vec::new(),
        collections: collections.collect(),
        edges: vec![
            edge("posts", "author", "authors", OnDelete::Nullify),
            edge("comments", "post", "posts", OnDelete::Cascade),
            edge("nodes", "parent", "nodes", OnDelete::Cascade),
            edge("bios", "mentor", "authors", OnDelete::Nullify),
            owner,
            owned,
            unchecked,
        ],
        splits: vec![Split {
            hot: "authors".to_owned(),
            path: "bio".to_owned(),
            cold: "bios".to_owned(),
            key: "_id".to_owned(),
            own_id: false,
            optional: true,
        }],
        derived: vec![
            count("authors.posts by author", "posts", doc! {}),
            copy("authors", "talk", "posts", "n", "by author"),
            subset(
                "authors.top by author",
                "posts",
                doc! { "n": -1 },
                &["_id", "title", "n"],
            ),
            copy("bios", "mentor_posts", "authors", "posts", "mentor"),
            copy("posts", "author_name", "authors", "name", "author"),
            copy("posts", "author_posts", "authors", "posts", "author"),
            copy("posts", "owner_name", "authors", "name", "owner"),
            count("posts.n by post", "comments", doc! { "hidden": false }),
            subset(
                "posts.best by post",
                "comments",
                doc! { "s": -1 },
                &["author", "s"],
            ),
            copy("comments", "title", "posts", "title", "post"),
            copy("comments", "author", "posts", "author_name", "post"),
            copy("comments", "fan_posts", "authors", "posts", "fan"),
            count(
                "authors.fans by fan",
                "comments",
                doc! { "author": { "$ne": null } },
            ),
            count("nodes.size by parent", "nodes", doc! {}),
            subset(
                "nodes.largest by parent",
                "nodes",
                doc! { "size": -1 },
                &["name", "size"],
            ),
            copy("nodes", "parent_size", "nodes", "size", "parent"),
            subset(
                "nodes.latest by parent",
                "nodes",
                doc! { "name": 1 },
                &["parent_size"],
            ),
        ],
    };
    Catalog::new(relations, Default::default(), 0).unwrap()
}

/// Unique indexes of fields that references, delete rules and refreshes change, which hold documents back.
fn unique_indexes(collection: &str) -> Vec<IndexSpec> {
    let field = match collection {
        "authors" => "posts",
        "posts" => "author",
        "nodes" => "size",
        _ => return Vec::new(),
    };
    let keys = [field, "_id"].map(|path| (path.to_owned(), Direction::Ascending));
    vec![IndexSpec {
        name: field.to_owned(),
        keys: keys.to_vec(),
        unique: true,
        present_only: false,
        case_insensitive: false,
        collation: None,
        filter: None,
    }]
}

/// An empty store for the catalog.
async fn empty_store(indexes_of: impl Fn(&str) -> Vec<IndexSpec>) -> Embedded {
    let store = Embedded::memory().await.unwrap();
    let specs = COLLECTIONS.map(|name| CollectionSpec {
        name: name.to_owned(),
        indexes: indexes_of(name),
        ..CollectionSpec::default()
    });
    store.ensure(&specs).await.unwrap();
    store
}

fn document(collection: &str, id: i32, [a, b, c]: [i32; 3]) -> Document {
    // Numbers of different types are equal as `_id`s.
    let id_of = |id: i32| match b % 2 {
        0 => bson::Bson::from(id),
        _ => bson::Bson::from(f64::from(id)),
    };
    let optional = |id: i32| if id < 4 { id_of(id) } else { bson::Bson::Null };
    let name = format!("name {a}");
    match collection {
        "authors" => doc! {
            "_id": id, "name": name, "owned": if a == 0 { vec![b % 4] } else { vec![] },
            "bio": { "text": c, "mentor": optional(c) }, "v": 0_i64,
        },
        "posts" => doc! {
            "_id": id, "title": name, "author": optional(b), "owner": optional(c), "v": 0_i64,
        },
        "comments" => doc! {
            "_id": id, "post": id_of(a % 4), "fan": optional(b), "s": c, "hidden": c == 0,
            "author": "junk",
        },
        "nodes" => doc! { "_id": id, "name": name, "parent": optional(b), "size": 7 },
        _ => doc! { "_id": id, "n": c, "v": 0_i64 },
    }
}

fn update(collection: &str, values: [i32; 3]) -> Document {
    let mut document = document(collection, 0, values);
    for name in ["_id", "v", "size", "author", "bio"] {
        if name != "author" || collection == "comments" {
            document.remove(name);
        }
    }
    let names: Vec<String> = document.keys().cloned().collect();
    let [a, b, c] = values;
    // References in shapes that no model states.
    let some = |a: i32| bson::Bson::from(vec![a % 4, b % 4]);
    match (collection, c % 4) {
        ("posts", 2) if a == 0 => doc! { "$set": { "author": some(1) } },
        ("posts", 3) if a == 0 => doc! { "$set": { "owner": some(1) } },
        ("posts", 3) if a == 1 => doc! { "$set": { "author": [some(1), 2] } },
        ("comments", 2) if a == 0 => doc! { "$set": { "post": some(1), "fan": [] } },
        ("comments", 3) if a == 0 => doc! { "$set": { "fan": some(2) } },
        ("nodes", 3) if a == 0 => doc! { "$set": { "parent": some(2) } },
        ("authors", 2) if a == 0 => doc! { "$set": { "owned": b % 4 } },
        ("authors", 0) if a == 5 => doc! { "$set": { "bio.mentor": some(1) } },
        ("authors", 0) => doc! { "$set": { "bio.mentor": (a < 4).then_some(a) } },
        ("authors", 1) => doc! { "$set": { "bio.text": a } },
        ("logs", _) => doc! { "$inc": { "n": 1 } },
        _ => {
            let name = &names[(a + b + c) as usize % names.len()];
            doc! { "$set": { name: document[name].clone() } }
        }
    }
}

fn raw(document: Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(&document).unwrap()
}

fn some(ids: Vec<i32>) -> Filter {
    Filter::parse(&doc! { "_id": { "$in": ids } }).unwrap()
}

fn update_write(collection: &str, filter: Filter, update: Document, upsert: bool) -> Write {
    Write::Update {
        collection: collection.to_owned(),
        target: WriteTarget::Matching(filter),
        change: WriteChange::Update(Update::parse(&update, &[]).unwrap()),
        upsert,
        check_inserted: |_| Ok(()),
        is_typed: false,
        returning: None,
        rights: None,
        bypasses_rule: false,
    }
}

/// Documents of all collections; some name an author that does not exist yet.
fn beginning() -> Vec<Write> {
    let insert = |collection: &str, number: i32, values: fn(i32) -> [i32; 3]| {
        let documents = (0..number).map(|id| Doc::new(raw(document(collection, id, values(id)))));
        Write::Insert {
            collection: collection.to_owned(),
            documents: documents.collect(),
            numbering: None,
            check_returned: ReturnedCheck::new(|_| Ok(())),
            rights: None,
            bypasses_rule: false,
        }
    };
    vec![
        insert("authors", 2, |id| [1 + id, 0, 9]),
        insert("posts", 4, |id| [id, id % 2, if id == 0 { 1 } else { 9 }]),
        insert("comments", 8, |id| [id % 3, id % 4, id % 3]),
        insert("nodes", 5, |id| [id, if id == 0 { 9 } else { id / 2 }, 0]),
        insert("logs", 5, |id| [id, id, id]),
    ]
}

async fn all(store: &Embedded, collection: &str) -> Vec<RawDocumentBuf> {
    let find = Find {
        collection: collection.to_owned(),
        ..Find::default()
    };
    let reader = store.reader().unwrap();
    reader.find_all(&find).await.unwrap().0
}

/// A replacement with the version that is stored.
async fn fresh(store: &Embedded, write: &Write) -> Write {
    let mut write = write.clone();
    if let Write::Replace {
        collection,
        documents,
        ..
    } = &mut write
    {
        let stored = all(store, collection).await;
        let key = |of: &RawDocument| odm_mql::key::of(of.get("_id").unwrap().unwrap());
        for document in documents {
            let stored = stored.iter().find(|stored| key(stored) == key(document));
            let version = stored.and_then(|stored| stored.get_i64("v").ok());
            let mut with_version = Document::try_from(&**document).unwrap();
            if with_version.contains_key("v") {
                with_version.insert("v", version.unwrap_or_default());
            }
            *document = Doc::new(raw(with_version));
        }
    }
    write
}

/// The result of a write, as far as it must not depend on the bounds.
#[derive(Debug, PartialEq)]
struct Seen {
    matched: u64,
    modified: u64,
    inserted: bool,
    documents: Vec<Doc>,
    /// The planned changes: collection, inserted, changed, removed.
    planned: Vec<(String, u64, u64, u64)>,
}

impl Seen {
    fn new(
        outcome: WriteOutcome,
        documents: Vec<Doc>,
        planned: Vec<(String, u64, u64, u64)>,
    ) -> Self {
        Seen {
            matched: outcome.matched,
            modified: outcome.modified,
            inserted: outcome.inserted,
            documents,
            planned,
        }
    }
}

/// The write with a check that keeps the returned documents.
fn kept(write: &Write, returned: &Arc<Mutex<Vec<Doc>>>) -> Write {
    let mut write = write.clone();
    let returned = returned.clone();
    let keep = ReturnedCheck::new(move |documents| {
        *returned.lock().unwrap() = documents.to_vec();
        Ok(())
    });
    match &mut write {
        Write::Insert { check_returned, .. }
        | Write::Replace { check_returned, .. }
        | Write::Modify { check_returned, .. }
        | Write::UpsertBy { check_returned, .. } => *check_returned = keep,
        Write::Update { returning, .. } | Write::Delete { returning, .. } => {
            if let Some(returning) = returning {
                returning.check = keep;
            }
        }
        Write::Repair { .. } => {}
    }
    write
}

/// Stands for the plan of a write that is refused. It is compared only if the write is applied after all.
fn refused(error: odm_store::Error) -> PlannedChanges {
    PlannedChanges {
        collection: error.to_string(),
        ..PlannedChanges::default()
    }
}

async fn run(catalog: &Catalog, store: &Embedded, write: &Write, bounds: Bounds) -> Result<Seen> {
    let options = TransactionOptions::default;
    let mut dry = store.begin(options()).await.unwrap();
    let mut unit = Unit::new(catalog, &mut *dry, write.policy(), bounds, true);
    let planned = match pipeline::run(&mut unit, write).await {
        Ok(_) => planned(&unit).into_iter(),
        Err(error) => vec![refused(error)].into_iter(),
    };
    let planned = planned.map(|of| (of.collection, of.inserted, of.changed, of.removed));
    let planned = planned.collect();
    dry.rollback().await.unwrap();
    let mut transaction = store.begin(options()).await.unwrap();
    let returned = Arc::default();
    let write = kept(write, &returned);
    match apply_within(catalog, &mut *transaction, &write, bounds, false).await {
        Ok(outcome) => {
            transaction.commit().await.unwrap();
            let returned = std::mem::take(&mut *returned.lock().unwrap());
            Ok(Seen::new(outcome, returned, planned))
        }
        Err(error) => {
            transaction.rollback().await.unwrap();
            Err(error)
        }
    }
}

/// The numbers of documents that are new, different and gone in a collection.
fn differences(before: &[RawDocumentBuf], after: &[RawDocumentBuf]) -> (u64, u64, u64) {
    let by_id = |documents: &[RawDocumentBuf]| {
        let documents = documents.iter().cloned();
        let key = |of: &RawDocumentBuf| odm_mql::key::of(of.get("_id").unwrap().unwrap());
        let documents = documents.map(|of| (key(&of), of));
        documents.collect::<std::collections::BTreeMap<_, _>>()
    };
    let (before, after) = (by_id(before), by_id(after));
    let inserted = after.keys().filter(|id| !before.contains_key(*id));
    let removed = before.keys().filter(|id| !after.contains_key(*id));
    let changed = after.iter().filter(|(id, document)| {
        before
            .get(*id)
            .is_some_and(|before| before.as_bytes() != document.as_bytes())
    });
    (
        inserted.count() as u64,
        changed.count() as u64,
        removed.count() as u64,
    )
}

#[test]
fn the_bounds_of_a_unit_do_not_change_its_result() {
    const BOUNDS: [(usize, usize); 5] = [(500, 1000), (0, 1), (1, 2), (0, 1000), (500, 1)];
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let mut runner = TestRunner::new(Config {
        cases: 40,
        failure_persistence: None,
        max_shrink_iters: 300,
        ..Config::default()
    });
    let history = prop::collection::vec(write(), 1..30);
    let result = runner.run(&(history, any::<bool>()), |(history, is_unique)| {
        runtime.block_on(async {
            let indexes_of = |name: &str| {
                let indexes = unique_indexes(name).into_iter();
                indexes.filter(|_| is_unique).collect::<Vec<_>>()
            };
            let mut catalog = catalog();
            for name in COLLECTIONS {
                for index in indexes_of(name) {
                    catalog = catalog.with_unique(name, index);
                }
            }
            let mut stores = Vec::new();
            for (queue, chunk) in BOUNDS {
                stores.push((empty_store(indexes_of).await, Bounds { queue, chunk }));
            }
            for (at, write) in beginning().into_iter().chain(history).enumerate() {
                let write = fresh(&stores[0].0, &write).await;
                let mut results = Vec::new();
                let mut before = Vec::new();
                for name in COLLECTIONS {
                    before.push(all(&stores[0].0, name).await);
                }
                for (store, bounds) in &stores {
                    // If there are several errors, any may come first.
                    results.push(run(&catalog, store, &write, *bounds).await.ok());
                }
                let is_beginning = at < beginning().len();
                assert!(!is_beginning || results[0].is_some(), "{write:?}");
                for (at, result) in results.iter().enumerate() {
                    assert_eq!(*result, results[0], "{:?}: {write:?}", BOUNDS[at]);
                }
                for (name, before) in COLLECTIONS.into_iter().zip(before) {
                    let first = all(&stores[0].0, name).await;
                    let reader = stores[0].0.reader().unwrap();
                    let found = check(&catalog, AuditScope::MODELS, &*reader, name, &first)
                        .await
                        .unwrap();
                    assert_eq!(found.findings, [], "{write:?}");
                    if let Some(seen) = &results[0] {
                        let planned = seen.planned.iter().find(|of| of.0 == name);
                        let planned = planned.map_or((0, 0, 0), |of| (of.1, of.2, of.3));
                        assert_eq!(planned, differences(&before, &first), "{name}: {write:?}");
                    }
                    for ((store, _), bounds) in stores.iter().zip(BOUNDS) {
                        assert_eq!(all(store, name).await, first, "{bounds:?}: {write:?}");
                    }
                }
            }
        });
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}
