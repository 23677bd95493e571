//! Parents whose `_id`s a server would take for expressions.

use odm::prelude::*;
use serde::{Deserialize, Serialize};
use tests::on_every_store;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "owners")]
struct Owner {
    #[serde(rename = "_id")]
    id: String,
    #[subset(limit = 2, sort = "-rank")]
    best: Subset<Line>,
    #[count(of = "Item")]
    items: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "items")]
struct Item {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent, on_delete = "cascade")]
    owner: Ref<Owner>,
    rank: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Item")]
struct Line {
    rank: i32,
}

#[derive(Database)]
#[database(name = "owners", version = 1)]
struct Owners {
    owners: Repository<Owner>,
    items: Repository<Item>,
}

on_every_store! {
    async fn ids_that_begin_with_a_dollar_are_as_good_as_others(store: AnyStore) {
        let db = Owners::open(store).await.unwrap();
        let ids = ["plain", "$a", "$$NOW", "$$REMOVE", "$"];
        for (number, id) in (0..).zip(ids) {
            let owner = Owner { id: id.to_owned(), best: Subset::new(), items: 0 };
            db.owners.insert(owner).await.unwrap();
            let item = |rank| Item { id: number * 10 + rank, owner: Ref::new(id.to_owned()), rank };
            db.items.insert_many([1, 2, 3, 4].map(item)).await.unwrap();
            // A shown item: the subset is filled anew.
            assert!(db.items.delete(number * 10 + 4).await.unwrap());
        }
        assert_eq!(db.audit().await.unwrap(), []);
        db.repair().await.unwrap();
        let item = Item::fields();
        let last = item.owner.referrers().sort(item.rank.desc()).limit(1);
        for (owner, last) in db.owners.all().join(last).await.unwrap() {
            let best: Vec<i32> = owner.best.iter().map(|line| line.rank).collect();
            assert_eq!((best, owner.items), (vec![3, 2], 3), "{}", owner.id);
            assert_eq!(last[0].rank, 3, "{}", owner.id);
        }
    }
}
