//! Deferred fields: `refresh = "later"`, and the outbox from which they are refreshed.

use odm::{OpenOptions, prelude::*};
use serde::{Deserialize, Serialize};
use tests::TestStore;

mod backfills;
mod catalogs;
mod failed;
mod history;
mod refreshes;
mod reports;
mod runtimes;
mod side_by_side;
mod worker;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "makers")]
struct Maker {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[serde(default)]
    city: Option<String>,
}

/// It copies at once and later at one reference, also in links and in a cold part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(child, on_delete = "nullify")]
    maker: Option<Ref<Maker>>,
    #[denormalize(from = "Maker.name", via = "maker", refresh = "later")]
    maker_name: Option<String>,
    #[denormalize(from = "Maker.city", via = "maker")]
    maker_city: Option<String>,
    #[reference(child, unchecked, on_delete = "keep")]
    rival: Option<Ref<Maker>>,
    #[denormalize(from = "Maker.name", via = "rival", refresh = "later")]
    rival_name: Option<String>,
    #[embed]
    sellers: Vec<Seller>,
    #[split(collection = "part_details", key = "part_id", optional)]
    details: Cold<Details>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Seller {
    #[reference(child, on_delete = "pull")]
    id: Ref<Maker>,
    #[denormalize(from = "Maker.name", refresh = "later")]
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Details {
    #[reference(child, on_delete = "nullify")]
    designer: Option<Ref<Maker>>,
    #[denormalize(from = "Maker.name", refresh = "later")]
    designer_name: Option<String>,
}

/// The end of a chain of deferred copies, and the child of a shelf.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "offers")]
struct Offer {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(child, on_delete = "cascade")]
    part: Ref<Part>,
    #[denormalize(from = "Part.maker_name", refresh = "later")]
    maker_name: Option<String>,
    #[reference(parent, on_delete = "cascade")]
    shelf: Ref<Shelf>,
    price: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "shelves")]
struct Shelf {
    #[serde(rename = "_id")]
    id: i32,
    #[subset(limit = 2, sort = "price", refresh = "later")]
    cheapest: Subset<Line>,
    #[count(of = "Offer", refresh = "later")]
    offers: i64,
    #[count(of = "Offer")]
    offers_now: i64,
    #[denormalize(from = "Offer.price", via = "Offer.shelf", refresh = "later")]
    prices: Vec<i32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Offer")]
struct Line {
    #[serde(rename = "_id")]
    id: i32,
    price: i32,
    maker_name: Option<String>,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    makers: Repository<Maker>,
    parts: Repository<Part>,
    offers: Repository<Offer>,
    shelves: Repository<Shelf>,
}

fn maker(id: i32, name: &str) -> Maker {
    Maker { id, name: name.to_owned(), city: None }
}

fn part(id: i32, maker: Option<i32>) -> Part {
    Part {
        id,
        maker: maker.map(Ref::new),
        maker_name: None,
        maker_city: None,
        rival: None,
        rival_name: None,
        sellers: Vec::new(),
        details: Cold::default(),
    }
}

fn offer(id: i32, part: i32, shelf: i32, price: i32) -> Offer {
    Offer { id, part: Ref::new(part), maker_name: None, shelf: Ref::new(shelf), price }
}

fn shelf(id: i32) -> Shelf {
    Shelf { id, cheapest: Subset::default(), offers: 0, offers_now: 0, prices: Vec::new() }
}

/// Without a worker.
fn by_hand() -> OpenOptions {
    OpenOptions::default().refresh_every(None)
}

async fn shop(store: impl TestStore) -> Shop {
    Shop::open_with(store, by_hand()).await.unwrap()
}

async fn rename(shop: &Shop, id: i32, name: &str) {
    let rename = shop.makers.update(id).set(Maker::fields().name, name);
    rename.await.unwrap();
}

async fn waiting(shop: &Shop) -> u64 {
    shop.deferred_refreshes().await.unwrap().waiting
}

/// Makes sure that an audit finds only waiting refreshes, and returns the number of their fields.
async fn deferred(shop: &Shop) -> u64 {
    let mut audit = shop.audit();
    let found = audit.try_next().await.unwrap();
    assert_eq!(found, None);
    audit.progress().deferred
}

async fn assert_refreshed(shop: &Shop) {
    shop.wait_for_refreshes().await.unwrap();
    let refreshes = shop.deferred_refreshes().await.unwrap();
    assert_eq!((refreshes.waiting, refreshes.oldest, &*refreshes.failed), (0, None, &[][..]));
    assert_eq!(deferred(shop).await, 0);
}
