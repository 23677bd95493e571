//! Writes of every form to any collection, and the programs that they run in.

use futures_util::future::{FutureExt, LocalBoxFuture};
use odm::{
    Audit, Error, ErrorKind,
    bson::{self, Bson, Document, doc},
    prelude::*,
};
use serde::de::DeserializeOwned;

use super::{
    models::{desk, first, fourth, reports, second, third},
    steps::Chance,
};

/// A write.
#[derive(Debug, Clone)]
pub(crate) struct Act {
    pub(crate) collection: &'static str,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    Insert(Document),
    InsertMany(Vec<Document>),
    Replace(Document),
    Upsert(Document),
    Modify(Bson, Document),
    Update(Bson, Document),
    UpdateWhere(Vec<Bson>, Document),
    UpsertWhere(Bson, Document),
    /// By typed fields, with this number.
    Typed(Bson, i32),
    Delete(Bson),
    DeleteWhere(Vec<Bson>),
}

const WRITTEN: [(&str, u64); 6] = [
    ("regions", 2),
    ("shops", 4),
    ("persons", 4),
    ("items", 5),
    ("reviews", 6),
    ("orders", 2),
];

/// How many documents a collection can have.
fn number_of(collection: &str) -> u64 {
    match collection {
        "regions" => 3,
        "shops" => 4,
        "items" => 6,
        "reviews" => 12,
        _ => 5,
    }
}

fn nth_id(collection: &str, at: u64) -> Bson {
    match collection {
        "shops" => Bson::String(format!("shop {at}")),
        "persons" => Bson::Int64(at as i64),
        _ => Bson::Int32(at as i32),
    }
}

/// The `_id` of a document of a collection.
pub(crate) fn id(chance: &mut Chance, collection: &str) -> Bson {
    nth_id(collection, chance.below(number_of(collection)))
}

fn optional(chance: &mut Chance, collection: &str) -> Bson {
    match chance.below(3) {
        0 => Bson::Null,
        _ => id(chance, collection),
    }
}

fn some(chance: &mut Chance, collection: &str, number: u64) -> Vec<Bson> {
    let number = chance.below(number);
    let mut all: Vec<Bson> = Vec::new();
    for _ in 0..number {
        let id = id(chance, collection);
        if !all.contains(&id) {
            all.push(id);
        }
    }
    all
}

pub(crate) fn name(chance: &mut Chance) -> String {
    format!("name {}", chance.below(4))
}

/// The base data of a document without its `_id`.
pub(crate) fn base(chance: &mut Chance, collection: &str) -> Document {
    match collection {
        "regions" => doc! { "name": name(chance) },
        "shops" => doc! {
            "name": name(chance),
            "region": optional(chance, "regions"),
            "owner": optional(chance, "persons"),
        },
        "persons" => doc! {
            "name": name(chance),
            "shop": optional(chance, "shops"),
            "follows": some(chance, "persons", 3),
            "followers": some(chance, "persons", 3),
        },
        "items" => {
            let links = some(chance, "items", 3).into_iter();
            let links = links.map(|id| Bson::Document(doc! { "id": id, "title": "junk" }));
            let mut item = doc! {
                "title": name(chance),
                "price": chance.below(4) as i32,
                "shop": id(chance, "shops"),
                "similar": links.collect::<Vec<_>>(),
            };
            if chance.below(3) > 0 {
                let inspector = optional(chance, "persons");
                item.insert(
                    "detail",
                    doc! { "text": name(chance), "inspector": inspector },
                );
            }
            item
        }
        "reviews" => doc! {
            "item": id(chance, "items"),
            "stars": chance.below(6) as i32,
            "hidden": chance.below(4) == 0,
            "by": optional(chance, "persons"),
        },
        _ => doc! {
            "note": name(chance),
            "item": id(chance, "items"),
            "buyer": optional(chance, "persons"),
            "region": optional(chance, "regions"),
        },
    }
}

fn whole(chance: &mut Chance, collection: &str) -> Document {
    let mut document = doc! { "_id": id(chance, collection) };
    document.extend(base(chance, collection));
    // Derived fields as no definition has them: they are ignored in whole documents.
    document.extend(match collection {
        "shops" => doc! { "items": 77_i64, "good": 77_i64, "region_name": "junk" },
        "items" => doc! { "score": 77_i64, "region_name": "junk", "latest": [] },
        "persons" => doc! { "reviews": 77_i64, "reviewed": ["junk"] },
        _ => doc! {},
    });
    document
}

