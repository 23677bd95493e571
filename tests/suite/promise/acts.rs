//! Writes of every form to any collection.

use odm::{
    DateTime,
    bson::{Bson, Document, doc},
};

use super::steps::Chance;

/// An operation of a program on the stored documents.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Write(Write),
    /// Several writes as one unit, the writes of one collection together, in the order of the collections.
    Bulk(Vec<Write>),
    /// Deletes the tickets whose time is over.
    DeleteExpired,
}

/// A write of one collection.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    pub(crate) collection: &'static str,
    pub(crate) change: Change,
}

/// A document that a change names by its `_id`, or a ticket by its code, since its `_id` is not chosen here.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Insert(Document),
    InsertMany(Vec<Document>),
    /// With the next numbers of a sequence as `_id`s.
    InsertNew(Vec<Document>),
    Replace(Document),
    Upsert(Document),
    UpsertMany(Vec<Document>),
    UpsertBy(Document, Found),
    Modify(Bson, Document),
    Update(Bson, Document),
    /// If the document has this version.
    UpdateVersion(Bson, i64),
    UpdateWhere(Vec<Bson>, Document),
    UpsertWhere(Bson, Document),
    /// By typed fields, with this number.
    Typed(Bson, i32),
    /// Of single elements of lists and entries of maps, by this number.
    Elements(Bson, i32),
    /// By the fields of a patch.
    Patch(Bson, Document),
    /// As BSON.
    Raw(Raw, Document),
    Delete(Bson),
    DeleteWhere(Vec<Bson>),
}

/// The fate of a document that has the unique key already.
#[derive(Debug, Clone)]
pub(crate) enum Found {
    Replaced,
    Kept,
    Updated(Document),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Raw {
    Insert,
    Replace,
    Upsert,
}

impl Act {
    /// The collections that it writes itself.
    pub(crate) fn collections(&self) -> Vec<&'static str> {
        match self {
            Act::Write(write) => vec![write.collection],
            Act::Bulk(writes) => writes.iter().map(|write| write.collection).collect(),
            Act::DeleteExpired => vec!["tickets"],
        }
    }

    /// Whether it may remove tickets.
    pub(crate) fn removes_tickets(&self) -> bool {
        let is_delete = |write: &Write| {
            matches!(write.change, Change::Delete(_) | Change::DeleteWhere(_))
                && matches!(write.collection, "shops" | "tickets")
        };
        match self {
            Act::Write(write) => is_delete(write),
            Act::Bulk(writes) => writes.iter().any(is_delete),
            Act::DeleteExpired => true,
        }
    }
}

const WRITTEN: [(&str, u64); 7] = [
    ("regions", 4),
    ("shops", 4),
    ("persons", 4),
    ("items", 5),
    ("reviews", 6),
    ("orders", 2),
    ("tickets", 4),
];

/// How many documents a collection can have.
fn number_of(collection: &str) -> u64 {
    match collection {
        "regions" => 4,
        "shops" => 4,
        "items" => 6,
        "reviews" => 12,
        _ => 5,
    }
}

fn nth_id(collection: &str, at: u64) -> Bson {
    match collection {
        "shops" => Bson::String(format!("shop {at}")),
        "tickets" => Bson::String(format!("code {at}")),
        "persons" => Bson::Int64(at as i64),
        _ => Bson::Int32(at as i32),
    }
}

/// The `_id` of a document of a collection; of a ticket, its code.
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

/// Some persons. One of them may occur twice, which is refused.
fn persons(chance: &mut Chance) -> Vec<Bson> {
    let mut all = some(chance, "persons", 3);
    if chance.below(16) == 0 {
        all.extend(all.first().cloned());
    }
    all
}

/// A number of stars, which may be one more than is valid.
fn stars(chance: &mut Chance) -> i32 {
    match chance.below(16) {
        0 => 7,
        _ => chance.below(6) as i32,
    }
}

pub(crate) fn name(chance: &mut Chance) -> String {
    format!("name {}", chance.below(4))
}

