//! Single writes, of the stores that have them.

use std::error::Error as _;

use bson::{DateTime, Document, doc};
use odm_store::{
    Change, DeleteWrite, Durability, OtherEpoch, Result, SingleWrite, SingleWriteRequest, Store,
    UpdateWrite, Updated,
};

use super::support::*;

/// The epoch of a new store.
const FIRST: i64 = 0;

async fn write_single(
    store: &impl Store,
    write: SingleWrite,
    epoch: impl Into<Option<i64>>,
) -> Result<Option<Updated>> {
    let epoch = epoch.into();
    let write = SingleWriteRequest { write, epoch };
    store.write_single(&write, Durability::Immediate).await
}

fn insert(document: Document) -> SingleWrite {
    SingleWrite::Insert {
        collection: THINGS.to_owned(),
        document: raw(document),
    }
}

fn change(matching: Document, update: Document) -> SingleWrite {
    SingleWrite::Update(update_of(matching, update))
}

fn replace(id: i32, document: Document, upsert: bool) -> SingleWrite {
    SingleWrite::Update(UpdateWrite {
        change: Change::Replace(raw(document)),
        upsert,
        ..update_of(doc! { "_id": id }, doc! {})
    })
}

fn delete(id: i32) -> SingleWrite {
    SingleWrite::Delete(DeleteWrite {
        collection: THINGS.to_owned(),
        filter: filter(doc! { "_id": id }),
    })
}

/// Whether the store has single writes. A store whose server cannot check the epoch in the message of the write does not.
async fn has_single_writes(store: &impl Store) -> bool {
    let absent = write_single(store, delete(-1), FIRST).await;
    absent.expect("the first epoch").is_some()
}

fn numbers(updated: Option<Updated>) -> Option<(u64, u64, bool)> {
    updated.map(|of| (of.matched, of.modified, of.inserted))
}

