//! The effects of writes themselves, without their consequences.

use std::collections::BTreeMap;

use odm::bson::{Bson, Document};

use super::{
    acts::{Act, Change, Found, Write},
    world::{COLLECTIONS, Key, World, bytes, get, key, number, places},
};

/// Says what an accepted write should have done and has not.
pub(crate) fn missed(before: &World, after: &World, act: &Act) -> Option<String> {
    match act {
        Act::Write(Write { collection, change }) => write(before, after, collection, change),
        Act::Bulk(writes) => {
            let mut new = writes.iter().filter_map(|write| match &write.change {
                Change::InsertNew(documents) => Some(documents.len() as i64),
                _ => None,
            });
            let least = before.last_number + new.by_ref().sum::<i64>();
            (after.last_number < least).then(|| format!("the last number is {}", after.last_number))
        }
        Act::DeleteExpired => {
            let tickets = after.of("tickets");
            let mut left = tickets.iter().filter(|(_, ticket)| has_expired(ticket));
            // The tickets that refer to it may have been deleted after it was left.
            let is_free = |id: &Key| {
                let mut all = before.of("tickets").values();
                !all.any(|ticket| get(ticket, "after") == *id)
            };
            let free = left.find(|(id, _)| is_free(id));
            free.map(|(id, _)| format!("{id:?} has expired, and is there"))
        }
    }
}

fn write(before: &World, after: &World, collection: &str, change: &Change) -> Option<String> {
    let (old, new) = (before.of(collection), after.of(collection));
    match change {
        Change::InsertNew(documents) => {
            let numbers = before.last_number + 1..;
            let mut numbered = numbers.zip(documents);
            let missing = numbered.find(|(number, document)| {
                let stored = new.get(&Key::Number(*number));
                stored.is_none_or(|stored| get(stored, "code") != get(document, "code"))
            });
            missing.map(|(number, _)| format!("{number} is another one"))
        }
        Change::UpsertBy(document, found) => {
            let by_code =
                |(_, ticket): &(&Key, &Document)| get(ticket, "code") == get(document, "code");
            let stored = new.iter().find(by_code);
            match (old.iter().find(by_code), stored, found) {
                (None, None, _) => Some("it is not there".to_owned()),
                (Some((id, held)), _, Found::Kept) => {
                    let is_same = new.get(id).is_some_and(|now| bytes(now) == bytes(held));
                    (!is_same).then(|| format!("{id:?} was not kept"))
                }
                (Some((id, _)), _, Found::Updated(_)) => {
                    let is_same = old.len() == new.len() && new.contains_key(id);
                    (!is_same).then(|| format!("{id:?} is another one"))
                }
                (held, Some((id, stored)), _) => {
                    let is_same = held.is_none_or(|(held, _)| held == id);
                    let is_set = |name: &&str| get(stored, name) == get(document, name);
                    let other = ["code", "shop", "after", "notes", "until"];
                    let other = other.iter().find(|name| !is_set(name));
                    match other {
                        Some(name) => {
                            Some(format!("`{name}` of {id:?} was set to {:?}", stored.get(name)))
                        }
                        None => (!is_same).then(|| format!("{id:?} is another one")),
                    }
                }
                (Some((id, _)), None, Found::Replaced) => Some(format!("{id:?} is gone")),
            }
        }
        Change::UpdateVersion(name, version) => {
            let held = old.get(&id_of(before, collection, name)?)?;
            let has_version = matches!(get(held, "revision"), Key::Number(_));
            // Programs without a version in their models do not check one.
            let asks = has_version && collection == "tickets";
            (asks && number(held, "revision") != *version)
                .then(|| format!("it had the version {:?}", held.get("revision")))
        }
        Change::Patch(name, fields) => {
            let stored = new.get(&id_of(before, collection, name)?)?;
            // Elements of lists have derived fields, too, and inverse references may be added.
            let mut fields = fields.iter().filter(|(name, _)| {
                !["similar", "lines", "follows", "followers"].contains(&name.as_str())
            });
            let other = fields.find(|(name, value)| get(stored, name) != key(value));
            other.map(|(field, value)| format!("`{field}` should be {value}"))
        }
        Change::Elements(name, number) => {
            let id = id_of(before, collection, name)?;
            let (held, stored) = (old.get(&id)?, new.get(&id)?);
            elements(collection, held, stored, i64::from(*number))
        }
        _ => None,
    }
}

