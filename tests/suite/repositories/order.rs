//! Results have MongoDB's order, which is total.

use odm::{bson::doc, prelude::*};
use tests::on_every_store;

use crate::repositories::items::{Item, Items, ids, item, with_five};

on_every_store! {
    async fn without_a_sort_the_order_is_that_of_the_ids(store: AnyStore) {
        let db = Items::open(store).await.unwrap();
        for id in [3, -7, 12, 0, 5] {
            db.items.insert(item(id, &id.to_string(), "nut", 1)).await.unwrap();
        }
        assert_eq!(ids(db.items.all()).await, [-7, 0, 3, 5, 12]);
        // Even if an index with another order finds them.
        let by_code = db.items.find(Item::fields().code.in_(["12", "0", "-7"]));
        assert_eq!(ids(by_code).await, [-7, 0, 12]);
    }

    async fn equal_keys_are_in_the_order_of_the_ids(store: AnyStore) {
        let db = with_five(store).await;
        let item = Item::fields();
        assert_eq!(ids(db.items.all().sort(item.count.asc())).await, [1, 3, 2, 5, 4]);
        assert_eq!(ids(db.items.all().sort(item.count.desc())).await, [4, 2, 5, 1, 3]);
        assert_eq!(ids(db.items.all().sort(item.id.desc())).await, [5, 4, 3, 2, 1]);
    }

    async fn further_keys_decide_where_the_first_are_equal(store: AnyStore) {
        let db = with_five(store).await;
        let item = Item::fields();
        let by_then = item.kind.desc().then(item.count.asc());
        assert_eq!(ids(db.items.all().sort(by_then)).await, [5, 3, 4, 1, 2]);
        let twice = db.items.all().sort(item.kind.desc()).sort(item.count.asc());
        assert_eq!(ids(twice).await, [5, 3, 4, 1, 2]);
        // By the index on them, in both directions.
        let forwards = db.items.all().sort(item.kind.asc().then(item.count.desc()));
        assert_eq!(ids(forwards).await, [2, 1, 4, 3, 5]);
    }

    async fn null_and_missing_come_first_and_are_equal(store: AnyStore) {
        let db = with_five(store).await;
        let note = Item::fields().note;
        assert_eq!(ids(db.items.all().sort(note.asc())).await, [1, 5, 4, 3, 2]);
        assert_eq!(ids(db.items.all().sort(note.desc())).await, [2, 3, 4, 1, 5]);
        let label = Item::fields().label;
        assert_eq!(ids(db.items.all().sort(label.asc())).await, [1, 3, 2, 5, 4]);
    }

    async fn embedded_fields_sort_documents(store: AnyStore) {
        let db = with_five(store).await;
        let item = Item::fields();
        let by_width = db.items.all().sort(item.size.width.desc());
        assert_eq!(ids(by_width).await, [3, 1, 2, 4, 5]);
        let by_origin = db.items.all().sort(item.origin.country.desc());
        assert_eq!(ids(by_origin).await, [3, 1, 2, 4, 5]);
    }

    async fn numbers_of_all_types_are_in_the_order_of_their_values(store: AnyStore) {
        let db = with_five(store).await;
        for (id, weight) in [(1, doc! { "weight": 3_i64 }), (2, doc! { "weight": 2_i32 })] {
            db.items.update(id).raw(doc! { "$set": weight }).await.unwrap();
        }
        let by_weight = db.items.all().sort(Item::fields().weight.asc());
        assert_eq!(ids(by_weight).await, [4, 5, 2, 3, 1]);
        let heavy = db.items.find(Item::fields().weight.gte(2.0));
        assert_eq!(ids(heavy).await, [1, 2, 3]);
    }
}