pub async fn a_single_update_changes_the_document_as_a_transaction_would(store: impl Store) {
    if !has_single_writes(&store).await {
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
    for change_of in updates {
        let unit = update(&store, &update_of(doc! { "_id": 1 }, change_of.clone())).await;
        let unit = unit.expect("the update runs");
        let written =
            write_single(&store, change(doc! { "_id": 2 }, change_of.clone()), FIRST).await;
        let written = written.expect("the update runs");
        assert_eq!(numbers(written), numbers(Some(unit)), "{change_of}");
        let both = stored(&store).await.into_iter().map(|document| {
            let mut document = Document::try_from(document).expect("it is well-formed");
            document.remove("_id");
            raw(document)
        });
        let both: Vec<_> = both.collect();
        assert_eq!(both[0], both[1], "{change_of}");
    }
}

pub async fn a_document_is_inserted_replaced_and_removed_by_single_writes(store: impl Store) {
    if !has_single_writes(&store).await {
        return;
    }
    ensure(&store, vec![]).await;
    let values = doc! { "s": "x", "o": { "b": [1, null], "$a": 1 }, "n": 1_i64, "t": DateTime::from_millis(1) };
    let with_id = |id: i32, values: Document| {
        let mut document = doc! { "_id": id };
        document.extend(values);
        document
    };
    let steps = [
        (insert(with_id(1, values.clone())), Some((0, 0, true))),
        (insert(with_id(2, doc! {})), Some((0, 0, true))),
        (
            replace(1, with_id(1, doc! { "n": 1, "a": [] }), false),
            Some((1, 1, false)),
        ),
        (
            replace(1, with_id(1, doc! { "n": 1, "a": [] }), true),
            Some((1, 0, false)),
        ),
        (replace(3, with_id(3, values.clone()), false), None),
        (
            replace(3, with_id(3, values.clone()), true),
            Some((0, 0, true)),
        ),
        (
            replace(2, with_id(2, values.clone()), true),
            Some((1, 1, false)),
        ),
        (delete(1), Some((1, 1, false))),
        (delete(1), Some((0, 0, false))),
    ];
    for (write, expected) in steps {
        let said = format!("{write:?}");
        let written = write_single(&store, write, FIRST).await;
        assert_eq!(numbers(written.expect("it runs")), expected, "{said}");
    }
    assert_stored(&store, [with_id(2, values.clone()), with_id(3, values)]).await;
}

pub async fn a_single_write_in_another_epoch_is_refused(store: impl Store) {
    if !has_single_writes(&store).await {
        return;
    }
    let document = doc! { "_id": 1, "n": 1 };
    insert_all(&store, [document.clone()]).await;
    let writes = [
        change(doc! { "_id": 1 }, doc! { "$inc": { "n": 1 } }),
        insert(doc! { "_id": 2 }),
        replace(1, doc! { "_id": 1 }, false),
        replace(2, doc! { "_id": 2 }, true),
        delete(1),
    ];
    for write in writes {
        let error = write_single(&store, write, FIRST + 1).await;
        let error = error.expect_err("it is another epoch");
        let source = error.source();
        assert!(
            source.is_some_and(|source| source.is::<OtherEpoch>()),
            "{error}"
        );
        assert_stored(&store, [document.clone()]).await;
    }
}

pub async fn a_single_write_of_any_epoch_is_run(store: impl Store) {
    if !has_single_writes(&store).await {
        return;
    }
    let in_first = doc! { "_id": 1, "n": 1 };
    insert_all(&store, [in_first]).await;
    let increased = || change(doc! { "_id": 1 }, doc! { "$inc": { "n": 1 } });
    let refused = write_single(&store, increased(), FIRST + 1).await;
    assert!(refused.is_err(), "it is another epoch");
    let steps = [
        (increased(), Some((1, 1, false))),
        (insert(doc! { "_id": 2 }), Some((0, 0, true))),
        (
            replace(2, doc! { "_id": 2, "n": 2 }, false),
            Some((1, 1, false)),
        ),
        (replace(3, doc! { "_id": 3 }, false), None),
        (replace(3, doc! { "_id": 3 }, true), Some((0, 0, true))),
        (delete(3), Some((1, 1, false))),
        (delete(3), Some((0, 0, false))),
    ];
    for (write, expected) in steps {
        let said = format!("{write:?}");
        let written = write_single(&store, write, None).await;
        assert_eq!(numbers(written.expect("it runs")), expected, "{said}");
    }
    assert_stored(
        &store,
        [doc! { "_id": 1, "n": 2 }, doc! { "_id": 2, "n": 2 }],
    )
    .await;
}

pub async fn a_single_write_that_is_not_possible_changes_nothing(store: impl Store) {
    ensure(&store, vec![unique("n", &["n"])]).await;
    let documents = [
        doc! { "_id": 1, "n": 1, "s": "x" },
        doc! { "_id": 2, "n": 2, "s": "y" },
    ];
    insert_all(&store, documents.clone()).await;
    let impossible = [
        // No document matches.
        change(doc! { "_id": 3 }, doc! { "$inc": { "n": 9 } }),
        change(
            doc! { "_id": 1, "n": { "$gt": 1 } },
            doc! { "$inc": { "n": 9 } },
        ),
        replace(3, doc! { "_id": 3, "n": 3 }, false),
        // It cannot be applied.
        change(doc! { "_id": 1 }, doc! { "$inc": { "s": 1 } }),
        // The key is taken.
        change(doc! { "_id": 1 }, doc! { "$set": { "n": 2 } }),
        insert(doc! { "_id": 1, "n": 3 }),
        insert(doc! { "_id": 3, "n": 1 }),
        replace(1, doc! { "_id": 1, "n": 2 }, false),
        replace(3, doc! { "_id": 3, "n": 2 }, true),
    ];
    for write in impossible {
        let said = format!("{write:?}");
        let written = write_single(&store, write, FIRST).await;
        assert_eq!(
            numbers(written.expect("nothing is written")),
            None,
            "{said}"
        );
        assert_stored(&store, documents.clone()).await;
    }
}
