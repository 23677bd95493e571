//! The effect of a delete on the referrers.

use odm::prelude::*;
use tests::on_every_store;

use super::{Badge, Works, assert_right, maker, part, person, product, review, task};

on_every_store! {
    async fn each_rule_does_what_it_says(store: AnyStore) {
        let db = Works::open(store).await.unwrap();
        db.makers.insert(maker(1)).await.unwrap();
        db.parts.insert_many((1..=3).map(part)).await.unwrap();
        db.products.insert_many([product(1, Some(1), &[1, 2, 1]), product(2, Some(1), &[3])]).await.unwrap();
        db.reviews.insert_many((1..=4).map(|id| review(id, 1 + id % 2, id))).await.unwrap();

        // Pull: the links go, and so do the copies in them.
        db.parts.delete(1).await.unwrap();
        let all = assert_right(&db).await;
        assert_eq!(all.products[&1].parts.len(), 1);
        assert_eq!(all.products[&1].revision, 2, "a pulled link is a change of the product");
        // Nullify: the reference is empty, and so are its copies.
        assert!(db.makers.delete(1).await.unwrap());
        let all = assert_right(&db).await;
        assert_eq!((&all.products[&2].maker, &all.products[&2].maker_name), (&None, &None));
        // Cascade: the reviews go with their product.
        db.products.delete(1).await.unwrap();
        let all = assert_right(&db).await;
        assert_eq!(all.reviews.len(), 2);
        assert_eq!(db.products.delete_where(Filter::all()).await.unwrap(), 1);
        assert!(assert_right(&db).await.reviews.is_empty());
    }

    async fn deletes_by_filter_take_the_same_road(store: AnyStore) {
        let db = Works::open(store).await.unwrap();
        db.makers.insert_many((1..=3).map(maker)).await.unwrap();
        db.parts.insert_many((1..=3).map(part)).await.unwrap();
        let products = (1..=6).map(|id| product(id, Some(1 + id % 3), &[1, 2, 3]));
        db.products.insert_many(products).await.unwrap();
        db.reviews.insert_many((1..=60).map(|id| review(id, 1 + id % 6, id % 5))).await.unwrap();
        db.parts.delete_where(super::Part::fields().id.gt(1)).await.unwrap();
        assert_right(&db).await;
        db.makers.delete_where(Filter::all()).await.unwrap();
        db.products.delete_where(super::Product::fields().id.lte(4)).await.unwrap();
        let all = assert_right(&db).await;
        assert_eq!((all.products.len(), all.reviews.len()), (2, 20));
    }

    async fn a_pair_that_cannot_be_empty_restricts_and_names_who_refers(store: AnyStore) {
        let db = Works::open(store).await.unwrap();
        db.people.insert_many([person(1), person(2)]).await.unwrap();
        db.badges.insert(Badge { id: 5, holder: Ref::new(1) }).await.unwrap();
        db.tasks.insert_many([task(1, Some(1)), task(2, Some(2))]).await.unwrap();
        let error = db.people.delete(1).await.unwrap_err();
        assert!(error.is_restricted());
        assert!(error.to_string().contains("`badges.holder` of the document with `_id` = 5"), "{error}");
        assert_right(&db).await;
        // The owner of the tasks becomes empty.
        db.people.delete(2).await.unwrap();
        assert_eq!(assert_right(&db).await.tasks[&2].owner, None);
        db.tasks.delete(1).await.unwrap();
        db.badges.delete(5).await.unwrap();
        db.people.delete(1).await.unwrap();
        assert_right(&db).await;
    }
}
