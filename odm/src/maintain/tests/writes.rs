//! Random writes.

use super::*;

/// The first of these documents by the field of a collection.
fn first(ids: &[i32], collection: &str) -> WriteTarget {
    let by = match collection {
        "authors" => "posts",
        "logs" => "n",
        _ => "size",
    };
    WriteTarget::First {
        filter: some(ids.to_vec()),
        sort: Sort::parse(&doc! { by: -1 }).unwrap(),
    }
}

fn returning(number: i32) -> Option<ReturnDocument> {
    (number > 1).then(|| ReturnDocument {
        before: number > 3,
        check: ReturnedCheck::new(|_| Ok(())),
    })
}

fn without_id(document: &Doc) -> Doc {
    let mut document = Document::try_from(&***document).unwrap();
    document.remove("_id");
    // A version that the caller has not read.
    document.remove("v");
    Doc::new(raw(document))
}

/// Any write.
pub(super) fn write() -> impl Strategy<Value = Write> {
    let collection = prop::sample::select(&["authors", "posts", "comments", "nodes", "logs"][..]);
    let ids = || prop::collection::vec(0..8_i32, 1..6);
    let values = || [0..6_i32, 0..6_i32, 0..6_i32];
    let parts = (collection, 0..15, ids(), values());
    parts.prop_map(|(collection, kind, ids, values)| {
        let new = |id: i32| {
            let [a, b, c] = values;
            Doc::new(raw(document(
                collection,
                id,
                [(a + id) % 6, b, (c + id) % 6],
            )))
        };
        let owned = collection.to_owned();
        match kind {
            0..3 => Write::Insert {
                collection: owned,
                documents: ids.iter().map(|id| new(*id)).collect(),
                numbering: None,
                check_returned: ReturnedCheck::new(|_| Ok(())),
                rights: None,
                bypasses_rule: false,
            },
            3 | 4 => Write::Replace {
                collection: owned,
                documents: ids.iter().map(|id| new(*id)).collect(),
                upsert: kind == 3,
                is_raw: false,
                check_returned: ReturnedCheck::new(|_| Ok(())),
            },
            9 => Write::UpsertBy {
                collection: owned,
                key: some(vec![ids[0]]),
                document: new(ids[0]),
                numbering: None,
                on_conflict: match ids.get(1).map(|id| id % 3) {
                    Some(0) => OnConflict::Keep,
                    Some(1) => OnConflict::Update {
                        change: Update::parse(&update(collection, values), &[]).unwrap(),
                        is_typed: false,
                    },
                    _ => OnConflict::Replace,
                },
                check_returned: ReturnedCheck::new(|_| Ok(())),
            },
            5 => update_write(
                collection,
                Filter::default(),
                update(collection, values),
                false,
            ),
            6 => update_write(collection, some(ids), update(collection, values), false),
            7 => update_write(
                collection,
                Filter::parse(&doc! { "_id": ids[0] }).unwrap(),
                update(collection, values),
                true,
            ),
            10 => Write::Delete {
                collection: owned,
                // A delete changes whether others match.
                target: WriteTarget::Matching(
                    Filter::parse(&doc! { "$or": [
                        { "size": { "$lte": values[0] / 3 } },
                        { "posts": { "$lte": values[1] / 3 } },
                        { "n": { "$lte": values[2] / 3 } },
                    ] })
                    .unwrap(),
                ),
                returning: None,
                rights: None,
            },
            // The first in an order that the documents have only by chance.
            12 => Write::Delete {
                collection: owned,
                target: first(&ids, collection),
                returning: returning(values[0]),
                rights: None,
            },
            13 | 14 => Write::Update {
                collection: owned,
                target: first(&ids, collection),
                change: match kind {
                    13 => WriteChange::Update(
                        Update::parse(&update(collection, values), &[]).unwrap(),
                    ),
                    _ => WriteChange::Replace(without_id(&new(ids[0]))),
                },
                upsert: false,
                check_inserted: |_| Ok(()),
                is_typed: false,
                returning: returning(values[0]),
                rights: None,
                bypasses_rule: false,
            },
            11 => Write::Delete {
                collection: owned,
                target: WriteTarget::one(ids[0].into()),
                returning: None,
                rights: None,
            },
            _ => Write::Delete {
                collection: owned,
                target: WriteTarget::Matching(some(ids)),
                returning: None,
                rights: None,
            },
        }
    })
}
