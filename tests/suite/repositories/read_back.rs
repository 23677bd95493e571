//! A write returns the documents as they are stored. A document that cannot be read as its model is not stored.

use odm::{ErrorKind, Problem, Result, bson::doc, prelude::*};
use serde::{Deserialize, Deserializer, Serialize};
use tests::{behind_the_back, on_every_store, stored};

/// A number that can be written but, if it is 13, not read.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
struct Odd(i32);

impl<'de> Deserialize<'de> for Odd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match i32::deserialize(deserializer)? {
            13 => Err(serde::de::Error::custom("thirteen")),
            number => Ok(Odd(number)),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "things")]
struct Thing {
    #[serde(rename = "_id")]
    id: i32,
    #[opaque]
    odd: Odd,
    nested: Option<Option<i32>>,
    empty: Option<()>,
    #[serde(skip)]
    note: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "makers")]
struct Maker {
    #[serde(rename = "_id")]
    id: i32,
    #[opaque]
    odd: Odd,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[reference(parent)]
    maker: Ref<Maker>,
    #[denormalize(from = "Maker.odd", via = "maker")]
    maker_odd: Odd,
}

#[derive(Database)]
#[database(name = "odd", version = 1)]
struct Things {
    things: Repository<Thing>,
    makers: Repository<Maker>,
    products: Repository<Product>,
}

fn thing(id: i32, odd: i32) -> Thing {
    Thing { id, odd: Odd(odd), nested: None, empty: None, note: String::new() }
}

fn product(id: i32, maker: i32) -> Product {
    Product { id, name: "grommet".into(), maker: Ref::new(maker), maker_odd: Odd(0) }
}

fn assert_unreadable<T: std::fmt::Debug>(result: Result<T>, collection: &str, id: i32) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
    assert!(error.to_string().contains("thirteen"), "{error}");
    let location = error.location().unwrap();
    assert_eq!((&*location.collection, location.id.clone()), (collection, Some(id.into())));
}

on_every_store! {
    async fn a_write_returns_what_a_read_finds(store: AnyStore) {
        let db = Things::open(store).await.unwrap();
        let sent = Thing { nested: Some(None), empty: Some(()), note: "not stored".into(), ..thing(1, 1) };
        let returned = [
            db.things.insert(sent.clone()).await.unwrap(),
            db.things.upsert(Thing { odd: Odd(2), ..sent.clone() }).await.unwrap(),
            db.things.replace(Thing { odd: Odd(3), ..sent.clone() }).await.unwrap(),
            db.things.modify(1, |thing| *thing = Thing { odd: Odd(4), ..sent.clone() }).await.unwrap(),
        ];
        for (returned, odd) in returned.into_iter().zip(1..) {
            assert_eq!(returned, thing(1, odd));
        }
        assert_eq!(db.things.get(1).await.unwrap(), thing(1, 4));
    }

    async fn a_document_that_cannot_be_read_is_not_stored(store: AnyStore) {
        let db = Things::open(store.clone()).await.unwrap();
        db.things.insert(thing(1, 1)).await.unwrap();
        let before = stored(&store, "things").await;
        assert_unreadable(db.things.insert(thing(2, 13)).await, "things", 2);
        let many = [thing(2, 2), thing(3, 13), thing(4, 4)];
        assert_unreadable(db.things.insert_many(many).await, "things", 3);
        assert_unreadable(db.things.insert(thing(2, 13)).plan().await, "things", 2);
        assert_unreadable(db.things.upsert(thing(2, 13)).await, "things", 2);
        assert_unreadable(db.things.upsert(thing(1, 13)).await, "things", 1);
        assert_unreadable(db.things.replace(thing(1, 13)).await, "things", 1);
        assert_unreadable(db.things.modify(1, |thing| thing.odd = Odd(13)).await, "things", 1);
        assert_eq!(stored(&store, "things").await, before);

        let aborted = db.transaction(async |db| {
            db.things.insert(thing(5, 5)).await?;
            let _ = db.things.insert(thing(6, 13)).await;
            Ok(())
        });
        assert_eq!(aborted.await.unwrap_err().kind(), ErrorKind::TransactionAborted);
        assert_eq!(stored(&store, "things").await, before);
    }

    async fn a_document_that_a_copy_makes_unreadable_is_not_stored(store: AnyStore) {
        let db = Things::open(store.clone()).await.unwrap();
        db.makers.insert_many([1, 2].map(|id| Maker { id, odd: Odd(id) })).await.unwrap();
        db.products.insert(product(1, 1)).await.unwrap();
        // The schema of an opaque field allows every number, so that a program without the model can store it.
        behind_the_back(&store, "makers", doc! { "_id": 2 }, doc! { "$set": { "odd": 13 } }).await;
        let before = stored(&store, "products").await;
        assert_unreadable(db.products.insert(product(2, 2)).await, "products", 2);
        assert_unreadable(db.products.replace(product(1, 2)).await, "products", 1);
        let moved = db.products.modify(1, |product| product.maker = Ref::new(2)).await;
        assert_unreadable(moved, "products", 1);
        assert_eq!(stored(&store, "products").await, before);
        let findings = db.audit().await.unwrap();
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!((&*findings[0].collection, &findings[0].id), ("makers", &2.into()));
        assert_eq!(findings[0].problem, Problem::Unreadable("thirteen".into()));
        // A caller's value of the copy does not matter, even an unreadable one.
        let returned = db.products.insert(Product { maker_odd: Odd(13), ..product(2, 1) }).await;
        assert_eq!(returned.unwrap().maker_odd, Odd(1));
    }
}