/// The `_id` of the document of an act.
fn id_of(world: &World, collection: &str, name: &Bson) -> Option<Key> {
    if collection != "tickets" {
        return Some(key(name));
    }
    let mut tickets = world.of("tickets").iter();
    let found = tickets.find(|(_, ticket)| get(ticket, "code") == key(name));
    found.map(|(id, _)| id.clone())
}

/// The same changes of elements and entries as `Written::elements` makes.
fn elements(collection: &str, held: &Document, stored: &Document, by: i64) -> Option<String> {
    let list = |document: &Document, list: &str, field: &str| -> Vec<i64> {
        let places = places(document, list).into_iter();
        places.map(|place| number(place, field)).collect()
    };
    let note = |document: &Document, name: &str| {
        let notes = document.get_document("notes").ok();
        notes.map_or(Key::Null, |notes| get(notes, name))
    };
    let (is, should_be) = match collection {
        // A program without knowledge of similar items changes another field.
        "items" if number(held, "price") == number(stored, "price") => {
            let mut links = list(held, "similar", "id");
            match by % 2 {
                0 => {
                    let same = links.iter_mut().filter(|id| **id == by);
                    same.for_each(|id| *id = (by + 1) % 6);
                }
                _ => match links.first_mut() {
                    Some(first) => *first = (by + 1) % 6,
                    None => return Some("there is no first element".to_owned()),
                },
            }
            (list(stored, "similar", "id"), links)
        }
        "tickets" => {
            let mut quantities = list(held, "lines", "quantity");
            match by {
                3 => quantities.iter_mut().for_each(|quantity| *quantity += 1),
                4 => {
                    let many = quantities.iter_mut().filter(|quantity| **quantity >= 2);
                    many.for_each(|quantity| *quantity *= 3);
                }
                5 => match quantities.first_mut() {
                    Some(first) => *first += 1,
                    None => return Some("there is no first element".to_owned()),
                },
                _ => {
                    let b = match note(held, "b") {
                        _ if by == 1 => Key::Null,
                        Key::Number(b) if by == 2 => Key::Number(b + 1),
                        Key::Null if by == 2 => Key::Number(1),
                        b => b,
                    };
                    let a = match by {
                        0 => Key::Number(0),
                        _ => note(held, "a"),
                    };
                    let is_right = note(stored, "a") == a && note(stored, "b") == b;
                    return (!is_right)
                        .then(|| format!("the notes should be a: {a:?}, b: {b:?}: {stored}"));
                }
            }
            (list(stored, "lines", "quantity"), quantities)
        }
        _ => return None,
    };
    (is != should_be).then(|| format!("the elements are {is:?}, and should be {should_be:?}"))
}

fn has_expired(ticket: &Document) -> bool {
    ticket.get_datetime("until").is_ok_and(|until| until.timestamp_millis() < 1_000)
}

