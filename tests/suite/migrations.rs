//! Models that change: steps from one version to the next, reports and refusals of `open`, and programs of two versions at once.

mod at_once;
mod crash;
mod failed_opens;
mod history;
mod steps;
mod versions;

use odm::{
    bson::{Bson, Document},
    store::contract::Store,
};

/// All stored documents of a collection, in the order of their `_id`s, each with its fields in the order of their names.
async fn stored(store: &impl Store, collection: &str) -> Vec<Document> {
    let documents = tests::stored(store, collection).await;
    let documents = documents.iter().map(|document| Document::try_from(document).unwrap());
    documents.map(sorted).collect()
}

fn sorted(document: Document) -> Document {
    let mut fields: Vec<(String, Bson)> = document.into_iter().collect();
    fields.sort_by(|(one, _), (other, _)| one.cmp(other));
    fields.into_iter().collect()
}
