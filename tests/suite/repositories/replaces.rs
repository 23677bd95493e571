//! Whole documents: replace, upsert, modify, delete.

use std::sync::atomic::{AtomicUsize, Ordering};

use odm::{
    bson::doc,
    prelude::*,
    store::{Durability, contract::Store as _},
};
use tests::{on_every_store, stored};

use crate::repositories::items::{Item, Items, five, ids, item, with_five};

on_every_store! {
    async fn replace_stores_another_document_in_the_same_place(store: AnyStore) {
        let db = with_five(store.clone()).await;
        let new = item(3, "new", "cog", 1);
        assert_eq!(db.items.replace(new.clone()).await.unwrap(), new);
        assert_eq!(db.items.get(3).await.unwrap(), new);
        assert_eq!(ids(db.items.find(Item::fields().code.eq("c"))).await, [0; 0]);
        assert_eq!(ids(db.items.find(Item::fields().code.eq("new"))).await, [3]);

        let before = stored(&store, "items").await;
        let error = db.items.replace(item(77, "x", "cog", 1)).await.unwrap_err();
        assert!(error.is_not_found() && error.to_string().contains("77"), "{error}");
        let error = db.items.replace(item(3, "a", "cog", 1)).await.unwrap_err();
        assert!(error.is_duplicate_key(), "{error}");
        assert_eq!(stored(&store, "items").await, before);
    }

    async fn upsert_replaces_or_inserts(store: AnyStore) {
        let db = with_five(store.clone()).await;
        let old = item(3, "c", "cog", 1);
        assert_eq!(db.items.upsert(old.clone()).await.unwrap(), old);
        let new = item(6, "f", "cog", 1);
        assert_eq!(db.items.upsert(new.clone()).await.unwrap(), new);
        assert_eq!(ids(db.items.find(Item::fields().kind.eq("cog"))).await, [3, 6]);
        assert_eq!(db.items.all().count().await.unwrap(), 6);

        let before = stored(&store, "items").await;
        for taken in [item(3, "a", "cog", 1), item(7, "a", "cog", 1)] {
            assert!(db.items.upsert(taken).await.unwrap_err().is_duplicate_key());
        }
        assert_eq!(stored(&store, "items").await, before);
    }

    async fn modify_stores_the_difference(store: AnyStore) {
        let db = with_five(store.clone()).await;
        db.items.update(3).raw(doc! { "$set": { "of_a_newer_program": 1 } }).await.unwrap();
        let changed = db
            .items
            .modify(3, |item| {
                item.count += 1;
                item.note = None;
                item.size.width = 30;
                item.stock.pop();
            })
            .await
            .unwrap();
        let mut expected = five()[2].clone();
        expected.count = 6;
        expected.note = None;
        expected.size.width = 30;
        expected.stock.pop();
        assert_eq!(changed, expected);
        assert_eq!(db.items.get(3).await.unwrap(), expected);
        // `skip_serializing_if` leaves out a field that was stored.
        db.items.modify(2, |item| item.label = None).await.unwrap();
        let all = stored(&store, "items").await;
        assert_eq!(all[2].get_i32("of_a_newer_program").unwrap(), 1);
        assert!(all[1].get("label").unwrap().is_none());

        db.items.modify(1, |_| {}).await.unwrap();
        assert_eq!(stored(&store, "items").await, all);
        assert!(db.items.modify(77, |_| {}).await.unwrap_err().is_not_found());
        let taken = db.items.modify(1, |item| item.code = "b".into()).await.unwrap_err();
        assert!(taken.is_duplicate_key(), "{taken:?}");
        assert_eq!(stored(&store, "items").await, all);
    }

    async fn updates_lose_nothing_when_64_tasks_change_one_document(store: AnyStore) {
        let db = with_five(store).await;
        let mut tasks = Vec::new();
        for task in 0..64 {
            let items = db.items.clone();
            tasks.push(tokio::spawn(async move {
                for _ in 0..4 {
                    let count = Item::fields().count;
                    match task % 2 {
                        0 => items.update(1).inc(count, 1).await.unwrap(),
                        _ => {
                            let one = items.update_where(Item::fields().id.eq(1)).inc(count, 1);
                            assert_eq!(one.await.unwrap().modified, 1);
                        }
                    }
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(db.items.get(1).await.unwrap().count, 5 + 64 * 4);
    }

    async fn delete_tells_whether_there_was_a_document(store: AnyStore) {
        let db = with_five(store).await;
        assert!(db.items.delete(3).await.unwrap());
        assert!(!db.items.delete(3).await.unwrap());
        assert!(!db.items.delete(77).await.unwrap());
        assert!(db.items.delete(&five()[0]).await.unwrap());
        assert_eq!(ids(db.items.all()).await, [2, 4, 5]);
        assert_eq!(ids(db.items.find(Item::fields().code.lte("c"))).await, [2]);
        // Its id and its keys are free.
        db.items.insert(five()[2].clone()).await.unwrap();
        assert_eq!(ids(db.items.find(Item::fields().code.lte("c"))).await, [2, 3]);
    }

    async fn delete_where_removes_what_matches_and_counts_it(store: AnyStore) {
        let db = with_five(store).await;
        let kind = Item::fields().kind;
        assert_eq!(db.items.delete_where(kind.eq("cog")).await.unwrap(), 0);
        assert_eq!(db.items.delete_where(kind.ne("nut")).await.unwrap(), 3);
        assert_eq!(ids(db.items.all()).await, [3, 4]);
        assert_eq!(ids(db.items.find(Item::fields().tags.contains("red"))).await, [3, 4]);
        assert_eq!(db.items.delete_where(Filter::all()).await.unwrap(), 2);
        assert_eq!(db.items.all().count().await.unwrap(), 0);
        let tagged = db.items.find(Item::fields().tags.contains("red"));
        assert_eq!(tagged.count().await.unwrap(), 0);
    }

    async fn what_is_not_awaited_does_not_happen(store: AnyStore) {
        let db = Items::open(store).await.unwrap();
        drop(db.items.insert(item(1, "a", "nut", 1)));
        drop(db.items.insert(item(2, "b", "nut", 1)).into_future());
        drop(db.items.upsert(item(3, "c", "nut", 1)));
        assert_eq!(db.items.all().count().await.unwrap(), 0);
    }

    async fn a_write_that_is_durable_soon_is_seen_at_once(store: AnyStore) {
        let db = Items::open(store).await.unwrap();
        let soon = db.items.durability(Durability::Eventual);
        soon.insert(item(1, "a", "nut", 1)).await.unwrap();
        soon.update(1).inc(Item::fields().count, 1).await.unwrap();
        assert_eq!(db.items.get(1).await.unwrap().count, 2);
        db.items.update(1).inc(Item::fields().count, 1).await.unwrap();
        assert_eq!(soon.get(1).await.unwrap().count, 3);
    }
}

on_every_store! {
    async fn modify_loses_nothing_when_many_tasks_change_one_document(store: AnyStore) {
        // Transactions that run side by side all conflict with each other.
        let (number, times) = match store.capabilities().outer_writes {
            true => (16, 2),
            false => (64, 4),
        };
        let db = with_five(store).await;
        let runs = AtomicUsize::new(0);
        let runs = std::sync::Arc::new(runs);
        let mut tasks = Vec::new();
        for task in 0..number {
            let (items, runs) = (db.items.clone(), runs.clone());
            tasks.push(tokio::spawn(async move {
                for _ in 0..times {
                    let change = |item: &mut Item| {
                        runs.fetch_add(1, Ordering::Relaxed);
                        item.count += 1;
                        item.tags.push(format!("task {task}"));
                    };
                    items.modify(1, change).await.unwrap();
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        let item = db.items.get(1).await.unwrap();
        assert_eq!(item.count, 5 + number * times);
        assert_eq!(item.tags.len() as i32, number * times);
        assert!(runs.load(Ordering::Relaxed) as i32 >= number * times);
    }
}
