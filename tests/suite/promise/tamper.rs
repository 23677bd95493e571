//! Writes to the store itself, past the library, without consequences.

use std::sync::Arc;

use odm::{
    bson::{Bson, Document, RawDocumentBuf, doc},
    mql,
    store::{
        Durability,
        contract::{
            Change, CollectionWrites, DeleteWrite, DocumentWrite, Transaction, UnitOfWork,
            UpdateWrite,
        },
    },
};
use tests::TestStore;

use super::{
    acts::{base, id, name},
    rules::rules,
    steps::Chance,
    world::{COLLECTIONS, COUNTERS, World},
};

/// A write to the store itself.
#[derive(Debug, Clone)]
pub(crate) enum Tampering {
    Update(&'static str, Document, Document),
    Delete(&'static str, Document),
    /// Inserts base data, if no document has the `_id`.
    Insert(&'static str, Document),
}

fn junk(chance: &mut Chance) -> Bson {
    match chance.below(6) {
        0 => Bson::Null,
        1 => Bson::Int32(chance.below(4) as i32),
        2 => Bson::String(name(chance)),
        3 => Bson::Array(vec![]),
        4 => Bson::Array(vec![doc! { "title": name(chance), "score": 1_i64 }.into()]),
        _ => Bson::Document(doc! { "name": name(chance) }),
    }
}

pub(crate) fn tampering(chance: &mut Chance) -> Tampering {
    let collections = ["regions", "shops", "persons", "items", "reviews", "orders"];
    let collection = collections[chance.below(6) as usize];
    let one = doc! { "_id": id(chance, collection) };
    match chance.below(10) {
        // A derived field has another value, or another shape, or is missing.
        0..5 => {
            let rules = rules(0);
            let rule = &rules[chance.below(rules.len() as u64) as usize];
            let path = match rule.list {
                "" => rule.field.to_owned(),
                list => format!("{list}.0.{}", rule.field),
            };
            let update = match chance.below(4) {
                0 => doc! { "$unset": { &path: "" } },
                // A frozen or dangling field has no definition to compare it with.
                _ if rule.holder == "orders" => doc! { "$unset": { &path: "" } },
                _ => doc! { "$set": { &path: junk(chance) } },
            };
            let mut filter = match rule.holder {
                "item_details" => doc! { "item": id(chance, "items") },
                "tickets" => doc! { "code": id(chance, "tickets") },
                holder => doc! { "_id": id(chance, holder) },
            };
            if !rule.list.is_empty() {
                filter.insert(format!("{}.0", rule.list), doc! { "$exists": true });
            }
            Tampering::Update(rule.holder, filter, update)
        }
        5..7 => Tampering::Update(collection, one, doc! { "$set": base_field(chance, collection) }),
        // References in another type of number, and lists of inverse references that are missing or have a duplicate.
        7 => match chance.below(6) {
            // All numbers that were given last are given again.
            5 => Tampering::Update(COUNTERS, doc! {}, doc! { "$inc": { "last": -1_i64 } }),
            0 => Tampering::Update("reviews", one, doc! { "$mul": { "item": 1_i64 } }),
            1 => Tampering::Update("items", one, doc! { "$mul": { "price": 1_i64 } }),
            2 => Tampering::Update("persons", one, doc! { "$unset": { "follows": "" } }),
            3 => {
                let push = doc! { "$push": { "followers": id(chance, "persons") } };
                Tampering::Update("persons", one, push)
            }
            _ => Tampering::Update("shops", one, doc! { "$unset": { "region": "" } }),
        },
        8 => Tampering::Delete(collection, one),
        _ => {
            let mut document = one;
            document.extend(valid(chance, collection));
            document.remove("detail");
            // A frozen copy that was never filled in is not frozen.
            if collection == "orders" {
                document.extend(doc! { "title_then": name(chance), "buyer_then": name(chance) });
            }
            let has_version = matches!(collection, "shops" | "persons" | "items");
            if has_version {
                document.insert("revision", 1_i64);
            }
            Tampering::Insert(collection, document)
        }
    }
}

/// Valid base data, which a repair cannot restore.
fn valid(chance: &mut Chance, collection: &str) -> Document {
    let mut base = base(chance, collection);
    if collection == "reviews" {
        base.insert("stars", chance.below(6) as i32);
    }
    base
}

/// Some base data of a document itself, and not of its cold part.
fn base_field(chance: &mut Chance, collection: &str) -> Document {
    let mut base = valid(chance, collection);
    base.remove("detail");
    let names: Vec<String> = base.keys().cloned().collect();
    let name = &names[chance.below(names.len() as u64) as usize];
    doc! { name: base[name].clone() }
}

struct Beneath(Vec<Tampering>);

#[async_trait::async_trait]
impl UnitOfWork for Beneath {
    async fn run(&self, transaction: &mut dyn Transaction) -> odm::Result<()> {
        for tampering in &self.0 {
            match tampering {
                Tampering::Update(collection, filter, update) => {
                    let write = UpdateWrite {
                        collection: (*collection).to_owned(),
                        filter: mql::Filter::parse(filter).expect("a filter"),
                        change: Change::Update(mql::Update::parse(update, &[]).expect("an update")),
                        upsert: false,
                        check: None,
                    };
                    transaction.update(&write).await?;
                }
                Tampering::Delete(collection, filter) => {
                    let write = DeleteWrite {
                        collection: (*collection).to_owned(),
                        filter: mql::Filter::parse(filter).expect("a filter"),
                    };
                    transaction.delete(&write).await?;
                }
                Tampering::Insert(collection, document) => {
                    let document = RawDocumentBuf::try_from(document).expect("a document");
                    let batch = CollectionWrites {
                        collection,
                        writes: vec![DocumentWrite::Insert(&document)],
                    };
                    transaction.apply(&[batch]).await?;
                }
            }
        }
        Ok(())
    }
}

/// Writes to the store itself: all writes or, if an index refuses one, none.
pub(crate) async fn tamper(store: &impl TestStore, with: Vec<Tampering>) -> odm::Result<()> {
    store.run(Arc::new(Beneath(with)), Durability::Immediate).await
}

/// Restores the stored documents.
pub(crate) async fn restore(store: &impl TestStore, to: &World) {
    let all = COLLECTIONS.iter().map(|collection| Tampering::Delete(collection, doc! {}));
    let mut writes: Vec<Tampering> = all.collect();
    writes.push(Tampering::Delete(COUNTERS, doc! {}));
    writes.extend(to.counters.iter().map(|of| Tampering::Insert(COUNTERS, of.clone())));
    for collection in COLLECTIONS {
        let documents = to.of(collection).values();
        writes.extend(documents.map(|of| Tampering::Insert(collection, of.clone())));
    }
    tamper(store, writes).await.expect("it was stored before");
}
