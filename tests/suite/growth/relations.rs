//! The consequences of writes, and reads along references.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

use super::{grows_with_input, options, store, taken};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "owners")]
struct Owner {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[count(of = "Item", via = "owner")]
    items: i64,
    #[subset(limit = 100_000, sort = "-n")]
    all: Subset<Line>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "items")]
struct Item {
    #[serde(rename = "_id")]
    id: i64,
    n: i64,
    #[reference(parent, on_delete = "cascade")]
    owner: Ref<Owner>,
    #[denormalize(from = "Owner.name")]
    owner_name: String,
    #[split(collection = "bodies", key = "item")]
    body: Cold<Body>,
    #[version]
    revision: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Body {
    text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Item")]
struct Line {
    n: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "lists")]
struct List {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    items: Vec<Ref<Item>>,
    #[reference(child, inverse = "list")]
    members: Vec<Ref<Member>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "members")]
struct Member {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent, inverse = "members")]
    list: Option<Ref<List>>,
}

#[derive(Database)]
#[database(name = "relations", version = 1)]
struct Relations {
    owners: Repository<Owner>,
    items: Repository<Item>,
    lists: Repository<List>,
    members: Repository<Member>,
}

fn numbers(size: usize) -> std::ops::Range<i64> {
    0..size as i64
}

fn owner(id: i64) -> Owner {
    Owner { id, name: format!("owner {id}"), items: 0, all: Subset::default() }
}

fn item(id: i64, owner: i64) -> Item {
    Item {
        id,
        n: id,
        owner: Ref::new(owner),
        owner_name: String::new(),
        body: Cold::new(Body { text: "t".into() }),
        revision: 0,
    }
}

async fn empty() -> Relations {
    Relations::open_with(store().await, options()).await.unwrap()
}

/// Items of one owner.
async fn of_one(size: usize) -> Relations {
    let db = empty().await;
    db.owners.insert(owner(0)).await.unwrap();
    db.items.insert_many(numbers(size).map(|id| item(id, 0))).await.unwrap();
    db
}

/// Items of an owner each.
async fn of_many(size: usize) -> Relations {
    let db = empty().await;
    db.owners.insert_many(numbers(size).map(owner)).await.unwrap();
    db.items.insert_many(numbers(size).map(|id| item(id, id))).await.unwrap();
    db
}

