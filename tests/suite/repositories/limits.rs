//! A document that is too large or cannot be stored is an error, and no part of it is stored.

use odm::{
    ErrorKind,
    bson::{Bson, doc},
    prelude::*,
    store::embedded::Embedded,
};
use serde::{Deserialize, Serialize};
use tests::on_every_store;

use crate::repositories::items::{Items, item, with_five};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "numbers")]
struct Number {
    #[serde(rename = "_id")]
    id: i64,
    large: u64,
}

#[derive(Database)]
#[database(name = "numbers", version = 1)]
struct Numbers {
    numbers: Repository<Number>,
}

on_every_store! {
    async fn a_document_over_16_mib_is_refused(store: AnyStore) {
        let db = Items::open(store).await.unwrap();
        let mut large = item(1, "a", "nut", 1);
        large.note = Some("x".repeat(16 << 20));
        let many = [item(2, "b", "nut", 1), large.clone()];
        let error = db.items.insert_many(many).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert_eq!(db.items.all().count().await.unwrap(), 0);
        large.note = Some("x".repeat(15 << 20));
        db.items.insert(large).await.unwrap();
        let more = Update::new().push(crate::repositories::items::Item::fields().tags, "y".repeat(2 << 20));
        let error = db.items.update(1).with(more).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert!(db.items.get(1).await.unwrap().tags.is_empty());
    }

    async fn a_document_of_over_180_levels_is_refused(store: AnyStore) {
        let db = with_five(store).await;
        let nested = |depth: usize| (0..depth).fold(Bson::Int32(1), |inner, _| doc! { "n": inner }.into());
        db.items.update(1).raw(doc! { "$set": { "extra": nested(170) } }).await.unwrap();
        let error = db.items.update(2).raw(doc! { "$set": { "extra": nested(190) } }).await;
        let error = error.unwrap_err();
        let kinds = [ErrorKind::Limit, ErrorKind::InvalidQuery, ErrorKind::InvalidUpdate];
        assert!(kinds.contains(&error.kind()), "{error:?}");
        db.items.get(2).await.unwrap();
    }

    async fn a_value_that_bson_lacks_is_refused_when_it_is_used(store: AnyStore) {
        let db = Numbers::open(store).await.unwrap();
        let largest = i64::MAX as u64;
        db.numbers.insert(Number { id: 1, large: largest }).await.unwrap();
        let error = db.numbers.insert(Number { id: 2, large: largest + 1 }).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Encode, "{error}");
        let large = Number::fields().large;
        let error = db.numbers.find(large.lt(largest + 1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Encode, "{error}");
        let error = db.numbers.update(1).set(large, u64::MAX).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Encode, "{error}");
        assert_eq!(db.numbers.all().one().await.unwrap(), Number { id: 1, large: largest });
        db.numbers.update(1).inc(large, 1_u64).await.unwrap_err();
        assert_eq!(db.numbers.get(1).await.unwrap().large, largest);
    }
}

#[test]
fn a_unit_of_too_many_documents_is_refused() {
    tests::run(async {
        let store = Embedded::builder().unit_limit(10).memory().await.unwrap();
        let db = Items::open(store).await.unwrap();
        let items = |from: i64, to: i64| (from..to).map(|n| item(n, &n.to_string(), "nut", 1));
        let error = db.items.insert_many(items(0, 11)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert_eq!(db.items.all().count().await.unwrap(), 0);
        db.items.insert_many(items(0, 10)).await.unwrap();
        db.items.insert_many(items(10, 15)).await.unwrap();
        let all = db
            .items
            .update_where(Filter::all())
            .inc(crate::repositories::items::Item::fields().count, 1);
        assert_eq!(all.await.unwrap_err().kind(), ErrorKind::Limit);
        let error = db.items.delete_where(Filter::all()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        let untouched = db.items.find(crate::repositories::items::Item::fields().count.eq(1));
        assert_eq!(untouched.count().await.unwrap(), 15);
    });
}
