//! Copies and counts follow their sources, after any write in any way.

use odm::{ErrorKind, bson::doc, measure, prelude::*, store::embedded::Embedded};
use tests::{TestStore, on_every_store};

use super::{
    Maker, Part, PartLink, Product, Review, Works, assert_right, maker, part, product, review,
};

async fn works(store: impl TestStore) -> Works {
    let db = Works::open(store).await.unwrap();
    db.makers.insert_many((1..=2).map(maker)).await.unwrap();
    db.parts.insert_many((1..=4).map(part)).await.unwrap();
    db.products.insert(product(1, Some(1), &[1, 2])).await.unwrap();
    db.products.insert(product(2, Some(1), &[2, 3])).await.unwrap();
    db.products.insert(product(3, None, &[])).await.unwrap();
    let reviews = (1..=6).map(|id| review(id, 1 + id % 2, id % 5));
    db.reviews.insert_many(reviews).await.unwrap();
    assert_right(&db).await;
    db
}

on_every_store! {
    async fn what_was_stored_is_returned_with_its_copies(store: AnyStore) {
        let db = works(store).await;
        let stored = db.products.insert(product(9, Some(2), &[4])).await.unwrap();
        assert_eq!(stored.maker_name.as_deref(), Some("maker 2"));
        assert_eq!(stored.city.as_deref(), Some("city 2"));
        assert_eq!((stored.parts[0].name.as_str(), stored.good_reviews), ("part 4", 0));
        let stored = db.products.replace(Product { maker: None, ..stored }).await.unwrap();
        assert_eq!((stored.maker_name, stored.city), (None, None));
        assert_right(&db).await;
    }

    async fn a_change_of_a_source_changes_every_copy_and_what_shows_them(store: AnyStore) {
        let db = works(store).await;
        let (result, cost) = measure(async {
            db.makers.update(1).set(Maker::fields().name, "renamed").await
        }).await;
        result.unwrap();
        // The maker, two products, their six reviews, and the products once more, which show these.
        assert!(cost.documents_written <= 1 + 2 + 6 + 2, "{cost:?}");
        let all = assert_right(&db).await;
        assert_eq!(all.products[&1].reviews[0].maker_name.as_deref(), Some("renamed"));
        db.makers.update(1).set(Maker::fields().home.city, "moved").await.unwrap();
        db.parts.update_where(Part::fields().id.lte(2)).set(Part::fields().name, "same").await.unwrap();
        db.products.update(1).set(Product::fields().name, "product 2").await.unwrap();
        let all = assert_right(&db).await;
        assert_eq!(all.products[&1].parts[0].name_then, "part 1", "frozen");
        assert_eq!(all.parts[&2].product_names, ["product 2"], "each value once");
    }

    async fn no_change_of_a_value_is_no_write(store: AnyStore) {
        let db = works(store).await;
        let (result, cost) = measure(async {
            db.parts.update(2).set(Part::fields().name, "part 2").await
        }).await;
        result.unwrap();
        assert_eq!(cost.documents_written, 0);
        let revision = db.products.get(1).await.unwrap().revision;
        db.parts.update(2).set(Part::fields().name, "new").await.unwrap();
        assert_eq!(db.products.get(1).await.unwrap().revision, revision, "a copy is no fact of its own");
        db.parts.update(4).set(Part::fields().name, "of nobody").await.unwrap();
        assert_right(&db).await;
    }

    async fn a_changed_reference_changes_its_copies(store: AnyStore) {
        let db = works(store).await;
        let fields = Product::fields();
        db.products.update(1).set(fields.maker, 2).await.unwrap();
        db.products.update(2).set(fields.maker, None).await.unwrap();
        db.products.update(3).raw(doc! { "$set": { "maker": 1 } }).await.unwrap();
        assert_right(&db).await;
        let link = |id| PartLink {
            id: Ref::new(id), name: String::new(), name_then: String::new(), quantity: 7,
        };
        db.products.update(1).push(fields.parts, link(4)).await.unwrap();
        db.products.update(1).raw(doc! { "$set": { "parts.0.id": 3 } }).await.unwrap();
        db.products.modify(2, |product| product.parts.reverse()).await.unwrap();
        db.products.update(2).set(fields.parts, vec![link(1), link(2)]).await.unwrap();
        let all = assert_right(&db).await;
        assert_eq!(all.products[&1].parts[0].name_then, "part 3");
        db.reviews.update(1).set(Review::fields().product, 3).await.unwrap();
        db.reviews.update_where(Filter::all()).set(Review::fields().score, 4).await.unwrap();
        db.reviews.upsert(review(50, 3, 1)).await.unwrap();
        assert_right(&db).await;
    }

    async fn a_frozen_copy_keeps_the_value_of_its_time(store: AnyStore) {
        let db = works(store).await;
        let names = |product: &Product| -> Vec<String> {
            product.parts.iter().map(|link| link.name_then.clone()).collect()
        };
        db.parts.update(1).set(Part::fields().name, "later").await.unwrap();
        let mut now = db.products.get(1).await.unwrap();
        assert_eq!(names(&now), ["part 1", "part 2"]);
        now.parts.reverse();
        now.parts.push(PartLink { id: Ref::new(3), ..now.parts[0].clone() });
        now.parts[0].name_then = "made up".into();
        let now = db.products.replace(now).await.unwrap();
        assert_eq!(names(&now), ["part 2", "part 1", "part 3"]);
        assert_right(&db).await;
    }

    async fn what_the_library_keeps_cannot_be_written(store: AnyStore) {
        let db = works(store).await;
        for update in [
            doc! { "$set": { "maker_name": "x" } },
            doc! { "$set": { "parts.0.name": "x" } },
            doc! { "$set": { "parts.$[].name": "x" } },
            doc! { "$unset": { "parts.1.name_then": "" } },
            doc! { "$rename": { "name": "maker_name" } },
            doc! { "$rename": { "madeIn": "x" } },
            doc! { "$inc": { "good_reviews": 1 } },
        ] {
            let error = db.products.update(1).raw(update.clone()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{update}");
        }
        let error = db.makers.update(1).raw(doc! { "$set": { "products": 3 } }).await.unwrap_err();
        assert!(error.to_string().contains("`makers.products`"), "{error}");
        let error = db.parts.update(1).raw(doc! { "$push": { "product_names": "x" } }).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidQuery);
        assert_right(&db).await;
    }

    async fn a_document_is_written_once_with_its_copies(store: AnyStore) {
        let db = works(store).await;
        let (result, cost) = measure(async { db.tasks.insert(super::task(1, None)).await }).await;
        result.unwrap();
        assert_eq!(cost.documents_written, 1);
        db.products.insert(product(7, Some(2), &[])).await.unwrap();
        let (result, cost) = measure(async { db.reviews.insert(review(70, 7, 1)).await }).await;
        assert_eq!(result.unwrap().maker_name.as_deref(), Some("maker 2"));
        assert_eq!(cost.documents_written, 2, "the review, and the product that shows it");
        assert_right(&db).await;
    }

    async fn an_upsert_by_a_filter_fills_the_copies_in(store: AnyStore) {
        let db = works(store).await;
        let fields = Review::fields();
        let upsert = |id| db.reviews.update_where(fields.id.eq(id)).upsert();
        let done = upsert(90).set(fields.product, 2).set(fields.score, 5).await.unwrap();
        assert!(done.inserted);
        assert_eq!(db.reviews.get(90).await.unwrap().product_name, "product 2");
        assert_right(&db).await;
        let error = upsert(91).set(fields.score, 5).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        let asked = fields.id.eq(92) & fields.product_name.eq("x");
        let error = db.reviews.update_where(asked).upsert().set(fields.score, 5).await.unwrap_err();
        assert!(error.to_string().contains("`reviews.product_name`"), "{error}");
        assert!(db.reviews.get(91).optional().await.unwrap().is_none());
        assert_right(&db).await;
    }

    async fn one_part_that_is_in_a_list_more_than_once_is_renamed_everywhere(store: AnyStore) {
        let db = works(store).await;
        // The same part twice in one product, and products with many parts.
        db.products.insert(product(8, None, &[1, 1, 2, 1])).await.unwrap();
        db.parts.update(1).set(Part::fields().name, "one").await.unwrap();
        let all = assert_right(&db).await;
        let names: Vec<&str> = all.products[&8].parts.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(names, ["one", "one", "part 2", "one"]);
    }

    async fn a_rolled_back_transaction_leaves_no_copy(store: AnyStore) {
        let db = works(store).await;
        let before = super::everything(&db).await;
        let result: odm::Result<()> = db.transaction(async |db| {
            db.makers.update(1).set(Maker::fields().name, "lost").await?;
            db.products.delete(1).await?;
            db.parts.delete(2).await?;
            assert_right(&db).await;
            db.parts.get(1000).await.map(drop)
        }).await;
        result.unwrap_err();
        assert_eq!(super::everything(&db).await, before);
    }
}

#[test]
fn a_fan_out_over_the_limit_is_refused_with_its_number() {
    tests::run(async {
        let store = Embedded::builder().unit_limit(50).memory().await.unwrap();
        let db = Works::open(store).await.unwrap();
        db.makers.insert(maker(1)).await.unwrap();
        for id in 0..60 {
            db.products.insert(product(id, Some(1), &[])).await.unwrap();
        }
        let error = db.makers.update(1).set(Maker::fields().name, "x").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(error.to_string().contains("60 documents of `products`"), "{error}");
        let advice = "the copies in `products` can be refreshed after it: declare them with `refresh = \"later\"`";
        assert!(error.to_string().contains(advice), "{error}");
        assert_right(&db).await;
    });
}