/// The base data of a document without its `_id`.
pub(crate) fn base(chance: &mut Chance, collection: &str) -> Document {
    match collection {
        "regions" => doc! { "name": name(chance), "above": optional(chance, "regions") },
        "shops" => doc! {
            "name": name(chance),
            "region": optional(chance, "regions"),
            "owner": optional(chance, "persons"),
        },
        "persons" => doc! {
            "name": name(chance),
            "shop": optional(chance, "shops"),
            "follows": persons(chance),
            "followers": persons(chance),
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
                item.insert("detail", doc! { "text": name(chance), "inspector": inspector });
            }
            item
        }
        "reviews" => doc! {
            "item": id(chance, "items"),
            "stars": stars(chance),
            "hidden": chance.below(4) == 0,
            "by": optional(chance, "persons"),
        },
        "tickets" => ticket(chance),
        _ => doc! {
            "note": name(chance),
            "item": id(chance, "items"),
            "buyer": optional(chance, "persons"),
            "region": optional(chance, "regions"),
        },
    }
}

fn ticket(chance: &mut Chance) -> Document {
    let after = match chance.below(4) {
        0 => own_number(chance),
        _ => Bson::Null,
    };
    let until = match chance.below(3) {
        0 => Bson::DateTime(DateTime::from_millis(chance.below(5) as i64).into()),
        // In the year 9000: not every server reads later years than 9999.
        1 => Bson::DateTime(DateTime::from_millis(221_845_392_000_000).into()),
        _ => Bson::Null,
    };
    let lines = some(chance, "items", 3).into_iter();
    let lines = lines.map(|item| doc! { "item": item, "quantity": 1 });
    doc! {
        "code": id(chance, "tickets"),
        "shop": id(chance, "shops"),
        "after": after,
        "lines": lines.collect::<Vec<_>>(),
        "notes": { "b": 1 },
        "until": until,
    }
}

/// The `_id` of a ticket with a number of its own: one from before the sequence, or its first number.
fn own_number(chance: &mut Chance) -> Bson {
    Bson::Int64([-2, -1, 1][chance.below(3) as usize])
}

