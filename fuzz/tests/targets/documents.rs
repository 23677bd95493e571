//! Bytes as documents of a store, and as positions of pages.

use std::{ops::ControlFlow, sync::Arc};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use fuzz::{Choices, check};
use odm::{
    Embedded,
    bson::{Document, RawDocumentBuf, doc},
    prelude::*,
    repository::Cursor,
    store::{
        Durability,
        contract::{
            CollectionSpec, CollectionWrites, DocumentWrite, Find, IndexSpec, Store, Transaction,
            UnitOfWork,
        },
    },
};
use serde::{Deserialize, Serialize};

use crate::updates::runtime;

/// An index of one path.
pub(crate) fn index(path: &str, direction: odm::mql::Direction) -> IndexSpec {
    IndexSpec::new(path, [(path, direction)])
}

struct Insert(RawDocumentBuf);

#[async_trait::async_trait]
impl UnitOfWork for Insert {
    async fn run(&self, transaction: &mut dyn Transaction) -> odm::Result<()> {
        let batch = CollectionWrites {
            collection: "things",
            writes: vec![DocumentWrite::Insert(&self.0)],
        };
        transaction.apply(&[batch]).await.map(drop)
    }
}

async fn found(store: &Embedded, filter: Document) -> odm::Result<Vec<Vec<u8>>> {
    let find = Find {
        collection: "things".to_owned(),
        filter: odm::mql::Filter::parse(&filter)?,
        ..Find::default()
    };
    let mut found = Vec::new();
    let each = &mut |_, document: &odm::bson::RawDocument| {
        found.push(document.as_bytes().to_vec());
        Ok(ControlFlow::Continue(()))
    };
    store.reader()?.find(&find, each).await?;
    Ok(found)
}

/// The bytes of a document with a few of them changed, so that some are still well-formed.
fn bytes_of_a_document(choices: &mut Choices<'_>) -> Vec<u8> {
    match choices.below(3) {
        0 => choices.framed(),
        kind => {
            let mut document = choices.document(3);
            if kind == 1 {
                document.insert("_id", choices.value(1));
            }
            let mut bytes = odm::bson::serialize_to_vec(&document).expect("values are BSON");
            for _ in 0..choices.below(4) {
                let at = choices.below(bytes.len());
                bytes[at] = choices.below(256) as u8;
            }
            bytes
        }
    }
}

#[test]
fn bytes_are_stored_as_they_are_or_refused() {
    let runtime = runtime();
    let store = runtime.block_on(async {
        let store = Embedded::memory().await.unwrap();
        let things = CollectionSpec {
            name: "things".to_owned(),
            indexes: vec![
                index("a", odm::mql::Direction::Ascending),
                index("b.c", odm::mql::Direction::Descending),
            ],
            ..CollectionSpec::default()
        };
        store.ensure(&[things]).await.unwrap();
        store
    });
    check(300, |bytes| {
        let mut choices = Choices::new(bytes);
        let Ok(document) = RawDocumentBuf::from_bytes(bytes_of_a_document(&mut choices)) else {
            return;
        };
        let inserted = Arc::new(Insert(document.clone()));
        runtime.block_on(async {
            if store.run(inserted, Durability::Eventual).await.is_err() {
                return;
            }
            let whole = Document::try_from(&document).expect("only such are stored");
            // The conversion sorts the options of a regular expression, so an `_id` with one may change.
            let again = RawDocumentBuf::try_from(&whole);
            let filter = match again.is_ok_and(|again| again == document) {
                true => doc! { "_id": { "$eq": whole["_id"].clone() } },
                false => doc! {},
            };
            let stored = found(&store, filter).await.unwrap();
            assert_eq!(stored, [document.as_bytes()], "{whole}");
            store
                .run(Arc::new(Clear), Durability::Eventual)
                .await
                .unwrap();
            assert!(found(&store, doc! {}).await.unwrap().is_empty());
        });
    });
}

struct Clear;

#[async_trait::async_trait]
impl UnitOfWork for Clear {
    async fn run(&self, transaction: &mut dyn Transaction) -> odm::Result<()> {
        let all = odm::store::contract::DeleteWrite {
            collection: "things".to_owned(),
            filter: odm::mql::Filter::parse(&doc! {})?,
        };
        transaction.delete(&all).await.map(drop)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "entries", index(fields = "a, -b"))]
struct Entry {
    #[serde(rename = "_id")]
    id: i64,
    a: Option<String>,
    b: i32,
}

#[derive(Database)]
#[database(name = "log", version = 1)]
struct Log {
    entries: Repository<Entry>,
}

#[test]
fn a_position_from_anywhere_is_an_error_or_starts_a_page_in_order() {
    let runtime = runtime();
    let log = runtime.block_on(async {
        let log = Log::open(Embedded::memory().await.unwrap()).await.unwrap();
        let entries = (0..18).map(|id| Entry {
            id,
            a: (id % 4 > 0).then(|| format!("text {}", id % 4)),
            b: id as i32 % 2,
        });
        log.entries.insert_many(entries).await.unwrap();
        log
    });
    let sort = || Entry::fields().a.asc().then(Entry::fields().b.desc());
    let first = runtime.block_on(async { log.entries.all().sort(sort()).page(5).await.unwrap() });
    let first = first.next.unwrap().to_string();
    check(200, |bytes| {
        let mut choices = Choices::new(bytes);
        let mut text = first.clone().into_bytes();
        match choices.below(3) {
            0 => text = choices.rest().to_vec(),
            1 => {
                // Other keys, and any number of them, after the byte and the hash that identify the query.
                let known = URL_SAFE_NO_PAD.decode(&first).expect("it is base64url");
                let number = choices.below(5);
                let keys = (0..number).map(|at| (at.to_string(), choices.value(2)));
                let keys: Document = keys.collect();
                let keys = odm::bson::serialize_to_vec(&keys).expect("it is BSON");
                text = URL_SAFE_NO_PAD
                    .encode([&known[..9], &keys].concat())
                    .into_bytes();
            }
            _ => {
                for _ in 0..=choices.below(4) {
                    let at = choices.below(text.len());
                    text[at] = b"0123456789ABYZabyz-_."[choices.below(21)];
                }
            }
        }
        let Ok(cursor) = String::from_utf8_lossy(&text).parse::<Cursor>() else {
            return;
        };
        assert_eq!(
            cursor.to_string().parse::<Cursor>().unwrap().to_string(),
            cursor.to_string()
        );
        runtime.block_on(async {
            let query = || log.entries.all().sort(sort()).after(&cursor);
            let Ok(page) = query().page(4).await else {
                return;
            };
            let rest = query().await.expect("it has a page");
            assert_eq!(page.items.len(), rest.len().min(4));
            assert_eq!(page.next.is_some(), rest.len() > 4);
            let before = log.entries.all().sort(sort()).before(&cursor).page(18);
            let before = before.await.expect("it is a position").items.len();
            assert!(before + rest.len() <= 18);
        });
    });
}
