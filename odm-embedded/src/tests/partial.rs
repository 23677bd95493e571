//! Indexes of the documents that match a filter.

use bson::{Bson, Document, doc};
use odm_mql::Filter;
use odm_store::{ErrorKind, Explain, Find, IndexFilter, Store};

use super::support::*;
use crate::Embedded;

async fn explain(store: &Embedded, query: Document) -> Explain {
    let reader = store.reader().expect("an open store");
    let find = find(query);
    reader.explain(&find).await.expect("a plan")
}

fn find(query: Document) -> Find {
    Find {
        filter: filter(query),
        ..find_all()
    }
}

/// Users. Each third one is active.
async fn users() -> Embedded {
    let store = things(vec![
        partial(unique("active", &[("email", 1)]), doc! { "active": true }),
        partial(
            index("adults", &[("name", 1)]),
            doc! { "age": { "$gte": 18 }, "email": { "$exists": true } },
        ),
    ])
    .await;
    let users = (0..300).map(|i| {
        doc! { "_id": i, "email": format!("{i}"), "active": i % 3 == 0, "age": i % 40, "name": i % 10 }
    });
    insert(&store, users.collect()).await.expect("an insert");
    store
}

#[test]
fn a_query_uses_a_partial_index_only_if_its_filter_follows_from_that_of_the_query() {
    block_on(async {
        let store = users().await;
        for (query, index) in [
            (doc! { "email": "6", "active": true }, Some("active")),
            (doc! { "email": "6" }, None),
            (doc! { "email": "6", "active": false }, None),
            (doc! { "email": "6", "active": { "$ne": false } }, None),
            (
                doc! { "email": "6", "active": { "$in": [true] } },
                Some("active"),
            ),
            (
                doc! { "email": "6", "$or": [{ "active": true }] },
                Some("active"),
            ),
            (doc! { "email": "6", "$nor": [{ "active": true }] }, None),
            (
                doc! { "name": 6, "age": 20, "email": { "$gt": "" } },
                Some("adults"),
            ),
            (
                doc! { "name": 6, "age": { "$gt": 18 }, "email": { "$regex": "^1" } },
                Some("adults"),
            ),
            (
                doc! { "name": 6, "age": { "$gt": 17 }, "email": { "$exists": true } },
                None,
            ),
            (doc! { "name": 6, "age": 20 }, None),
            // A condition in conjunction with a disjunction holds in each of its branches.
            (
                doc! { "$or": [{ "email": "6" }, { "email": "9" }], "active": true },
                Some("active"),
            ),
            (
                doc! { "$or": [{ "email": "6", "active": true }, { "email": "9" }] },
                None,
            ),
        ] {
            let plan = explain(&store, query.clone()).await;
            assert_eq!(plan.index.as_deref(), index, "{query}");
            let all = all(&store).await;
            let filter = filter(query.clone());
            let matching = all
                .into_iter()
                .filter(|one| filter.matches(&raw(one.clone())).expect("a match"));
            let reader = store.reader().expect("an open store");
            let found = found(&*reader, &find(query.clone())).await;
            assert_eq!(found, matching.collect::<Vec<_>>(), "{query}");
        }
    });
}

#[test]
fn a_partial_index_gives_an_order_and_answers_a_count_alone() {
    block_on(async {
        let store = users().await;
        let reader = store.reader().expect("an open store");
        let query = doc! { "age": { "$gte": 18 }, "email": { "$exists": true } };
        let sorted = Find {
            sort: sort(doc! { "name": 1 }),
            limit: Some(5),
            ..find(query.clone())
        };
        let plan = reader.explain(&sorted).await.expect("a plan");
        assert_eq!(
            (plan.index.as_deref(), plan.cost.documents_examined),
            (Some("adults"), 5)
        );
        let named = |more: Document| {
            let mut all = doc! { "name": { "$lt": 3 } };
            all.extend(query.clone());
            all.extend(more);
            find(all)
        };
        let (count, cost) = reader.count(&named(doc! {})).await.expect("a count");
        assert_eq!((count, cost.documents_examined), (42, 0));
        // Conditions that do not follow from the filter of the index are tested on the documents.
        let (count, cost) = reader
            .count(&named(doc! { "age": { "$gte": 21 } }))
            .await
            .expect("a count");
        assert_eq!((count, cost.documents_examined), (35, 42));
    });
}

