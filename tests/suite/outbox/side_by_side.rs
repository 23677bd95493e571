//! Units that conflict on a store with snapshot isolation: each is interrupted before each of its calls, and the other runs as a whole, and
//! is refreshed.

use std::{
    future::{Future, IntoFuture},
    pin::Pin,
    task::Poll,
    time::Duration,
};

use odm::prelude::*;
use odm_store_suite::MapStore;
use serde::{Deserialize, Serialize};
use tests::{poll_once, stored};

use super::{Maker, Shop, assert_refreshed, by_hand, maker, offer, part, rename, shelf};

/// Its files may be inserted before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "folders")]
struct Folder {
    #[serde(rename = "_id")]
    id: i32,
    #[subset(limit = 2, sort = "-size", refresh = "later")]
    largest: Subset<File>,
    #[count(of = "File", refresh = "later")]
    files: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "files")]
struct File {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent, unchecked)]
    folder: Ref<Folder>,
    size: i32,
}

#[derive(Database)]
#[database(name = "disk", version = 1)]
struct Disk {
    folders: Repository<Folder>,
    files: Repository<File>,
}

type Act<'a> = Pin<Box<dyn Future<Output = odm::Result<()>> + 'a>>;

fn act<'a>(future: impl Future<Output = odm::Result<()>> + 'a) -> Act<'a> {
    // The budget of the runtime's task does not apply to manual polling.
    Box::pin(tokio::task::unconstrained(future))
}

async fn finish<T>(future: impl Future<Output = T>) -> T {
    let mut future = Box::pin(tokio::task::unconstrained(future));
    loop {
        if let Poll::Ready(output) = poll_once(&mut future).await {
            return output;
        }
    }
}

/// Runs one act within another, before each of its calls in turn, each time from the present state.
async fn meet<D: Database>(
    store: &MapStore,
    db: &D,
    outer: impl Fn() -> Act<'static>,
    inner: impl Fn() -> Act<'static>,
) {
    let before = store.copy();
    for call in 1.. {
        store.restore(&before);
        let mut running = outer();
        for _ in 0..call {
            if let Poll::Ready(result) = poll_once(&mut running).await {
                result.unwrap();
                assert!(call > 3, "it has made {call} calls");
                store.restore(&before);
                return;
            }
        }
        finish(inner()).await.unwrap();
        finish(running).await.unwrap();
        finish(db.wait_for_refreshes()).await.unwrap();
        let mut audit = db.audit();
        let found = finish(audit.try_next()).await.unwrap();
        assert_eq!(found, None, "before call {call}");
        assert_eq!(audit.progress().deferred, 0, "before call {call}");
    }
}

/// Works records off until one is about the referrers of this part, and returns its time.
async fn work_until_left(store: &MapStore, shop: &Shop, part: i32) -> DateTime {
    let mut working = act(shop.wait_for_refreshes().into_future());
    loop {
        for record in finish(stored(store, "_odm_outbox")).await {
            let is_of_offers = record.get_str("holder").unwrap() == "offers";
            if is_of_offers && record.get_i32("id").unwrap() == part {
                return record.get_datetime("at").unwrap().into();
            }
        }
        assert!(poll_once(&mut working).await.is_pending(), "there was none");
    }
}

#[test]
fn what_follows_from_a_new_write_is_not_as_old_as_a_chain_of_before() {
    tests::run(async {
        let store = MapStore::stepped();
        let shop = finish(Shop::open_with(store.clone(), by_hand())).await.unwrap();
        finish(async {
            let makers = [1, 2].map(|id| maker(id, "a"));
            shop.makers.insert_many(makers).await.unwrap();
            let parts = [1, 2].map(|id| part(id, Some(id)));
            shop.parts.insert_many(parts).await.unwrap();
            shop.shelves.insert(shelf(1)).await.unwrap();
            let offers = [1, 2].map(|id| offer(id, id, 1, id));
            shop.offers.insert_many(offers).await.unwrap();
            shop.wait_for_refreshes().await.unwrap();
        })
        .await;
        finish(rename(&shop, 1, "b")).await;
        let after_first = DateTime::now();
        let chain = work_until_left(&store, &shop, 1).await;
        assert!(chain <= after_first);

        tokio::time::sleep(Duration::from_millis(5)).await;
        finish(rename(&shop, 2, "b")).await;
        let chain = work_until_left(&store, &shop, 2).await;
        assert!(chain > after_first);
        finish(assert_refreshed(&shop)).await;
    });
}

#[test]
fn a_new_copy_of_the_old_value_is_right_in_the_end() {
    tests::run(async {
        let store = MapStore::stepped();
        let shop = finish(Shop::open_with(store.clone(), by_hand())).await.unwrap();
        finish(async { shop.makers.insert(maker(1, "a")).await }).await.unwrap();
        finish(async { shop.parts.insert(part(1, Some(1))).await }).await.unwrap();
        let rename = || {
            let shop = shop.clone();
            act(async move {
                let name = Maker::fields().name;
                shop.makers.update(1).set(name, "b").await?;
                shop.wait_for_refreshes().await
            })
        };
        let insert = || {
            let shop = shop.clone();
            act(async move { shop.parts.insert(part(2, Some(1))).await.map(drop) })
        };
        meet(&store, &shop, insert, rename).await;
        meet(&store, &shop, rename, insert).await;
    });
}

#[test]
fn a_new_parent_of_old_children_is_right_in_the_end() {
    tests::run(async {
        let store = MapStore::stepped();
        let disk = finish(Disk::open_with(store.clone(), by_hand())).await.unwrap();
        for (id, size) in [(1, 10), (2, 20), (3, 30)] {
            let folder = Ref::new(1);
            let file = File { id, folder, size };
            finish(async { disk.files.insert(file).await }).await.unwrap();
        }
        finish(disk.wait_for_refreshes()).await.unwrap();
        let insert = || {
            let disk = disk.clone();
            let folder = Folder { id: 1, largest: Subset::default(), files: 0 };
            act(async move { disk.folders.insert(folder).await.map(drop) })
        };
        let grow = || {
            let disk = disk.clone();
            act(async move {
                let size = File::fields().size;
                disk.files.update(1).set(size, 100).await?;
                disk.wait_for_refreshes().await
            })
        };
        let remove = || {
            let disk = disk.clone();
            act(async move {
                disk.files.delete(3).await?;
                disk.wait_for_refreshes().await
            })
        };
        for change in [&grow as &dyn Fn() -> Act<'static>, &remove] {
            meet(&store, &disk, insert, change).await;
            meet(&store, &disk, change, insert).await;
        }
    });
}
