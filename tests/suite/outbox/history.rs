//! Random histories of writes and of work on the outbox. Every wrong value waits for its refresh, and when no refresh waits every
//! definition holds.

use std::{collections::BTreeMap, time::Duration};

use odm::{Embedded, prelude::*};
use odm_store_suite::MapStore;
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use tests::TestStore;

use super::{
    Details, Maker, Offer, Part, Seller, Shelf, Shop, assert_refreshed, deferred, maker, offer,
    part, shelf, shop,
};

#[derive(Debug, Clone)]
enum Op {
    Maker(i32),
    Name(Vec<i32>, i32),
    DeleteMaker(i32),
    Part(i32, Option<i32>, Vec<i32>),
    SetMaker(i32, Option<i32>),
    SetRival(i32, i32),
    SetSellers(i32, Vec<i32>),
    DeletePart(i32),
    Shelf(i32),
    ReplaceShelf(i32),
    DeleteShelf(i32),
    Offer(i32, i32, i32, i32),
    Price(i32, i32),
    MoveOffer(i32, i32),
    DeleteOffers(Vec<i32>),
    /// Writes in a transaction, which may be rolled back.
    Transaction(Vec<Op>, bool),
    /// Work that is dropped after some time.
    Work(u64),
    CatchUp,
    Repair,
    Reopen,
}

