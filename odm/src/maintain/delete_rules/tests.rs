//! References in documents of any shape: a rule clears every reference that it finds.

use bson::{Bson, Document, RawDocumentBuf, doc};
use proptest::prelude::*;

use super::{super::places::changes, *};
use crate::{catalog::Cardinality, model::DateTime};

/// Any value of the few names and `_id`s that the paths below meet.
fn value() -> impl Strategy<Value = Bson> {
    let leaf = prop_oneof![
        4 => (0..4_i32).prop_map(Bson::from),
        1 => (0..4_i32).prop_map(|id| Bson::from(f64::from(id))),
        1 => Just(Bson::Null),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let fields = prop::collection::btree_map("[abc]", inner.clone(), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Bson::Array),
            fields.prop_map(|fields| Bson::Document(fields.into_iter().collect())),
        ]
    })
}

fn edge(path: &str, on_delete: OnDelete, list: Option<&str>) -> Edge {
    Edge {
        from: "holders".to_owned(),
        path: path.to_owned(),
        to: "targets".to_owned(),
        cardinality: Cardinality::One,
        list: list.map(str::to_owned),
        unchecked: false,
        on_delete,
        inverse: None,
    }
}

fn named(document: &RawDocument, edge: &Edge) -> Vec<Vec<u8>> {
    let mut named = Vec::new();
    references(document, &edge.path, |id| named.push(key::of(id)));
    named
}

proptest! {
    #[test]
    fn no_reference_that_is_found_is_left(a in value(), ids in prop::collection::hash_set(0..4_i32, 1..3)) {
        let document = RawDocumentBuf::try_from(&doc! { "_id": 1, "a": a }).unwrap();
        let gone: HashSet<Vec<u8>> = ids.into_iter().map(|id| key::of(RawBsonRef::Int32(id))).collect();
        for (path, list) in [
            ("a", None),
            ("a.b", None),
            ("a.b.c", None),
            ("a", Some("a")),
            ("a.b", Some("a")),
            ("a.b", Some("a.b")),
            ("a.b.c", Some("a")),
            ("a.b.c", Some("a.b")),
            ("a.b.c", Some("a.b.c")),
        ] {
            let rule = list.map_or(OnDelete::Nullify, |_| OnDelete::Pull);
            let edge = edge(path, rule, list);
            let before = named(&document, &edge);
            let fields = cleared(&document, &edge, &gone);
            prop_assert_eq!(fields.is_empty(), before.iter().all(|id| !gone.contains(id)));
            let now = DateTime::now().into();
            let after = changes(fields).apply(&document, false, now).unwrap();
            let after = after.unwrap_or_else(|| document.clone());
            let left = named(&after, &edge);
            let shown = Document::try_from(&*after).unwrap();
            prop_assert!(left.iter().all(|id| !gone.contains(id)), "{path} by {list:?}: {shown}");
            if rule == OnDelete::Nullify || list == Some(path) {
                let kept: Vec<_> = before.into_iter().filter(|id| !gone.contains(id)).collect();
                prop_assert_eq!(left, kept, "{} by {:?}: {}", path, list, shown);
            }
        }
    }
}
