//! Updates alone, of the stores that have them.

use std::error::Error as _;

use odm::{
    Result,
    bson::{Document, doc},
    mql::Update,
    store::{Durability, OtherEpoch, Store, UpdateAlone, Updated},
};

use super::support::*;

/// The epoch of a new store.
const FIRST: i64 = 0;

async fn alone(
    store: &impl Store,
    matching: Document,
    update: Document,
    epoch: i64,
) -> Result<Option<Updated>> {
    let update = UpdateAlone {
        collection: THINGS.to_owned(),
        filter: filter(matching),
        update: Update::parse(&update, &[]).expect("an update"),
        epoch,
    };
    store.update_alone(&update, Durability::Immediate).await
}

fn has_updates_alone(store: &impl Store) -> bool {
    store.capabilities().updates_alone.is_some()
}

pub async fn an_update_alone_changes_the_document_as_a_transaction_would(store: impl Store) {
    if !has_updates_alone(&store) {
        return;
    }
    let document = |id: i32| doc! { "_id": id, "n": 1, "a": [1], "s": "x", "o": { "b": 1 } };
    insert_all(&store, [document(1), document(2)]).await;
    let updates = [
        doc! { "$inc": { "n": 2 }, "$push": { "a": { "$each": [2, 3], "$slice": -2 } } },
        doc! { "$set": { "o.c": null, "z": { "b": [1.5] }, "y": 1 }, "$unset": { "s": "" } },
        doc! { "$max": { "n": 2_i64 }, "$min": { "o.b": 0 }, "$addToSet": { "a": 3 } },
        doc! { "$set": { "y": 1 } },
        doc! { "$set": { "y": 1_i64 }, "$pop": { "a": 1 } },
    ];
    for change in updates {
        let unit = update(&store, &update_of(doc! { "_id": 1 }, change.clone())).await;
        let unit = unit.expect("the update runs");
        let alone = alone(&store, doc! { "_id": 2 }, change.clone(), FIRST).await;
        let alone = alone.expect("the update runs").expect("it is possible");
        let counts = |of: Updated| (of.matched, of.modified, of.inserted);
        assert_eq!(counts(alone), counts(unit), "{change}");
        let both = stored(&store).await.into_iter().map(|document| {
            let mut document = Document::try_from(document).expect("it is well-formed");
            document.remove("_id");
            raw(document)
        });
        let both: Vec<_> = both.collect();
        assert_eq!(both[0], both[1], "{change}");
    }
}

pub async fn an_update_alone_in_another_epoch_is_refused(store: impl Store) {
    if !has_updates_alone(&store) {
        return;
    }
    let document = doc! { "_id": 1, "n": 1 };
    insert_all(&store, [document.clone()]).await;
    let change = doc! { "$inc": { "n": 1 } };
    let error = alone(&store, doc! { "_id": 1 }, change, FIRST + 1).await;
    let error = error.expect_err("it is another epoch");
    assert!(
        error
            .source()
            .is_some_and(|source| source.is::<OtherEpoch>()),
        "{error}"
    );
    assert_stored(&store, [document]).await;
}

pub async fn an_update_alone_that_is_not_possible_changes_nothing(store: impl Store) {
    ensure(&store, vec![unique("n", &["n"])]).await;
    let documents = [
        doc! { "_id": 1, "n": 1, "s": "x" },
        doc! { "_id": 2, "n": 2, "s": "y" },
    ];
    insert_all(&store, documents.clone()).await;
    let impossible = [
        // No document matches.
        (doc! { "_id": 3 }, doc! { "$inc": { "n": 9 } }),
        (
            doc! { "_id": 1, "n": { "$gt": 1 } },
            doc! { "$inc": { "n": 9 } },
        ),
        // It cannot be applied.
        (doc! { "_id": 1 }, doc! { "$inc": { "s": 1 } }),
        // The key is taken.
        (doc! { "_id": 1 }, doc! { "$set": { "n": 2 } }),
    ];
    for (matching, change) in impossible {
        let updated = alone(&store, matching, change.clone(), FIRST).await;
        assert_eq!(updated.expect("nothing is written"), None, "{change}");
        assert_stored(&store, documents.clone()).await;
    }
}
