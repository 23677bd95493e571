//! Filters of counts and subsets, which are stored: the stored filter is the declared one, also at the next open, and a filter that changes
//! is a new definition.

use std::sync::Mutex;

use odm::{
    ErrorKind,
    bson::{Bson, Regex, doc},
    prelude::*,
    store::embedded::Embedded,
};
use serde::{Deserialize, Serialize};
use tests::{on_every_store, stored};

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "parents")]
struct Parent {
    #[serde(rename = "_id")]
    id: i32,
    #[count(of = "Child", filter = declared)]
    counted: i64,
    #[subset(limit = 9, sort = "id", filter = declared)]
    shown: Subset<Child>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "children")]
struct Child {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent)]
    parent: Ref<Parent>,
    r: f64,
    at: DateTime,
    text: String,
    any: Bson,
}

#[derive(Database)]
#[database(name = "family", version = 1)]
struct Family {
    parents: Repository<Parent>,
    children: Repository<Child>,
}

type Declared = fn() -> Filter<Child>;

/// The filter that the models declare at present.
static DECLARED: Mutex<Declared> = Mutex::new(Filter::all);

fn declared() -> Filter<Child> {
    DECLARED.lock().unwrap()()
}

fn regex(pattern: &str) -> Bson {
    Bson::RegularExpression(Regex {
        pattern: pattern.try_into().unwrap(),
        options: "".try_into().unwrap(),
    })
}

fn child(id: i32, any: Bson) -> Child {
    Child {
        id,
        parent: Ref::new(1),
        r: if id % 2 == 0 { f64::NAN } else { -0.0 },
        at: DateTime::from_millis(i64::from(id)),
        text: format!("text {id}"),
        any,
    }
}

/// Filters that are stored with their full meaning.
const CONSTANT: [Declared; 11] = [
    || Child::fields().r.ne(f64::NAN),
    || Child::fields().r.eq(f64::NAN),
    || Child::fields().r.gte(-0.0),
    || Child::fields().at.lt(DateTime::from_millis(3)),
    || Child::fields().any.eq(regex("^t")),
    || Child::fields().any.eq(Bson::from(doc! { "$gt": 1 })),
    || Child::fields().any.in_([Bson::Null, Bson::from(doc! { "a": f64::NAN })]),
    || Child::fields().text.starts_with("text"),
    || !(Child::fields().text.eq("text 1") | !Child::fields().r.gt(0.5)),
    || !!Child::fields().text.eq("text 1") & !Child::fields().text.eq("text 2"),
    || Filter::raw(doc! { "text": { "$not": { "$regex": "1$", "$options": "i" } } }),
];

/// Filters without a form for storage.
const REFUSED: [Declared; 9] = [
    || Child::fields().any.in_([regex("^t")]),
    || Child::fields().any.not_in([regex("^t")]),
    || Child::fields().any.ne(regex("^t")),
    || Child::fields().any.in_([Bson::from(doc! { "$gt": 1 })]),
    || Child::fields().any.not_in([Bson::from(doc! { "$gt": 1 })]),
    || Child::fields().any.eq(Bson::Undefined),
    || Child::fields().text.starts_with("a\0b"),
    || (0..121).fold(Child::fields().r.gt(1.0), |filter, _| !filter),
    || !Child::fields().any.in_([Bson::Int32(1), regex("x")]),
];