/// An update of some base data.
fn update(chance: &mut Chance, collection: &str) -> Document {
    let base = base(chance, collection);
    match (collection, chance.below(4)) {
        ("items", 0) => doc! { "$push": { "similar": { "id": id(chance, "items"), "score": 5 } } },
        ("items", 1) => doc! { "$pull": { "similar": { "id": id(chance, "items") } } },
        ("items", 2) => doc! { "$inc": { "price": 1 }, "$set": { "detail.text": name(chance) } },
        ("items", 3) if chance.below(2) == 0 => {
            doc! { "$set": { "detail.inspector": optional(chance, "persons") } }
        }
        ("persons", 0) => doc! { "$addToSet": { "follows": id(chance, "persons") } },
        ("persons", 1) => doc! { "$pull": { "followers": id(chance, "persons") } },
        ("shops", 0) => doc! { "$unset": { "region": "" } },
        ("reviews", 0) => doc! { "$inc": { "stars": 1 } },
        _ => {
            let names: Vec<&String> = base.keys().collect();
            let name = names[chance.below(names.len() as u64) as usize];
            doc! { "$set": { name: base[name].clone() } }
        }
    }
}

/// Any write.
pub(crate) fn act(chance: &mut Chance) -> Act {
    let sum = WRITTEN.iter().map(|(_, weight)| weight).sum();
    let mut at = chance.below(sum);
    let mut collections = WRITTEN.iter();
    let collection = loop {
        let (collection, weight) = collections.next().expect("the weights sum up");
        match at.checked_sub(*weight) {
            Some(rest) => at = rest,
            None => break *collection,
        }
    };
    act_on(chance, collection)
}

fn act_on(chance: &mut Chance, collection: &'static str) -> Act {
    let id = id(chance, collection);
    let change = match chance.below(32) {
        0..3 => Change::Insert(whole(chance, collection)),
        3..5 => {
            let number = 1 + chance.below(4);
            Change::InsertMany((0..number).map(|_| whole(chance, collection)).collect())
        }
        5..8 => Change::Replace(whole(chance, collection)),
        8..12 => Change::Upsert(whole(chance, collection)),
        12..15 => Change::Modify(id, base(chance, collection)),
        15..20 => Change::Update(id, update(chance, collection)),
        20..23 => Change::UpdateWhere(some(chance, collection, 5), update(chance, collection)),
        23..24 => Change::UpsertWhere(id, doc! { "$set": base(chance, collection) }),
        24..28 => Change::Typed(id, chance.below(6) as i32),
        // With a shop or an item goes much else, so that few would be left.
        28..32 if matches!(collection, "shops" | "items") && chance.below(4) > 0 => {
            Change::Update(id, update(chance, collection))
        }
        28..31 => Change::Delete(id),
        _ => Change::DeleteWhere(some(chance, collection, 4)),
    };
    Act { collection, change }
}

/// Inserts of everything, in an order in which nothing is refused.
pub(crate) fn beginning(chance: &mut Chance) -> Vec<Act> {
    let mut acts = Vec::new();
    for (collection, _) in WRITTEN {
        for at in 0..number_of(collection) {
            let mut document = whole(chance, collection);
            document.insert("_id", nth_id(collection, at));
            match collection {
                "shops" => document.extend(doc! { "owner": null }),
                "persons" => document.extend(doc! { "follows": [], "followers": [] }),
                "items" => document.extend(doc! { "similar": [] }),
                _ => {}
            }
            let change = Change::Upsert(document);
            acts.push(Act { collection, change });
        }
    }
    acts
}

fn typed<T: DeserializeOwned>(document: &Document) -> odm::Result<T> {
    let read = bson::deserialize_from_document(document.clone());
    read.map_err(|error| panic!("{error}: {document}"))
}

fn reference<M: odm::Document>(id: &Bson) -> Ref<M> {
    Ref::new(bson::deserialize_from_bson(id.clone()).expect("the `_id` fits"))
}

fn by_id<M: odm::Document>(ids: &[Bson]) -> Filter<M> {
    Filter::raw(doc! { "_id": { "$in": ids } })
}