fn write() -> impl Strategy<Value = Op> {
    let id = || 0..4_i32;
    let ids = || prop::collection::vec(0..4_i32, 0..3);
    let maybe = || prop::option::of(0..4_i32);
    prop_oneof![
        4 => id().prop_map(Op::Maker),
        5 => (ids(), id()).prop_map(|(a, b)| Op::Name(a, b)),
        1 => id().prop_map(Op::DeleteMaker),
        5 => (id(), maybe(), ids()).prop_map(|(a, b, c)| Op::Part(a, b, c)),
        2 => (id(), maybe()).prop_map(|(a, b)| Op::SetMaker(a, b)),
        2 => (id(), id()).prop_map(|(a, b)| Op::SetRival(a, b)),
        2 => (id(), ids()).prop_map(|(a, b)| Op::SetSellers(a, b)),
        1 => id().prop_map(Op::DeletePart),
        4 => id().prop_map(Op::Shelf),
        1 => id().prop_map(Op::ReplaceShelf),
        1 => id().prop_map(Op::DeleteShelf),
        6 => (0..12_i32, id(), id(), 0..6_i32).prop_map(|(a, b, c, d)| Op::Offer(a, b, c, d)),
        2 => (0..12_i32, 0..6_i32).prop_map(|(a, b)| Op::Price(a, b)),
        2 => (0..12_i32, id()).prop_map(|(a, b)| Op::MoveOffer(a, b)),
        1 => prop::collection::vec(0..12_i32, 0..4).prop_map(Op::DeleteOffers),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let writes = prop::collection::vec(write(), 1..5);
    prop_oneof![
        20 => write(),
        2 => (writes, any::<bool>()).prop_map(|(a, b)| Op::Transaction(a, b)),
        2 => (0..3_u64).prop_map(Op::Work),
        1 => Just(Op::CatchUp),
        1 => Just(Op::Repair),
        1 => Just(Op::Reopen),
    ]
}

fn whole_part(id: i32, of: Option<i32>, sellers: &[i32]) -> Part {
    let details = Details { designer: of.map(Ref::new), designer_name: None };
    Part { sellers: sellers_of(sellers), details: Cold::new(details), ..part(id, of) }
}

fn sellers_of(ids: &[i32]) -> Vec<Seller> {
    let sellers = ids.iter().map(|&id| Seller { id: Ref::new(id), name: String::new() });
    sellers.collect()
}

async fn run(shop: &Shop, op: &Op) -> odm::Result<()> {
    match op.clone() {
        Op::Maker(id) => shop.makers.insert(maker(id, "new")).await.map(drop),
        Op::Name(ids, n) => {
            let some = shop.makers.update_where(Maker::fields().id.in_(ids));
            some.set(Maker::fields().name, format!("named {n}")).await.map(drop)
        }
        Op::DeleteMaker(id) => shop.makers.delete(id).await.map(drop),
        Op::Part(id, of, sellers) => {
            let part = whole_part(id, of, &sellers);
            shop.parts.upsert(part).await.map(drop)
        }
        Op::SetMaker(id, of) => {
            let of = of.map(Ref::new);
            shop.parts.update(id).set(Part::fields().maker, of).await
        }
        Op::SetRival(id, of) => {
            let of = Some(Ref::new(of));
            shop.parts.update(id).set(Part::fields().rival, of).await
        }
        Op::SetSellers(id, sellers) => {
            let sellers = sellers_of(&sellers);
            shop.parts.update(id).set(Part::fields().sellers, sellers).await
        }
        Op::DeletePart(id) => shop.parts.delete(id).await.map(drop),
        Op::Shelf(id) => shop.shelves.insert(shelf(id)).await.map(drop),
        Op::ReplaceShelf(id) => shop.shelves.replace(shelf(id)).await.map(drop),
        Op::DeleteShelf(id) => shop.shelves.delete(id).await.map(drop),
        Op::Offer(id, part, shelf, price) => {
            shop.offers.upsert(offer(id, part, shelf, price)).await.map(drop)
        }
        Op::Price(id, price) => shop.offers.update(id).set(Offer::fields().price, price).await,
        Op::MoveOffer(id, to) => shop.offers.update(id).set(Offer::fields().shelf, to).await,
        Op::DeleteOffers(ids) => {
            let some = Offer::fields().id.in_(ids);
            shop.offers.delete_where(some).await.map(drop)
        }
        Op::Transaction(ops, commits) => {
            let guard = shop.begin().await?;
            for op in &ops {
                Box::pin(run(&guard, op)).await?;
            }
            match commits {
                true => guard.commit().await,
                false => guard.rollback().await,
            }
        }
        Op::Work(millis) => {
            let work =
                tokio::time::timeout(Duration::from_millis(millis), shop.wait_for_refreshes());
            work.await.unwrap_or(Ok(()))
        }
        Op::CatchUp => {
            assert_refreshed(shop).await;
            Ok(())
        }
        Op::Repair => {
            let left = shop.repair().await?;
            assert!(left.iter().all(|finding| finding.repaired), "{left:?}");
            assert_eq!(deferred(shop).await, 0);
            Ok(())
        }
        Op::Reopen => Ok(()),
    }
}

/// Compares the stored documents with the definitions, by other means than an audit.
async fn assert_defined(shop: &Shop) {
    let makers = shop.makers.all().await.unwrap();
    let names: BTreeMap<i32, &str> = makers.iter().map(|of| (of.id, of.name.as_str())).collect();
    let name = |of: &Option<Ref<Maker>>| of.as_ref().and_then(|of| names.get(of.id()).copied());
    let parts = shop.parts.all().with(Part::fields().details).await.unwrap();
    for part in &parts {
        assert_eq!(part.maker_name.as_deref(), name(&part.maker));
        // The copy of a deleted source keeps its last value.
        if let Some(rival) = name(&part.rival) {
            assert_eq!(part.rival_name.as_deref(), Some(rival));
        }
        for seller in &part.sellers {
            assert_eq!(Some(seller.name.as_str()), names.get(seller.id.id()).copied());
        }
        let details = part.details.get().unwrap();
        assert_eq!(details.designer_name.as_deref(), name(&details.designer));
    }
    let offers = shop.offers.all().await.unwrap();
    for offer in &offers {
        let part = parts.iter().find(|part| part.id == *offer.part.id());
        assert_eq!(offer.maker_name, part.unwrap().maker_name);
    }
    for Shelf { id, cheapest, offers: number, offers_now, prices } in
        shop.shelves.all().await.unwrap()
    {
        let mut own: Vec<&Offer> = offers.iter().filter(|of| *of.shelf.id() == id).collect();
        assert_eq!((number, offers_now), (own.len() as i64, own.len() as i64));
        let mut seen = Vec::new();
        for offer in &own {
            if !seen.contains(&offer.price) {
                seen.push(offer.price);
            }
        }
        assert_eq!(prices, seen);
        own.sort_by_key(|offer| (offer.price, offer.id));
        let first = own.iter().take(2);
        let first: Vec<_> = first.map(|of| (of.id, of.price, &of.maker_name)).collect();
        let shown: Vec<_> = cheapest.iter().map(|of| (of.id, of.price, &of.maker_name)).collect();
        assert_eq!(shown, first);
    }
}

fn histories<S: TestStore>(cases: u32, new: impl AsyncFn() -> S) {
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let history = prop::collection::vec(op(), 1..60);
    runner
        .run(&history, |history| {
            tests::run(async {
                let store = new().await;
                let mut shop = shop(store.clone()).await;
                for op in &history {
                    // Refused writes are a part of the history.
                    drop(run(&shop, op).await);
                    if matches!(op, Op::Reopen) {
                        shop = super::shop(store.clone()).await;
                    }
                    deferred(&shop).await;
                }
                assert_refreshed(&shop).await;
                assert_defined(&shop).await;
            });
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_random_history_ends_right_in_memory() {
    histories(150, async || Embedded::memory().await.unwrap());
}

#[test]
fn a_random_history_ends_right_on_disk() {
    let files = tests::NewFiles::new();
    histories(15, async || files.open().await);
}

#[test]
fn a_random_history_ends_right_in_maps() {
    histories(40, async || MapStore::new());
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_random_history_ends_right_on_mongodb() {
    let databases = tests::NewDatabases::default();
    histories(4, async || databases.open().await);
}