#[test]
fn documents_enter_and_leave_a_partial_index_by_every_write() {
    block_on(async {
        let store = users().await;
        let taken = doc! { "_id": 1000, "email": "3", "active": true };
        let error = insert(&store, vec![taken.clone()])
            .await
            .expect_err("it is taken");
        assert_eq!(error.kind(), ErrorKind::DuplicateKey);
        let message = error.to_string();
        assert!(
            message.contains(r#"among the documents with `{ "active": true }`"#),
            "{message}"
        );
        // First as a further document, and then in its place.
        let mut waiting = taken.clone();
        waiting.insert("active", false);
        insert(&store, vec![waiting])
            .await
            .expect("it is not active");
        let activate = Write::Update(doc! { "_id": 1000 }, doc! { "$set": { "active": true } });
        let error = run(&store, vec![activate.clone()])
            .await
            .expect_err("it is taken");
        assert_eq!(error.kind(), ErrorKind::DuplicateKey);
        let leave = Write::Update(doc! { "_id": 3 }, doc! { "$unset": { "active": 1 } });
        run(&store, vec![leave, activate])
            .await
            .expect("the other one has left");
        store.check_integrity().await.expect("sound indexes");
        let query = doc! { "email": "3", "active": true };
        let reader = store.reader().expect("an open store");
        assert_eq!(
            ids(&found(&*reader, &find(query.clone())).await),
            [&Bson::Int32(1000)]
        );
        run(&store, vec![Write::Delete(doc! { "_id": 1000 })])
            .await
            .expect("a delete");
        store.check_integrity().await.expect("sound indexes");
        assert_eq!(explain(&store, query).await.cost.keys_examined, 0);
    });
}

#[test]
fn arrays_outside_of_a_partial_index_do_not_concern_it() {
    block_on(async {
        let store = things(vec![partial(
            index("a_b", &[("a", 1), ("b", 1)]),
            doc! { "n": 1 },
        )])
        .await;
        let beside = doc! { "a": [1, 2], "b": [3] };
        let with = |n: i32| {
            let mut document = doc! { "_id": n, "n": n };
            document.extend(beside.clone());
            document
        };
        insert(&store, vec![with(2)])
            .await
            .expect("it is not in the index");
        let error = insert(&store, vec![with(1)])
            .await
            .expect_err("two arrays side by side");
        assert_eq!(error.kind(), ErrorKind::InvalidUpdate);
        store.check_integrity().await.expect("sound indexes");
    });
}

#[test]
fn a_filter_with_anything_but_simple_conditions_is_refused_and_named() {
    for (query, named) in [
        (doc! { "a": { "$ne": 1 } }, r#"`{ "a": { "$ne": 1 } }`"#),
        (
            doc! { "b": 1, "a": { "$in": [1, 2] } },
            r#"`{ "a": { "$in": [1, 2] } }`"#,
        ),
        (doc! { "$or": [{ "a": 1 }, { "b": 1 }] }, "$or"),
        (doc! { "$nor": [{ "a": 1 }] }, "$nor"),
        (doc! { "$expr": true }, "$expr"),
        (doc! { "a": { "$exists": false } }, "$exists"),
        (doc! { "a": { "$regex": "^a" } }, "$regex"),
        (doc! { "a": { "$gt": null } }, "$gt"),
        (doc! { "a": { "$lt": f64::NAN } }, "$lt"),
        (doc! { "a": [1] }, r#"{ "a": [1] }"#),
        (doc! { "a": { "x": 1 } }, r#""x""#),
        (doc! {}, "matches every document"),
    ] {
        let parsed = Filter::parse(&query).expect("a filter");
        let error = IndexFilter::new(&parsed).expect_err("it is refused");
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains(named), "{error}");
    }
}

#[test]
fn a_filter_with_a_collation_is_refused_as_such() {
    let collated = filter(doc! { "a": "b" }).collated(Some(&collation(2)));
    let error = IndexFilter::new(&collated).expect_err("it is refused");
    assert_eq!(error.kind(), ErrorKind::Schema);
    assert!(error.to_string().contains("it has a collation"), "{error}");
}
