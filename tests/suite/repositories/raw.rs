//! Updates in MongoDB's form.

use futures_util::TryStreamExt as _;
use odm::{
    ErrorKind,
    bson::{Document, doc},
    prelude::*,
};
use tests::{TestStore, behind_the_back, on_every_store, stored};

use crate::repositories::items::{Item, Items, with_five};

/// The stored item after a raw update.
async fn applied(store: &impl TestStore, db: &Items, id: i64, update: Document) -> Document {
    db.items.update(id).raw(update).await.unwrap();
    let all = stored(store, "items").await;
    let raw = all.iter().find(|item| item.get_i64("_id").is_ok_and(|held| held == id)).unwrap();
    raw.try_into().unwrap()
}

on_every_store! {
    async fn raw_updates_mean_what_they_mean_in_mongodb(store: AnyStore) {
        let db = with_five(store.clone()).await;
        let item = applied(&store, &db, 3, doc! {
            "$set": { "size.width": 30 }, "$inc": { "count": 2 }, "$unset": { "note": "" },
        })
        .await;
        assert_eq!(item.get_document("size").unwrap(), &doc! { "width": 30, "height": 4 });
        assert_eq!(item.get_i32("count").unwrap(), 7);
        assert!(!item.contains_key("note"));

        let item = applied(&store, &db, 3, doc! { "$push": { "tags": {
            "$each": ["a", "z"], "$sort": 1, "$slice": 3,
        } } })
        .await;
        assert_eq!(item.get_array("tags").unwrap(), doc! { "v": ["a", "blue", "red"] }
            .get_array("v").unwrap());
        let item = applied(&store, &db, 3, doc! { "$push": { "tags": {
            "$each": ["0"], "$position": 1,
        } } })
        .await;
        assert_eq!(item.get_array("tags").unwrap()[1].as_str(), Some("0"));
        let item = applied(&store, &db, 3, doc! { "$pull": { "tags": { "$gt": "b" } } }).await;
        assert_eq!(item.get_array("tags").unwrap().len(), 2);
        let item = applied(&store, &db, 3, doc! { "$pullAll": { "tags": ["a", "0"] } }).await;
        assert_eq!(item.get_array("tags").unwrap().len(), 0);
        let item = applied(&store, &db, 3, doc! { "$addToSet": { "tags": {
            "$each": ["p", "p", "q"],
        } } })
        .await;
        assert_eq!(item.get_array("tags").unwrap().len(), 2);
        let item = applied(&store, &db, 3, doc! { "$pop": { "tags": -1 } }).await;
        assert_eq!(item.get_array("tags").unwrap()[0].as_str(), Some("q"));

        let by_element = Filter::raw(doc! { "_id": 3, "stock.qty": 9 });
        let raised = doc! { "$inc": { "stock.$.qty": 1 } };
        assert_eq!(db.items.update_where(by_element).raw(raised.clone()).await.unwrap().modified, 1);
        let error = db.items.update(3).raw(raised.clone()).await.unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::InvalidUpdate, Some(2)));
        let by_element = Filter::raw(doc! { "_id": 3, "stock.qty": 10 });
        let lowered = doc! { "$inc": { "stock.$.qty": -1 } };
        db.items.update_where(by_element).raw(lowered).await.unwrap();

        let item = applied(&store, &db, 3, doc! { "$inc": { "stock.$[].qty": 10 } }).await;
        let stock = item.get_array("stock").unwrap();
        assert_eq!(stock[0].as_document().unwrap().get_i64("qty").unwrap(), 19);
        assert_eq!(stock[1].as_document().unwrap().get_i64("qty").unwrap(), 11);
        let item = applied(&store, &db, 3, doc! { "$rename": { "label": "sticker" } }).await;
        assert!(!item.contains_key("sticker"), "there was no label");
        let item = applied(&store, &db, 2, doc! { "$rename": { "label": "sticker" } }).await;
        assert_eq!(item.get_str("sticker").unwrap(), "x");
        let item = applied(&store, &db, 2, doc! { "$setOnInsert": { "kind": "never" } }).await;
        assert_eq!(item.get_str("kind").unwrap(), "bolt");
        let item = applied(&store, &db, 2, doc! { "$currentDate": { "made": true } }).await;
        let made: DateTime = item.get_datetime("made").copied().unwrap().into();
        assert!(made > DateTime::from_millis(1_600_000_000_000));
        // The library does not know the field `sticker`, and leaves it.
        db.items.modify(2, |item| item.count = 1).await.unwrap();
        let item = applied(&store, &db, 2, doc! { "$mul": { "count": 5 } }).await;
        assert_eq!(item.get_i32("count").unwrap(), 5);
        assert_eq!(item.get_str("sticker").unwrap(), "x");
    }

    async fn array_filters_choose_elements(store: AnyStore) {
        let db = with_five(store).await;
        let update = doc! { "$set": { "stock.$[few].qty": 100_i64 } };
        let few = vec![doc! { "few.qty": { "$lt": 5 } }];
        let all = db.items.update_where(Filter::all());
        let done = all.raw_with(update, few).await.unwrap();
        assert_eq!((done.matched, done.modified), (5, 3));
        let stock = db.items.get(3).await.unwrap().stock;
        let quantities: Vec<i64> = stock.iter().map(|stock| stock.qty).collect();
        assert_eq!(quantities, [9, 100]);

        let update = doc! { "$set": { "stock.$[other].qty": 100_i64 } };
        let error = db.items.update(3).raw(update).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
        assert!(error.to_string().contains("other"), "{error}");
    }

    async fn an_unknown_operator_of_an_update_is_named(store: AnyStore) {
        let db = with_five(store.clone()).await;
        let before = stored(&store, "items").await;
        for (named, update) in [
            ("$frob", doc! { "$frob": { "count": 1 } }),
            ("$bits", doc! { "$set": { "kind": "cog" }, "$bits": { "count": { "and": 1 } } }),
            ("$order", doc! { "$push": { "tags": { "$each": ["a"], "$order": 1 } } }),
            // A whole document is no update.
            ("count", doc! { "count": 1 }),
        ] {
            let error = db.items.update(1).raw(update.clone()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
            assert!(error.to_string().contains(named), "{error}");
            let all = db.items.update_where(Filter::all());
            let error = all.set(Item::fields().weight, 1.0).raw(update).await.unwrap_err();
            assert!(error.to_string().contains(named), "{error}");
        }
        assert_eq!(stored(&store, "items").await, before);
    }

    async fn what_a_raw_update_broke_is_named_by_the_read(store: AnyStore) {
        let db = with_five(store.clone()).await;
        let broken = doc! { "$set": { "count": "many" } };
        behind_the_back(&store, "items", doc! { "_id": 3 }, broken).await;
        for error in [
            db.items.get(3).await.map(drop).unwrap_err(),
            db.items.all().await.map(drop).unwrap_err(),
            db.items.all().page(2).await.map(drop).err().unwrap_or(
                db.items.find(Item::fields().id.eq(3)).page(2).await.map(drop).unwrap_err(),
            ),
            db.items.all().stream().try_collect::<Vec<_>>().await.map(drop).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Decode);
            let text = error.to_string();
            assert!(text.contains("`items`") && text.contains("`_id` = 3"), "{text}");
            assert!(std::error::Error::source(&error).is_some());
        }
        assert_eq!(db.items.find(Item::fields().id.eq(3)).count().await.unwrap(), 1);
    }
}
