//! Workers whose runtime ends before the database does.

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
    thread,
    time::Duration,
};

use odm::{Embedded, OpenOptions, prelude::*};
use serde::{Deserialize, Serialize};
use tests::told::Told;
use tokio::runtime::{Builder, Runtime};

use super::{Part, Shop, deferred, maker, part, rename, waiting};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// With a worker that looks for records of other programs less often than the test may take.
async fn with_parts(store: Embedded, number: i32) -> Shop {
    let options = OpenOptions::default().refresh_every(Duration::from_secs(600));
    let shop = Shop::open_with(store, options).await.unwrap();
    shop.makers.insert(maker(1, "a")).await.unwrap();
    let parts = (0..number).map(|id| part(id, Some(1)));
    shop.parts.insert_many(parts).await.unwrap();
    shop
}

async fn until_nothing_waits(shop: &Shop) {
    let waited = tokio::time::timeout(Duration::from_secs(60), async {
        while waiting(shop).await > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    waited.await.expect("the worker goes on");
    assert_eq!(deferred(shop).await, 0);
}

#[test]
fn a_worker_goes_on_in_the_runtime_in_which_the_database_is_used_next() {
    let told = Told::default();
    let _guard = tracing::subscriber::set_default(told.clone());
    let first = runtime();
    let shop = first.block_on(async { with_parts(Embedded::memory().await.unwrap(), 20).await });
    first.block_on(until_nothing_waits(&shop));
    assert!(!told.has("runtime"));
    drop(first);
    assert!(told.has("deferred refreshes: the runtime of the worker has ended"), "{told:?}");
    for name in ["b", "c"] {
        let next = runtime();
        next.block_on(async {
            rename(&shop, 1, name).await;
            until_nothing_waits(&shop).await;
            let renamed = shop.parts.find(Part::fields().maker_name.eq(name));
            assert_eq!(renamed.count().await.unwrap(), 20);
        });
    }
}

#[test]
fn a_read_of_the_lag_in_a_runtime_begins_the_worker_in_it() {
    let first = runtime();
    let shop = first.block_on(async {
        let shop = with_parts(Embedded::memory().await.unwrap(), 20).await;
        until_nothing_waits(&shop).await;
        rename(&shop, 1, "b").await;
        shop
    });
    drop(first);
    runtime().block_on(until_nothing_waits(&shop));
}

/// The remains of a worker hold up nobody, at whatever moment its runtime ends.
#[test]
fn a_worker_whose_runtime_ends_in_the_middle_of_its_work_leaves_it_to_others() {
    let store = runtime().block_on(async { Embedded::memory().await.unwrap() });
    let shop = runtime().block_on(with_parts(store, 700));
    for turns in 0..20 {
        let short = runtime();
        short.block_on(async {
            rename(&shop, 1, &format!("name {turns}")).await;
            // The worker does as much as it can in `turns` turns.
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
        });
        drop(short);
        if turns % 10 == 9 {
            runtime().block_on(async {
                let refreshed =
                    tokio::time::timeout(Duration::from_secs(60), shop.wait_for_refreshes());
                refreshed.await.expect("nobody is in its way").unwrap();
                assert_eq!(deferred(&shop).await, 0);
            });
        }
    }
    runtime().block_on(until_nothing_waits(&shop));
}

#[test]
fn a_database_that_was_opened_without_a_runtime_begins_its_worker_in_the_first_one() {
    let told = Told::default();
    let _guard = tracing::subscriber::set_default(told.clone());
    // Futures of an embedded store need no runtime.
    let shop = poll(async { with_parts(Embedded::memory().await.unwrap(), 5).await });
    assert!(told.has("was not opened in a runtime of tokio"), "{told:?}");
    poll(async { rename(&shop, 1, "b").await });
    runtime().block_on(until_nothing_waits(&shop));
}

/// Runs a future without a runtime.
fn poll<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        thread::sleep(Duration::from_micros(100));
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "calls", expires(field = "until"))]
struct Call {
    #[serde(rename = "_id")]
    id: i32,
    until: DateTime,
}

#[derive(Database)]
#[database(name = "calls", version = 1)]
struct Calls {
    calls: Repository<Call>,
}

#[test]
fn what_expires_is_deleted_in_the_next_runtime_too() {
    let first = runtime();
    let options = OpenOptions::default().delete_expired_every(Duration::from_millis(5));
    let db = first.block_on(async {
        let store = Embedded::memory().await.unwrap();
        Calls::open_with(store, options).await.unwrap()
    });
    drop(first);
    runtime().block_on(async {
        let until = DateTime::from_millis(0);
        db.calls.insert(Call { id: 1, until }).await.unwrap();
        let gone = tokio::time::timeout(Duration::from_secs(60), async {
            while db.calls.all().count().await.unwrap() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        gone.await.expect("the worker goes on");
    });
}