async fn apply<M: odm::Document + 'static>(
    repository: &Repository<M>,
    change: &Change,
    update: impl Fn(i32) -> odm::Update<M>,
) -> odm::Result<()> {
    // With the version of what is stored, so that the write is not stale.
    let fresh = async |document: &Document| -> odm::Result<M> {
        let mut document = document.clone();
        let id = document.get("_id").cloned().expect("it is whole");
        if let Some(stored) = repository.find(by_id(&[id])).first().await? {
            let stored = bson::serialize_to_document(&stored).expect("it was read");
            if let Some(revision) = stored.get("revision") {
                document.insert("revision", revision);
            }
        }
        typed(&document)
    };
    match change {
        Change::Insert(document) => repository.insert(typed::<M>(document)?).await.map(drop),
        Change::InsertMany(documents) => {
            let documents: odm::Result<Vec<M>> = documents.iter().map(typed).collect();
            repository.insert_many(documents?).await.map(drop)
        }
        Change::Replace(document) => repository.replace(fresh(document).await?).await.map(drop),
        Change::Upsert(document) => repository.upsert(fresh(document).await?).await.map(drop),
        Change::Modify(id, base) => {
            let modified = repository.modify(reference::<M>(id), |document: &mut M| {
                let mut all = bson::serialize_to_document(document).expect("it was read");
                all.extend(base.clone());
                *document = typed(&all).expect("it has all fields");
            });
            modified.await.map(drop)
        }
        Change::Update(id, raw) => repository.update(reference::<M>(id)).raw(raw.clone()).await,
        Change::UpdateWhere(ids, raw) => {
            let updated = repository.update_where(by_id(ids)).raw(raw.clone());
            updated.await.map(drop)
        }
        Change::UpsertWhere(id, raw) => {
            let filter = Filter::raw(doc! { "_id": id });
            let updated = repository.update_where(filter).raw(raw.clone()).upsert();
            updated.await.map(drop)
        }
        Change::Typed(id, number) => {
            repository
                .update(reference::<M>(id))
                .with(update(*number))
                .await
        }
        Change::Delete(id) => repository.delete(reference::<M>(id)).await.map(drop),
        Change::DeleteWhere(ids) => repository.delete_where(by_id(ids)).await.map(drop),
    }
}

/// A program with its models.
pub(crate) trait Program {
    fn knows(&self, collection: &str) -> bool;
    fn act<'a>(&'a self, act: &'a Act) -> LocalBoxFuture<'a, odm::Result<()>>;
    /// Runs acts in one transaction, and rolls it back or not.
    fn transaction<'a>(
        &'a self,
        acts: &'a [Act],
        rolls_back: bool,
    ) -> LocalBoxFuture<'a, odm::Result<()>>;
    fn audit(&self) -> Audit;
    fn repair(&self) -> Audit;
    fn backfill(&self) -> Audit;
    fn pending(&self) -> Vec<String>;
}

macro_rules! programs {
    ($($program:ty { $($field:ident: $update:expr),+ $(,)? })+) => {$(
        impl Program for $program {
            fn knows(&self, collection: &str) -> bool {
                [$(stringify!($field)),+].contains(&collection)
            }

            fn act<'a>(&'a self, act: &'a Act) -> LocalBoxFuture<'a, odm::Result<()>> {
                match act.collection {
                    $(stringify!($field) => {
                        apply(&self.$field, &act.change, $update).boxed_local()
                    })+
                    other => panic!("`{other}` is not known"),
                }
            }

            fn transaction<'a>(
                &'a self,
                acts: &'a [Act],
                rolls_back: bool,
            ) -> LocalBoxFuture<'a, odm::Result<()>> {
                let run = Database::transaction(self, async move |program: Self| {
                    for act in acts {
                        program.act(act).await?;
                    }
                    match rolls_back {
                        true => Err(Error::new(ErrorKind::NotFound, "rolled back")),
                        false => Ok(()),
                    }
                });
                run.boxed_local()
            }

            fn audit(&self) -> Audit {
                Database::audit(self)
            }

            fn repair(&self) -> Audit {
                Database::repair(self)
            }

            fn backfill(&self) -> Audit {
                Database::backfill(self)
            }

            fn pending(&self) -> Vec<String> {
                self.pending_backfills()
            }
        }
    )+};
}

macro_rules! application {
    ($($module:ident),+) => {
        programs! {$(
            $module::Application {
                regions: |n| odm::Update::new()
                    .set($module::Region::fields().name, format!("name {n}")),
                shops: |n| odm::Update::new()
                    .set($module::Shop::fields().region, (n < 3).then(|| Ref::new(n))),
                persons: |n| odm::Update::new()
                    .set($module::Person::fields().name, format!("name {n}")),
                items: |n| odm::Update::new()
                    .set($module::Item::fields().title, format!("name {n}"))
                    .inc($module::Item::fields().price, 1),
                reviews: |n| odm::Update::new().set($module::Review::fields().stars, n),
                orders: |n| odm::Update::new()
                    .set($module::Order::fields().note, format!("name {n}")),
            }
        )+}
    };
}

application!(first, second, third, fourth);

programs! {
    reports::Reports {
        regions: |n| odm::Update::new().set(reports::Region::fields().name, format!("name {n}")),
        shops: |n| odm::Update::new()
            .set(reports::Shop::fields().region, (n < 3).then(|| Ref::new(n))),
        items: |n| odm::Update::new().mul(reports::Item::fields().price, n),
    }
    desk::Desk {
        persons: |n| odm::Update::new().set(desk::Person::fields().name, format!("name {n}")),
        reviews: |n| odm::Update::new().set(desk::Review::fields().stars, n),
    }
}
