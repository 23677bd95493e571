//! Positions in lists under a unique index: uniqueness holds at the end of a unit, in any order of its writes.

use odm::prelude::*;
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "items", index(fields = "list, pos", unique))]
struct Item {
    #[serde(rename = "_id")]
    id: i32,
    list: i32,
    pos: i32,
}

/// The same with consequences of a write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "cards", index(fields = "list, pos", unique))]
struct Card {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent, on_delete = "cascade")]
    list: Ref<List>,
    pos: i32,
    #[version]
    version: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "lists")]
struct List {
    #[serde(rename = "_id")]
    id: i32,
    #[count(of = "Card")]
    cards: i64,
}

#[derive(Database)]
#[database(name = "lists", version = 1)]
struct Lists {
    items: Repository<Item>,
    cards: Repository<Card>,
    lists: Repository<List>,
}

fn item(id: i32, pos: i32) -> Item {
    Item { id, list: 1, pos }
}

async fn lists(store: impl TestStore, number: i32) -> Lists {
    let db = Lists::open(store).await.unwrap();
    db.lists.insert(List { id: 1, cards: 0 }).await.unwrap();
    let card = |id| Card { id, list: Ref::new(1), pos: id, version: 0 };
    db.cards.insert_many((1..=number).map(card)).await.unwrap();
    db.items.insert_many((1..=number).map(|id| item(id, id))).await.unwrap();
    db
}

async fn positions(db: &Lists) -> Vec<(i32, i32)> {
    let items = db.items.all().await.unwrap();
    items.iter().map(|item| (item.id, item.pos)).collect()
}