#[test]
fn a_filter_is_stored_as_it_is_meant_or_is_refused() {
    tests::run(async {
        for (at, filter) in CONSTANT.into_iter().enumerate() {
            *DECLARED.lock().unwrap() = filter;
            let store = Embedded::memory().await.unwrap();
            let db = Family::open(store.clone()).await.unwrap();
            db.parents.insert(Parent { id: 1, counted: 0, shown: Subset::new() }).await.unwrap();
            let anys =
                [Bson::Null, regex("^t"), Bson::from("t"), doc! { "$gt": 1 }.into(), 2.into()];
            let children = (0..).zip(anys).map(|(id, any)| child(id, any));
            db.children.insert_many(children).await.unwrap();
            for _ in 0..2 {
                let db = Family::open(store.clone()).await;
                let db = db.unwrap_or_else(|error| panic!("filter {at}: {error}"));
                db.children
                    .update_where(Filter::all())
                    .raw(doc! { "$inc": { "n": 1 } })
                    .await
                    .unwrap();
                let parent = db.parents.get(1).await.unwrap();
                let found = db.children.find(filter()).await.unwrap();
                assert_eq!(parent.counted, found.len() as i64, "filter {at}");
                assert_eq!(parent.shown.len(), found.len(), "filter {at}");
                assert_eq!(db.audit().await.unwrap(), [], "filter {at}");
            }
        }
        for (at, filter) in REFUSED.into_iter().enumerate() {
            *DECLARED.lock().unwrap() = filter;
            let store = Embedded::memory().await.unwrap();
            let error = Family::open(store.clone()).await.err();
            let error = error.unwrap_or_else(|| panic!("filter {at} is not refused"));
            assert_eq!(error.kind(), ErrorKind::Schema, "filter {at}: {error}");
            let text = error.to_string();
            assert!(
                text.starts_with("unstorable filter: the filter of `parents.counted`"),
                "{text}"
            );
            assert_eq!(stored(&store, "_odm_catalog").await, [], "filter {at}");
        }
        *DECLARED.lock().unwrap() = || Child::fields().at.lt(DateTime::now());
        let store = Embedded::memory().await.unwrap();
        Family::open(store.clone()).await.unwrap();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let error = Family::open(store).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("a filter has to be a constant"), "{error}");
    });
}

macro_rules! version {
    ($module:ident, $version:literal, $least:literal) => {
        mod $module {
            use super::*;

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = "boxes")]
            pub(super) struct Crate {
                #[serde(rename = "_id")]
                pub(super) id: i32,
                #[count(of = "Item", filter = heavy)]
                pub(super) heavy: i64,
                #[subset(limit = 9, sort = "weight", filter = heavy)]
                pub(super) heaviest: Subset<Item>,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = "items")]
            pub(super) struct Item {
                #[serde(rename = "_id")]
                pub(super) id: i32,
                #[reference(parent)]
                pub(super) of: Ref<Crate>,
                pub(super) weight: i32,
            }

            fn heavy() -> Filter<Item> {
                Item::fields().weight.gte($least)
            }

            #[derive(Database)]
            #[database(name = "boxes", version = $version)]
            pub(super) struct Boxes {
                pub(super) boxes: Repository<Crate>,
                pub(super) items: Repository<Item>,
            }
        }
    };
}

version!(first, 1, 0);
version!(second, 2, 5);

on_every_store! {
    async fn a_count_with_a_new_filter_is_right_wherever_it_is_touched(store: AnyStore) {
        let old = first::Boxes::open(store.clone()).await.unwrap();
        let empty = |id| first::Crate { id, heavy: 0, heaviest: Subset::new() };
        old.boxes.insert_many([empty(1), empty(2)]).await.unwrap();
        let item = |id, weight| first::Item { id, of: Ref::new(1), weight };
        old.items.insert_many([item(1, 1), item(2, 2), item(3, 3)]).await.unwrap();
        assert_eq!(old.boxes.get(1).await.unwrap().heavy, 3);
        let new = second::Boxes::open(store.clone()).await.unwrap();
        assert_eq!(new.pending_backfills(), ["boxes.heaviest", "boxes.heavy"]);
        new.items.insert(second::Item { id: 4, of: Ref::new(1), weight: 7 }).await.unwrap();
        // The handle of the older program cannot, since it has another definition.
        let refused = old.items.insert(first::Item { id: 5, of: Ref::new(2), weight: 1 }).await;
        assert_eq!(refused.map(drop).unwrap_err().kind(), ErrorKind::Schema);
        let item = |id, weight| second::Item { id, of: Ref::new(2), weight };
        new.items.insert_many([item(5, 1), item(6, 9)]).await.unwrap();
        for id in [1, 2] {
            let touched = new.boxes.get(id).await.unwrap();
            assert_eq!((touched.heavy, touched.heaviest.len()), (1, 1), "box {id}");
        }
        assert_eq!(new.audit().await.unwrap(), []);
    }
}
