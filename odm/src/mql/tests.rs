//! What holds for the layer as a whole.

use bson::{DateTime, RawBsonRef, RawDocumentBuf, doc};
use proptest::prelude::*;

use super::*;
use crate::mql::testing::{document, raw, value};

/// A document whose bytes were changed, so that some of it may be unreadable.
fn damaged() -> impl Strategy<Value = RawDocumentBuf> {
    let whole = prop_oneof![
        document(),
        prop::collection::vec(("[abc]", value()), 1..4)
            .prop_map(|fields| fields.into_iter().collect()),
    ];
    let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4);
    (whole, damage).prop_map(|(document, damage)| {
        let mut bytes = raw(document).into_bytes();
        let inner = 4..bytes.len() - 1;
        for (at, byte) in damage {
            if !inner.is_empty() {
                bytes[inner.start + at.index(inner.len())] = byte;
            }
        }
        RawDocumentBuf::from_bytes(bytes).expect("the frame is sound")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_damaged_document_does_no_harm(document in damaged(), other in damaged()) {
        let (a, b) = (RawBsonRef::Document(&document), RawBsonRef::Document(&other));
        prop_assert_eq!(key::of(a).cmp(&key::of(b)), order::compare(a, b));

        let filter = doc! { "a.b": { "$gt": 1 }, "b": { "$elemMatch": { "c": null } }, "c": [1] };
        let _ = Filter::parse(&filter).expect("a filter").matches(&document);
        Sort::parse(&doc! { "a.b": 1, "c": -1 }).expect("a sort").encode_key(&document);
        let _ = path::compound_index_values(&document, &["a", "b.0", "a.c"]);
        for projection in [doc! { "a.b": 1, "c": 1 }, doc! { "a.b": 0, "c": { "$slice": 1 } }] {
            let _ = Projection::parse(&projection).expect("a projection").apply(&document);
        }
        let update = doc! {
            "$set": { "a.b": 1 },
            "$push": { "b": { "$each": [1], "$sort": 1 } },
            "$rename": { "c": "x" },
        };
        let update = Update::parse(&update, &[]).expect("an update");
        let _ = update.apply(&document, false, DateTime::from_millis(0));
    }
}
