//! The result of a backfill: values that it could not make right are not taken for right.

use odm::{Finding, Problem, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, behind_the_back, insert_behind_the_back, on_every_store};

/// The documents before they were split.
mod whole {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "docs")]
    pub(super) struct Doc {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) name: String,
        #[embed]
        pub(super) detail: Detail,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
    pub(super) struct Detail {
        #[reference(child, on_delete = "nullify")]
        pub(super) other: Option<Ref<Doc>>,
        #[denormalize(from = "Doc.name")]
        pub(super) other_name: Option<String>,
        #[denormalize(from = "Doc.name", freeze)]
        pub(super) other_then: Option<String>,
    }

    #[derive(Database)]
    #[database(name = "docs", version = 1)]
    pub(super) struct Docs {
        pub(super) docs: Repository<Doc>,
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "docs")]
struct Doc {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[split(collection = "details", key = "doc")]
    detail: Cold<Detail>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Detail {
    #[reference(child, on_delete = "nullify")]
    other: Option<Ref<Doc>>,
    #[denormalize(from = "Doc.name")]
    other_name: Option<String>,
    #[denormalize(from = "Doc.name", freeze)]
    other_then: Option<String>,
}

#[derive(Database)]
#[database(name = "docs", version = 2)]
struct Docs {
    docs: Repository<Doc>,
}

const SPLIT: [&str; 4] =
    ["details.other", "details.other_name", "details.other_then", "docs.detail"];

/// Documents that each name the next one, from before they were split.
async fn older(store: &impl TestStore) {
    let db = whole::Docs::open(store.clone()).await.unwrap();
    let docs = (1..=4).rev().map(|id| whole::Doc {
        id,
        name: format!("doc {id}"),
        detail: whole::Detail {
            other: (id < 4).then_some(Ref::new(id + 1)),
            other_name: None,
            other_then: None,
        },
    });
    db.docs.insert_many(docs).await.unwrap();
}

async fn detail(db: &Docs, id: i32) -> (Option<i32>, Option<String>) {
    let doc = db.docs.get(id).with(Doc::fields().detail).await.unwrap();
    let detail = doc.detail.into_inner().unwrap();
    (detail.other.map(|other| *other.id()), detail.other_name)
}

fn unrepaired(findings: &[Finding]) -> Vec<(String, Problem)> {
    let left = findings.iter().filter(|finding| !finding.repaired);
    left.map(|finding| {
        (format!("{}.{}", finding.collection, finding.path), finding.problem.clone())
    })
    .collect()
}

on_every_store! {
    async fn a_split_over_older_documents_is_pending_with_all_that_is_in_it(store: AnyStore) {
        older(&store).await;
        let db = Docs::open(store.clone()).await.unwrap();
        assert_eq!(db.pending_backfills(), SPLIT);
        let findings = db.backfill().await.unwrap();
        assert_eq!(unrepaired(&findings), []);
        assert!(db.pending_backfills().is_empty());
        assert_eq!(db.audit().await.unwrap(), []);
        assert_eq!(detail(&db, 1).await, (Some(2), Some("doc 2".to_owned())));
        assert_eq!(detail(&db, 2).await, (Some(3), Some("doc 3".to_owned())));
        let again = Docs::open(store).await.unwrap();
        assert!(again.pending_backfills().is_empty());
    }

    async fn a_cold_part_that_is_divided_off_keeps_its_frozen_copies(store: AnyStore) {
        older(&store).await;
        let old = whole::Docs::open(store.clone()).await.unwrap();
        old.docs.update_where(Filter::all()).set(whole::Doc::fields().name, "renamed").await.unwrap();
        let db = Docs::open(store.clone()).await.unwrap();
        let detail = async |id: i32| {
            let doc = db.docs.get(id).with(Doc::fields().detail).await.unwrap();
            doc.detail.into_inner().unwrap()
        };
        // By a write to it, by a write of the whole document, and by the backfill.
        let other = Doc::fields().detail.other;
        db.docs.update(1).set(other, Ref::new(2)).set(Doc::fields().name, "first").await.unwrap();
        let mut second = db.docs.get(2).with(Doc::fields().detail).await.unwrap();
        second.detail.get_mut().unwrap().other_then = Some("junk".into());
        db.docs.replace(second).await.unwrap();
        db.docs.delete(4).await.unwrap();
        let findings = db.backfill().await.unwrap();
        assert_eq!(unrepaired(&findings), []);
        for id in [1, 2] {
            let detail = detail(id).await;
            assert_eq!(detail.other_name.as_deref(), Some("renamed"), "doc {id}");
            assert_eq!(detail.other_then, Some(format!("doc {}", id + 1)), "doc {id}");
        }
        assert_eq!(detail(3).await.other_then, None, "it names nothing now");
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_reference_that_dangles_does_not_keep_its_document_from_being_divided(store: AnyStore) {
        older(&store).await;
        let db = Docs::open(store.clone()).await.unwrap();
        let dangling = doc! { "$set": { "detail.other": 9 } };
        behind_the_back(&store, "docs", doc! { "_id": 3 }, dangling).await;
        db.docs.update(3).raw(doc! { "$set": { "detail.text": "new" } }).await.unwrap();
        let (other, name) = detail(&db, 3).await;
        assert_eq!((other, name.as_deref()), (Some(9), Some("doc 4")), "the last copy");
        db.backfill().await.unwrap();
        assert_eq!(detail(&db, 3).await, (None, None));
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_delete_follows_references_that_older_documents_hold_inline(store: AnyStore) {
        older(&store).await;
        let db = Docs::open(store.clone()).await.unwrap();
        // A document that is split already, and one that is not.
        db.docs.update(1).raw(doc! { "$set": { "detail.text": "new" } }).await.unwrap();
        db.docs.delete(2).await.unwrap();
        db.docs.delete(4).await.unwrap();
        for id in [1, 3] {
            assert_eq!(detail(&db, id).await, (None, None), "doc {id}");
        }
        assert_eq!(db.pending_backfills(), SPLIT);
        let findings = db.audit().await.unwrap();
        assert!(findings.iter().all(|finding| finding.problem != Problem::Dangling), "{findings:?}");
        assert_eq!(unrepaired(&db.backfill().await.unwrap()), []);
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn what_a_backfill_could_not_repair_stays_pending(store: AnyStore) {
        older(&store).await;
        let db = Docs::open(store.clone()).await.unwrap();
        let other = doc! { "_id": 1, "doc": 2, "other": 1, "other_name": "doc 1" };
        insert_behind_the_back(&store, "details", other).await;
        let findings = db.backfill().await.unwrap();
        assert_eq!(unrepaired(&findings), [("docs.detail".to_owned(), Problem::InlineColdPart)]);
        assert_eq!(db.pending_backfills(), SPLIT, "what it holds inline is not enforced");
        behind_the_back(&store, "docs", doc! { "_id": 2 }, doc! { "$unset": { "detail": 1 } }).await;
        assert_eq!(db.backfill().await.unwrap(), []);
        assert!(db.pending_backfills().is_empty());
        assert_eq!(db.audit().await.unwrap(), []);
    }
}