fn whole(chance: &mut Chance, collection: &str) -> Document {
    let id = match collection {
        "tickets" => own_number(chance),
        _ => id(chance, collection),
    };
    let mut document = doc! { "_id": id };
    document.extend(base(chance, collection));
    // Wrong values of derived fields: they are ignored in whole documents.
    document.extend(match collection {
        "shops" => doc! { "items": 77_i64, "good": 77_i64, "region_name": "junk" },
        "items" => doc! { "score": 77_i64, "region_name": "junk", "latest": [] },
        "persons" => doc! { "reviews": 77_i64, "reviewed": ["junk"] },
        "tickets" => doc! { "shop_name": "junk", "number": 7_i64 },
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
        ("tickets", 0) => doc! { "$set": { "after": own_number(chance) } },
        ("reviews", 0) => doc! { "$inc": { "stars": 2 } },
        _ => {
            let names: Vec<&String> = base.keys().collect();
            let name = names[chance.below(names.len() as u64) as usize];
            doc! { "$set": { name: base[name].clone() } }
        }
    }
}

/// Any act.
pub(crate) fn act(chance: &mut Chance) -> Act {
    match chance.below(24) {
        0..2 => {
            let number = 2 + chance.below(3);
            Act::Bulk((0..number).map(|_| write(chance)).collect())
        }
        2 => Act::DeleteExpired,
        // An `_id` that may be taken.
        3 => {
            let order = whole(chance, "orders");
            let id = order["_id"].clone();
            let changes = [Change::Insert(order), Change::Delete(id)];
            let write = |change| Write { collection: "orders", change };
            Act::Bulk(changes.map(write).into())
        }
        _ => Act::Write(write(chance)),
    }
}

fn write(chance: &mut Chance) -> Write {
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
    write_of(chance, collection)
}

fn write_of(chance: &mut Chance, collection: &'static str) -> Write {
    let id = id(chance, collection);
    let change = match chance.below(44) {
        0..15 if collection == "tickets" => ticket_change(chance),
        0..3 => Change::Insert(whole(chance, collection)),
        3..5 => Change::InsertMany(several(chance, collection)),
        5..8 => Change::Replace(whole(chance, collection)),
        8..12 => Change::Upsert(whole(chance, collection)),
        12..15 => Change::Modify(id, base(chance, collection)),
        15..20 => Change::Update(id, update(chance, collection)),
        20..23 => Change::UpdateWhere(some(chance, collection, 5), update(chance, collection)),
        23..24 => Change::UpsertWhere(id, doc! { "$set": base(chance, collection) }),
        24..28 => Change::Typed(id, chance.below(6) as i32),
        // A deleted shop or item takes many other documents with it, so that few would be left.
        28..32 if matches!(collection, "shops" | "items") && chance.below(4) > 0 => {
            Change::Update(id, update(chance, collection))
        }
        28..31 => Change::Delete(id),
        31..32 => Change::DeleteWhere(some(chance, collection, 4)),
        32..34 => {
            let mut documents = several(chance, collection);
            // One document of each `_id`.
            documents.sort_by_key(|document| document["_id"].to_string());
            documents.dedup_by_key(|document| document["_id"].clone());
            Change::UpsertMany(documents)
        }
        34..37 => {
            let raw = [Raw::Insert, Raw::Replace, Raw::Upsert][chance.below(3) as usize];
            Change::Raw(raw, whole(chance, collection))
        }
        37..40 => {
            let mut fields = base(chance, collection);
            let names: Vec<String> = fields.keys().cloned().collect();
            for name in names {
                if chance.below(2) == 0 || name == "detail" {
                    fields.remove(name);
                }
            }
            Change::Patch(id, fields)
        }
        40..42 => Change::Elements(id, chance.below(6) as i32),
        _ => Change::UpdateVersion(id, 1 + chance.below(4) as i64),
    };
    Write { collection, change }
}

fn several(chance: &mut Chance, collection: &str) -> Vec<Document> {
    let number = 1 + chance.below(4);
    (0..number).map(|_| whole(chance, collection)).collect()
}

/// By the sequence or by the code.
fn ticket_change(chance: &mut Chance) -> Change {
    match chance.below(8) {
        0..3 => {
            let number = 1 + chance.below(2);
            Change::InsertNew((0..number).map(|_| ticket(chance)).collect())
        }
        3..5 => Change::UpsertBy(ticket(chance), Found::Replaced),
        5 => Change::UpsertBy(ticket(chance), Found::Kept),
        _ => {
            let update = update(chance, "tickets");
            Change::UpsertBy(ticket(chance), Found::Updated(update))
        }
    }
}

/// Inserts of everything, in an order without refusals.
pub(crate) fn beginning(chance: &mut Chance) -> Vec<Act> {
    let mut acts = Vec::new();
    for (collection, _) in WRITTEN {
        for at in 0..number_of(collection) {
            if collection == "tickets" {
                let mut document = ticket(chance);
                document.extend(doc! { "code": nth_id(collection, at), "after": null });
                acts.push((collection, Change::InsertNew(vec![document])));
                continue;
            }
            let mut document = whole(chance, collection);
            document.insert("_id", nth_id(collection, at));
            match collection {
                "regions" => document.extend(doc! { "above": null }),
                "shops" => document.extend(doc! { "owner": null }),
                "persons" => document.extend(doc! { "follows": [], "followers": [] }),
                "items" => document.extend(doc! { "similar": [] }),
                "reviews" => document.extend(doc! { "stars": 3 }),
                _ => {}
            }
            acts.push((collection, Change::Upsert(document)));
        }
    }
    let acts = acts.into_iter();
    acts.map(|(collection, change)| Act::Write(Write { collection, change })).collect()
}
