//! The end of a store.

use std::sync::Arc;

use async_trait::async_trait;
use bson::doc;
use odm_store::{
    Durability, ErrorKind, Result, Store, Transaction, TransactionOptions, UnitOfWork,
};

use super::support::*;

struct Nothing;

#[async_trait]
impl UnitOfWork for Nothing {
    async fn run(&self, _: &mut dyn Transaction) -> Result<()> {
        Ok(())
    }
}

pub async fn a_closed_store_refuses_every_call(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1 }]).await;
    store.close().await.expect("the store closes");
    assert_fails(store.reader(), ErrorKind::Closed);
    assert_fails(store.ensure(&[things(vec![])]).await, ErrorKind::Closed);
    let run = store.run(Arc::new(Nothing), Durability::Immediate).await;
    assert_fails(run, ErrorKind::Closed);
    let begun = store.begin(TransactionOptions::default()).await;
    assert_fails(begun, ErrorKind::Closed);
}

pub async fn closing_a_closed_store_does_nothing(store: impl Store) {
    store.close().await.expect("the store closes");
    store.close().await.expect("the store is closed");
}

pub async fn several_calls_close_a_store(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1 }]).await;
    let (first, second, third) = tokio::join!(store.close(), store.close(), store.close());
    first.expect("the store closes");
    second.expect("the store is closed");
    third.expect("the store is closed");
}
