//! Disks that fail and power that is lost while a worker refreshes deferred fields.

use std::collections::HashSet;

use odm_embedded::{Embedded, disk::Disk};
use odm_store::{Result, Store};
use serde::{Deserialize, Serialize};

use odm_derive::{Database, Document, Embed, Projection};

use crate::{
    OpenOptions,
    database::Database,
    model::{ObjectId, Ref, Structure as _, Subset},
    repository::Repository,
};

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "makers", crate = "crate")]
struct Maker {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[subset(limit = 2, sort = "-label", refresh = "later")]
    last: Subset<Line>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Part", crate = "crate")]
struct Line {
    label: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "parts", crate = "crate")]
struct Part {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent)]
    maker: Ref<Maker>,
    #[denormalize(from = "Maker.name", refresh = "later")]
    label: String,
}

/// The end of a chain.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "orders", crate = "crate")]
struct Order {
    #[serde(rename = "_id")]
    id: ObjectId,
    #[embed]
    lines: Vec<OrderLine>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
#[embed(crate = "crate")]
struct OrderLine {
    #[reference(child)]
    part: Ref<Part>,
    #[denormalize(from = "Part.label", refresh = "later")]
    label: String,
}

#[derive(Database)]
#[database(name = "shop", version = 1, crate = "crate")]
struct Shop {
    makers: Repository<Maker>,
    parts: Repository<Part>,
    orders: Repository<Order>,
}

const PARTS: i32 = 4;

async fn open(disk: &Disk) -> Result<(Embedded, Shop)> {
    let store = Embedded::builder()
        .cache_size(64 << 10)
        .backend(disk.clone())
        .await?;
    let options = OpenOptions::default().refresh_every(None);
    let shop = Shop::open_with(store.clone(), options).await?;
    Ok((store, shop))
}

async fn filled() -> Disk {
    let disk = Disk::formatted().await;
    let (store, shop) = open(&disk).await.expect("a store");
    let maker = Maker {
        id: 1,
        name: "old".into(),
        last: Subset::default(),
    };
    shop.makers.insert(maker).await.expect("a maker");
    let part = |id| Part {
        id,
        maker: Ref::new(1),
        label: String::new(),
    };
    let parts = (0..PARTS).map(part);
    shop.parts.insert_many(parts).await.expect("parts");
    let line = |id| OrderLine {
        part: Ref::new(id),
        label: String::new(),
    };
    let order = Order {
        id: ObjectId::new(),
        lines: (0..PARTS).map(line).collect(),
    };
    shop.orders.insert(order).await.expect("an order");
    shop.wait_for_refreshes().await.expect("all refreshes");
    store.close().await.expect("a close");
    disk.after_exit()
}

async fn renamed(disk: &Disk, is_renamed: &mut bool) -> Result<()> {
    let (store, shop) = open(disk).await?;
    let name = Maker::fields().name;
    shop.makers.update(1).set(name, "new").await?;
    *is_renamed = true;
    shop.wait_for_refreshes().await?;
    store.close().await
}

/// Stale fields wait, and are correct in the end.
async fn assert_goes_on(disk: &Disk, is_renamed: bool, at: usize) {
    let opened = open(disk).await;
    let (_, shop) = opened.unwrap_or_else(|error| panic!("after operation {at}: {error}"));
    let found = shop.audit().await.expect("an audit");
    assert_eq!(found, [], "after operation {at}");
    shop.wait_for_refreshes()
        .await
        .expect("the rest of the work");
    let mut audit = shop.audit();
    let found = audit.try_next().await.expect("an audit");
    assert_eq!(
        (found, audit.progress().deferred),
        (None, 0),
        "after operation {at}"
    );
    let name = shop.makers.get(1).await.expect("a maker").name;
    assert!(!is_renamed || name == "new", "after operation {at}");
    for order in shop.orders.all().await.expect("orders") {
        assert!(order.lines.iter().all(|line| line.label == name));
    }
    assert_eq!(
        shop.deferred_refreshes()
            .await
            .expect("the waiting refreshes")
            .waiting,
        0
    );
}

#[test]
fn a_refresh_that_ends_at_any_operation_of_the_disk_goes_on() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let before = filled().await;
        let mut known = HashSet::new();
        for at in 0.. {
            let disk = before.after_exit();
            disk.fail_after(at);
            let mut is_renamed = false;
            let ran = renamed(&disk, &mut is_renamed).await;
            if disk.operations() <= at {
                ran.expect("no operation has failed");
                assert!(at > 20, "{at} operations");
                assert!(known.len() > 5, "{} states", known.len());
                break;
            }
            for left in [
                disk.after_exit(),
                disk.after_power_loss(),
                disk.after_partial_loss(at as u64),
            ] {
                if known.insert((left.bytes(), left.log_bytes(), is_renamed)) {
                    assert_goes_on(&left, is_renamed, at).await;
                }
            }
        }
    });
}
