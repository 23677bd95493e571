//! What a backfill leaves: nothing is taken for right that it could not make right.

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
}

#[derive(Database)]
#[database(name = "docs", version = 2)]
struct Docs {
    docs: Repository<Doc>,
}

const SPLIT: [&str; 3] = ["details.other", "details.other_name", "docs.detail"];

/// Documents that each name the next one, from before they were split.
async fn older(store: &impl TestStore) {
    let db = whole::Docs::open(store.clone()).await.unwrap();
    let docs = (1..=4).rev().map(|id| whole::Doc {
        id,
        name: format!("doc {id}"),
        detail: whole::Detail {
            other: (id < 4).then_some(Ref::new(id + 1)),
            other_name: None,
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
        (
            format!("{}.{}", finding.collection, finding.path),
            finding.problem,
        )
    })
    .collect()
}

on_every_store! {
    async fn a_split_over_older_documents_is_pending_with_all_that_is_in_it(store: impl TestStore) {
        older(&store).await;
        let db = Docs::open(store.clone()).await.unwrap();
        assert_eq!(db.pending_backfills(), SPLIT);
        // The reference to it is not yet where the rule looks for it.
        db.docs.delete(3).await.unwrap();
        let findings = db.backfill().await.unwrap();
        assert_eq!(unrepaired(&findings), []);
        assert!(db.pending_backfills().is_empty());
        assert_eq!(db.audit().await.unwrap(), []);
        assert_eq!(detail(&db, 1).await, (Some(2), Some("doc 2".to_owned())));
        assert_eq!(detail(&db, 2).await, (None, None));
        let again = Docs::open(store).await.unwrap();
        assert!(again.pending_backfills().is_empty());
    }

    async fn what_a_backfill_could_not_repair_stays_pending(store: impl TestStore) {
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