/// Says what is wrong with the numbers of the tickets: the sequence gives each number once, to a stored ticket; unless tickets were
/// removed, they are there.
pub(crate) fn wrong_numbers(before: &World, after: &World, removes: bool) -> Option<String> {
    let (first, last) = (before.last_number + 1, after.last_number);
    if last < before.last_number {
        return Some(format!("the last number was {}, and is {last}", first - 1));
    }
    let is_beyond = |id: &Key| matches!(id, Key::Number(number) if *number > last.max(1));
    if let Some(beyond) = after.of("tickets").keys().find(|id| is_beyond(id)) {
        return Some(format!("{beyond:?} is after the last number, {last}"));
    }
    let is_again = |id: &Key| {
        let is_old = |number: i64| number > 1 && number < first;
        let was_there = before.of("tickets").contains_key(id);
        matches!(id, Key::Number(number) if is_old(*number)) && !was_there
    };
    if let Some(again) = after.of("tickets").keys().find(|id| is_again(id)) {
        return Some(format!("{again:?} was given again"));
    }
    let is_there = |number: &i64| after.of("tickets").contains_key(&Key::Number(*number));
    let gap = (first..=last).find(|number| !is_there(number));
    match gap {
        Some(gap) if !removes => Some(format!("{gap} was left out")),
        _ => None,
    }
}

/// Says what is wrong with the numbers within parents. A counter goes with its parent. It never falls, unless the parent was deleted and
/// inserted again. Documents have all the numbers that one act has given.
pub(crate) fn wrong_counters(
    before: &World,
    after: &World,
    removes: bool,
    is_one: bool,
) -> Option<String> {
    let (were, are) = (before.last_numbers(), after.last_numbers());
    let sequences =
        [("tickets", "number", "shop", "shops"), ("reviews", "by_number", "by", "persons")];
    for (holder, field, reference, parents) in sequences {
        let of = format!("{holder}.{field}");
        let of_field = |last: &&(String, Key)| last.0 == of;
        for sequence in were.keys().chain(are.keys()).filter(of_field) {
            let last = |numbers: &BTreeMap<_, i64>| numbers.get(sequence).copied();
            let (was, is, parent) = (last(&were), last(&are), &sequence.1);
            let was_there = before.of(parents).contains_key(parent);
            if was_there && !after.of(parents).contains_key(parent) {
                if is.is_some() {
                    return Some(format!("the counter of {sequence:?} is still there"));
                }
                continue;
            }
            let may_begin_again = removes || parents == "persons" && !is_one;
            if is < was && !may_begin_again {
                return Some(format!("the last number of {sequence:?} was {was:?}, and is {is:?}"));
            }
            let is_there = |wanted: &i64| {
                let mut all = after.of(holder).values();
                all.any(|one| get(one, reference) == *parent && number(one, field) == *wanted)
            };
            let (was, is) = (was.unwrap_or_default().max(0), is.unwrap_or_default());
            if is_one && let Some(gap) = (was + 1..=is).find(|number| !is_there(number)) {
                return Some(format!("{gap} of {sequence:?} was left out"));
            }
        }
    }
    None
}

/// Says how an import differs from the exported documents. A cold part gets another `_id`.
pub(crate) fn otherwise(exported: &World, imported: &World) -> Option<String> {
    if exported.last_number != imported.last_number {
        return Some(format!("the last number is {}", imported.last_number));
    }
    if exported.last_numbers() != imported.last_numbers() {
        return Some(format!("the last numbers are {:?}", imported.last_numbers()));
    }
    COLLECTIONS.into_iter().find_map(|collection| {
        let [one, other] = [exported, imported].map(|world| contents(world, collection));
        let (id, document) = one.iter().find(|(id, document)| other.get(id) != Some(document))?;
        Some(format!("`{collection}` {id:?} was {document:?}, and is {:?}", other.get(id)))
    })
}

type Content = BTreeMap<String, Key>;

/// The documents of a collection without the order of their fields: a new one has derived fields last.
fn contents(world: &World, collection: &str) -> BTreeMap<Key, Content> {
    let documents = world.of(collection).iter();
    let contents = documents.map(|(id, document)| {
        let fields = document.iter();
        let mut content: Content = fields.map(|(name, value)| (name.clone(), key(value))).collect();
        match collection {
            "item_details" => {
                content.remove("_id");
                (get(document, "item"), content)
            }
            _ => (id.clone(), content),
        }
    });
    contents.collect()
}
