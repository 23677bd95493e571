//! Errors are found in every kind of derived field, and repaired as far as the right value can be known.

use odm::{DerivedKind, Problem, bson::doc, prelude::*};
use tests::{TestStore, behind_the_back, on_every_store};

use super::{Badge, Person, Works, assert_right, ids, maker, part, person, product, review, task};

async fn works(store: impl TestStore) -> Works {
    let db = Works::open(store).await.unwrap();
    db.makers.insert(maker(1)).await.unwrap();
    db.parts.insert_many((1..=3).map(part)).await.unwrap();
    db.products
        .insert_many([product(1, Some(1), &[1, 2]), product(2, Some(1), &[3])])
        .await
        .unwrap();
    db.reviews.insert_many((1..=4).map(|id| review(id, 1 + id % 2, id))).await.unwrap();
    db.people.insert_many((1..=3).map(person)).await.unwrap();
    db.tasks.insert_many((1..=3).map(|id| task(id, Some(1)))).await.unwrap();
    db.badges.insert(Badge { id: 1, holder: Ref::new(1) }).await.unwrap();
    assert_right(&db).await;
    db
}

async fn found(audit: odm::Audit) -> Vec<(String, String, Problem, bool)> {
    let found = audit.await.unwrap().into_iter();
    found.map(|found| (found.collection, found.path, found.problem, found.repaired)).collect()
}

on_every_store! {
    async fn copies_and_counts_are_repaired(store: AnyStore) {
        let db = works(store.clone()).await;
        for (collection, update) in [
            ("products", doc! { "$set": { "parts.0.name": "x", "good_reviews": 7 } }),
            ("makers", doc! { "$unset": { "products": "" } }),
            ("parts", doc! { "$set": { "product_names": [] } }),
            ("reviews", doc! { "$set": { "maker_name": "x" } }),
        ] {
            behind_the_back(&store, collection, doc! { "_id": 1 }, update).await;
        }
        let of = |collection: &str, path: &str, problem| {
            (collection.to_owned(), path.to_owned(), problem)
        };
        let expected = [
            of("makers", "products", Problem::Derived(DerivedKind::Count)),
            of("products", "parts.0.name", Problem::Derived(DerivedKind::Copy)),
            of("products", "good_reviews", Problem::Derived(DerivedKind::Count)),
            of("products", "reviews", Problem::Derived(DerivedKind::Subset)),
            of("parts", "product_names", Problem::Derived(DerivedKind::Copy)),
            of("reviews", "maker_name", Problem::Derived(DerivedKind::Copy)),
        ];
        let with = |repaired| expected.clone().map(|(a, b, c)| (a, b, c, repaired));
        assert_eq!(found(db.audit()).await, with(false));
        let repaired = found(db.repair()).await;
        assert!(repaired.iter().all(|found| found.3), "{repaired:?}");
        assert_right(&db).await;
    }

    async fn a_side_that_does_not_point_back_follows_the_other(store: AnyStore) {
        let db = works(store.clone()).await;
        let one = || doc! { "_id": 1 };
        // The scalar side is the base data.
        behind_the_back(&store, "people", one(), doc! { "$set": { "tasks": [2] } }).await;
        behind_the_back(&store, "tasks", doc! { "_id": 3 }, doc! { "$set": { "owner": null } }).await;
        behind_the_back(&store, "people", doc! { "_id": 2 }, doc! { "$set": { "spouse": 3 } }).await;
        let findings = found(db.audit()).await;
        assert_eq!(findings.iter().filter(|found| found.2 == Problem::OneSidedInverse).count(), 2, "{findings:?}");
        let repaired = found(db.repair()).await;
        assert!(repaired.iter().all(|found| found.3), "{repaired:?}");
        let all = assert_right(&db).await;
        assert_eq!(ids(&all.people[&1].tasks), [1, 2].into());
        assert_eq!(all.people[&3].spouse, Some(Ref::<Person>::new(2)));
    }

    async fn a_reference_that_leads_nowhere_is_let_go_where_its_rule_allows(store: AnyStore) {
        let db = works(store.clone()).await;
        let update = doc! { "$set": { "maker": 77, "parts.0.id": 78 } };
        behind_the_back(&store, "products", doc! { "_id": 1 }, update).await;
        behind_the_back(&store, "badges", doc! {}, doc! { "$set": { "holder": 79 } }).await;
        let findings = found(db.audit()).await;
        let dangling = |found: &&(String, String, Problem, bool)| found.2 == Problem::Dangling;
        assert_eq!(findings.iter().filter(dangling).count(), 3, "{findings:?}");
        let repaired = found(db.repair()).await;
        let left: Vec<_> = repaired.iter().filter(|found| !found.3).collect();
        assert_eq!(left, [&("badges".into(), "holder".into(), Problem::Dangling, false)]);
        let product = db.products.get(1).await.unwrap();
        assert_eq!((product.maker, product.maker_name, product.parts.len()), (None, None, 1));
        db.badges.delete(1).await.unwrap();
        db.repair().await.unwrap();
        assert_right(&db).await;
    }
}