grows_with_input! {
    500: async fn children_of_one_parent_that_are_inserted_at_once(size: usize) -> Taken {
        let db = empty().await;
        db.owners.insert(owner(0)).await.unwrap();
        taken(async { db.items.insert_many(numbers(size).map(|id| item(id, 0))).await.unwrap() }).await
    }

    500: async fn children_of_many_parents_that_are_inserted_at_once(size: usize) -> Taken {
        let db = empty().await;
        db.owners.insert_many(numbers(size).map(owner)).await.unwrap();
        taken(async { db.items.insert_many(numbers(size).map(|id| item(id, id))).await.unwrap() }).await
    }

    500: async fn a_name_that_is_copied_to_many(size: usize) -> Taken {
        let db = of_one(size).await;
        taken(async { db.owners.update(0).set(Owner::fields().name, "new").await.unwrap() }).await
    }

    500: async fn many_names_that_are_copied(size: usize) -> Taken {
        let db = of_many(size).await;
        taken(async { db.owners.update_where(Filter::all()).set(Owner::fields().name, "new").await.unwrap() }).await
    }

    500: async fn many_children_that_a_subset_shows_and_that_change(size: usize) -> Taken {
        let db = of_one(size).await;
        taken(async { db.items.update_where(Filter::all()).inc(Item::fields().n, 1).await.unwrap() }).await
    }

    500: async fn many_children_that_move_to_another_parent(size: usize) -> Taken {
        let db = of_one(size).await;
        db.owners.insert(owner(1)).await.unwrap();
        taken(async { db.items.update_where(Filter::all()).set(Item::fields().owner, 1).await.unwrap() }).await
    }

    500: async fn a_parent_that_is_deleted_with_its_children(size: usize) -> Taken {
        let db = of_one(size).await;
        taken(async { db.owners.delete(0).await.unwrap() }).await
    }

    500: async fn many_parents_that_are_deleted_with_their_children(size: usize) -> Taken {
        let db = of_many(size).await;
        taken(async { db.owners.delete_where(Filter::all()).await.unwrap() }).await
    }

    500: async fn members_of_a_list_of_inverse_references(size: usize) -> Taken {
        let db = empty().await;
        db.lists.insert(List { id: 1, items: Vec::new(), members: Vec::new() }).await.unwrap();
        let members = numbers(size).map(|id| Member { id, list: Some(Ref::new(1)) });
        taken(async { db.members.insert_many(members).await.unwrap() }).await
    }

    500: async fn a_list_of_inverse_references_that_is_written_as_a_whole(size: usize) -> Taken {
        let db = empty().await;
        db.members.insert_many(numbers(size).map(|id| Member { id, list: None })).await.unwrap();
        let list = List { id: 1, items: Vec::new(), members: numbers(size).map(Ref::new).collect() };
        taken(async { db.lists.insert(list).await.unwrap() }).await
    }

    500: async fn a_list_of_inverse_references_whose_holder_is_deleted(size: usize) -> Taken {
        let db = empty().await;
        db.members.insert_many(numbers(size).map(|id| Member { id, list: None })).await.unwrap();
        let list = List { id: 1, items: Vec::new(), members: numbers(size).map(Ref::new).collect() };
        db.lists.insert(list).await.unwrap();
        taken(async { db.lists.delete(1).await.unwrap() }).await
    }

    500: async fn members_of_a_list_that_are_deleted(size: usize) -> Taken {
        let db = empty().await;
        db.lists.insert(List { id: 1, items: Vec::new(), members: Vec::new() }).await.unwrap();
        let members = numbers(size).map(|id| Member { id, list: Some(Ref::new(1)) });
        db.members.insert_many(members).await.unwrap();
        taken(async { db.members.delete_where(Filter::all()).await.unwrap() }).await
    }

    500: async fn a_list_of_references_and_the_delete_of_what_it_names(size: usize) -> Taken {
        let db = of_one(size).await;
        let list = List { id: 1, items: numbers(size).map(Ref::new).collect(), members: Vec::new() };
        taken(async {
            db.lists.insert(list).await.unwrap();
            let list = db.lists.get(1).await.unwrap();
            assert_eq!(db.items.fetch(&list.items).await.unwrap().len(), size);
            db.items.all().any_referrer(List::fields().items, Filter::all()).await.unwrap()
        })
        .await
    }

    500: async fn a_join_of_what_documents_reference(size: usize) -> Taken {
        let db = of_many(size).await;
        taken(async { assert_eq!(db.items.all().join(Item::fields().owner).await.unwrap().len(), size) }).await
    }

    500: async fn a_join_of_referrers(size: usize) -> Taken {
        let db = of_many(size).await;
        taken(async { assert_eq!(db.owners.all().join(Item::fields().owner.referrers()).await.unwrap().len(), size) }).await
    }

    500: async fn parents_by_their_children_and_children_by_their_parents(size: usize) -> Taken {
        let db = of_many(size).await;
        let fields = Item::fields();
        taken(async {
            let all = db.owners.all().any_referrer(fields.owner, Filter::all()).any_referrer(fields.owner, fields.n.gte(0));
            assert_eq!(all.await.unwrap().len(), size);
            let found = db.items.find(fields.owner.in_(numbers(size))).whose(fields.owner, Filter::all());
            assert_eq!(found.await.unwrap().len(), size)
        })
        .await
    }

    500: async fn documents_with_their_cold_parts(size: usize) -> Taken {
        let db = of_one(size).await;
        taken(async { assert_eq!(db.items.all().with(Item::fields().body).await.unwrap().len(), size) }).await
    }

    500: async fn cold_parts_that_change(size: usize) -> Taken {
        let db = of_one(size).await;
        taken(async { db.items.update_where(Filter::all()).set(Item::fields().body.text, "new").await.unwrap() }).await
    }

    250: async fn an_audit_a_repair_an_export_and_an_import(size: usize) -> Taken {
        let (db, copy) = (of_many(size).await, empty().await);
        taken(async {
            assert_eq!(db.audit().await.unwrap(), []);
            assert_eq!(db.repair().await.unwrap(), []);
            let mut lines = Vec::new();
            db.export(&mut lines).await.unwrap();
            copy.import(&*lines).await.unwrap()
        })
        .await
    }

    250: async fn an_audit_of_one_parent_of_many(size: usize) -> Taken {
        let db = of_one(size).await;
        taken(async { assert_eq!(db.audit().await.unwrap(), []) }).await
    }
}