on_every_store! {
    /// An insert in a collection with a unique index is written last, and this one is not written at all.
    async fn an_id_that_is_taken_is_refused_though_its_unit_removes_the_new_document(store: AnyStore) {
        let db = lists(store, 2).await;
        let card = |id| Card { id, list: Ref::new(1), pos: 9, version: 0 };
        let before = db.cards.all().await.unwrap();
        let pos = Card::fields().pos;
        let refused = [
            db.bulk((db.cards.insert(card(2)), db.cards.delete(2))).await.map(drop),
            db.bulk((db.cards.insert(card(2)), db.cards.delete_where(pos.eq(9)))).await.map(drop),
            db.bulk((db.cards.insert_many([card(2)]), db.lists.delete(1))).await.map(drop),
            db.bulk((db.items.insert(item(2, 9)), db.items.delete(2))).await.map(drop),
            db.bulk((db.items.insert(item(2, 9)), db.items.delete_where(Item::fields().pos.eq(9)))).await.map(drop),
            db.transaction(async |db| {
                db.cards.insert(card(2)).await?;
                db.cards.delete(2).await.map(drop)
            })
            .await,
        ];
        for (at, refused) in refused.into_iter().enumerate() {
            assert!(refused.unwrap_err().is_duplicate_key(), "{at}");
        }
        assert_eq!(db.cards.all().await.unwrap(), before);
        assert_eq!(positions(&db).await, [(1, 1), (2, 2)]);
        assert_eq!(db.audit().await.unwrap(), []);
        // A free position comes and goes.
        db.bulk((db.cards.insert(card(3)), db.cards.delete(3))).await.unwrap();
        let ((), deleted) = db.bulk((db.items.insert(item(3, 9)), db.items.delete_where(Item::fields().pos.eq(9)))).await
            .map(|(_, deleted)| ((), deleted)).unwrap();
        assert_eq!(deleted, 1);
        assert_eq!((db.cards.all().await.unwrap(), db.lists.get(1).await.unwrap().cards), (before, 2));
        assert_eq!(positions(&db).await, [(1, 1), (2, 2)]);
    }

    async fn one_update_shifts_positions(store: AnyStore) {
        let db = lists(store, 4).await;
        let item = Item::fields();
        let card = Card::fields();
        let shifted = db.items.update_where(item.list.eq(1) & item.pos.gte(2)).inc(item.pos, 1).await;
        assert_eq!(shifted.unwrap().modified, 3);
        assert_eq!(positions(&db).await, [(1, 1), (2, 3), (3, 4), (4, 5)]);
        db.cards.update_where(card.list.eq(1) & card.pos.gte(2)).inc(card.pos, 1).await.unwrap();
        db.cards.insert(Card { id: 9, list: Ref::new(1), pos: 2, version: 0 }).await.unwrap();
        let order = db.cards.find(card.list.eq(1)).sort(card.pos.asc()).await.unwrap();
        assert_eq!(order.iter().map(|card| card.id).collect::<Vec<_>>(), [1, 9, 2, 3, 4]);
        assert_eq!(db.lists.get(1).await.unwrap().cards, 5);
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn positions_are_shifted_by_more_than_a_queue_holds(store: AnyStore) {
        let db = lists(store, 1300).await;
        let card = Card::fields();
        let shifted = db.cards.update_where(card.pos.gte(2)).inc(card.pos, 1).await.unwrap();
        assert_eq!(shifted.modified, 1299);
        let item = Item::fields();
        db.items.update_where(item.pos.gte(2)).inc(item.pos, 1).await.unwrap();
        assert_eq!(positions(&db).await[1299], (1300, 1301));
        let taken = db.cards.update_where(card.pos.gte(1)).set(card.pos, 5).await.unwrap_err();
        assert!(taken.is_duplicate_key(), "{taken}");
        assert_eq!(db.cards.get(1300).await.unwrap().pos, 1301);
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_bulk_exchanges_positions_and_sees_its_own_writes(store: AnyStore) {
        let db = lists(store, 4).await;
        let pos = Item::fields().pos;
        let (one, other) = (db.items.update(1).set(pos, 2), db.items.update(2).set(pos, 1));
        db.bulk((one, other)).await.unwrap();
        assert_eq!(positions(&db).await[..2], [(1, 2), (2, 1)]);
        // Into a place, then out of it: a write matches the results of the earlier ones.
        let moved = db.bulk((
            db.items.insert(item(9, 2)),
            db.items.update_where(pos.eq(2)).inc(pos, 10),
            db.items.update(9).set(pos, 2),
            db.items.delete_where(pos.eq(12)),
        ));
        let (inserted, matched, (), deleted) = moved.await.unwrap();
        assert_eq!((inserted.pos, matched.matched, deleted), (2, 2, 1));
        assert_eq!(positions(&db).await, [(2, 1), (3, 3), (4, 4), (9, 2)]);
        let (taken, free) = (db.items.update(2).set(pos, 3), db.items.update(4).set(pos, 5));
        assert!(db.bulk((taken, free)).await.unwrap_err().is_duplicate_key());
        assert_eq!(positions(&db).await, [(2, 1), (3, 3), (4, 4), (9, 2)]);
    }

    async fn a_bulk_refreshes_by_documents_that_wait(store: AnyStore) {
        let db = lists(store, 3).await;
        let pos = Card::fields().pos;
        db.lists.insert(List { id: 2, cards: 0 }).await.unwrap();
        let swap = (db.cards.update(1).set(pos, 2), db.cards.update(2).set(pos, 1));
        let moved = db.cards.update(1).set(Card::fields().list, 2);
        let added = db.cards.insert(Card { id: 7, list: Ref::new(2), pos: 3, version: 0 });
        db.bulk((swap.0, swap.1, moved, added, db.cards.delete(3))).await.unwrap();
        assert_eq!(db.lists.get(1).await.unwrap().cards, 1);
        assert_eq!(db.lists.get(2).await.unwrap().cards, 2);
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_bulk_of_random_moves_is_refused_only_if_its_end_has_duplicates(store: AnyStore) {
        let db = lists(store, 0).await;
        let pos = Item::fields().pos;
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let moves = prop::collection::vec((0..4_i32, 0..4_i32), 1..6);
        let (mut model, mut refused) = (vec![(0, 0), (1, 1), (2, 2), (3, 3)], 0);
        db.items.insert_many(model.iter().map(|(id, pos)| item(*id, *pos))).await.unwrap();
        for _ in 0..60 {
            let moves = moves.new_tree(&mut runner).unwrap().current();
            let mut after = model.clone();
            moves.iter().for_each(|(id, pos)| after[*id as usize].1 = *pos);
            let mut taken: Vec<i32> = after.iter().map(|(_, pos)| *pos).collect();
            taken.sort_unstable();
            taken.dedup();
            let writes: Vec<_> = moves.iter().map(|(id, to)| db.items.update(*id).set(pos, *to)).collect();
            let moved = db.bulk(writes).await;
            match taken.len() {
                4 => {
                    moved.unwrap();
                    model = after;
                }
                _ => {
                    assert!(moved.unwrap_err().is_duplicate_key());
                    refused += 1;
                }
            }
            assert_eq!(positions(&db).await, model);
        }
        assert!((5..60).contains(&refused), "{refused} of 60");
    }
}
