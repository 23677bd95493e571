//! The errors in all stored documents, by the rules alone.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
};

use odm::bson::{Bson, DateTime, Document, doc};

use super::{
    rules::{
        Above, INVERSE_LISTS, INVERSES, Is, MOST_STARS, OnDelete, RECORDED, REFERENCES, Rule, Sort,
        Test, Type, rules,
    },
    world::{COLLECTIONS, Key, World, bytes, get, key, named, number, places, sort_key},
};

/// The errors, by their places.
pub(crate) type Wrong = BTreeMap<(String, Key, String), String>;

fn at(collection: &str, id: &Key, path: &str) -> (String, Key, String) {
    (collection.to_owned(), id.clone(), path.to_owned())
}

/// All errors in a version, except in the pending fields. `before` has the values that frozen copies, and copies of dangling references,
/// keep; without it they can be anything.
pub(crate) fn wrong(
    world: &World,
    version: usize,
    pending: &[String],
    before: Option<&World>,
) -> Wrong {
    let mut wrong = Wrong::new();
    for rule in rules(version) {
        let path = rule.path();
        if pending.iter().any(|place| is_at(place, rule.holder, &path)) {
            continue;
        }
        for (id, document) in world.of(rule.holder) {
            for place in places(document, rule.list) {
                let held = place.get(rule.field);
                if let Some(expected) = expected(world, before, &rule, id, place)
                    && !expected.is(held)
                {
                    let what = format!("is {held:?} and should be {expected:?}");
                    wrong.insert(at(rule.holder, id, &path), what);
                }
            }
        }
    }
    wrong_references(world, &mut wrong);
    wrong
}

/// Pending backfills name the fields of cold parts by their documents, too.
pub(crate) fn is_at(place: &str, holder: &str, path: &str) -> bool {
    place == format!("{holder}.{path}")
        || holder == "item_details" && place == format!("items.detail.{path}")
}

/// The value of a derived field by its definition.
#[derive(Debug)]
enum Expected {
    Missing,
    NullOrMissing,
    /// Equal to this value in the order of BSON.
    Equal(Key),
    /// This, byte for byte.
    Exactly(Bson),
    /// A number from the first to the last.
    Between(i64, i64),
    /// No value is right, since none can be computed.
    Nothing,
}

impl Expected {
    fn is(&self, held: Option<&Bson>) -> bool {
        match (self, held) {
            (Expected::Missing | Expected::NullOrMissing, None) => true,
            (Expected::NullOrMissing, Some(held)) => *held == Bson::Null,
            (Expected::Equal(value), Some(held)) => key(held) == *value,
            (Expected::Between(first, last), Some(held)) => match key(held) {
                Key::Number(number) => (*first..=*last).contains(&number),
                _ => false,
            },
            (Expected::Exactly(value), Some(held)) => {
                bytes(&doc! { "": held }) == bytes(&doc! { "": value })
            }
            _ => false,
        }
    }
}

/// The value of a derived field; `None` if it cannot be known.
fn expected(
    world: &World,
    before: Option<&World>,
    rule: &Rule,
    id: &Key,
    place: &Document,
) -> Option<Expected> {
    match &rule.is {
        Is::Copy(reference, source, field, ty) => {
            let to = get(place, reference);
            if to == Key::Null {
                return Some(absent(*ty));
            }
            if let Some(source) = world.of(source).get(&to) {
                return Some(copied(source, field, *ty));
            }
            match beside(before, rule, id, place, reference) {
                Beside::Unknown => None,
                Beside::Held(Key::Null) | Beside::Nothing => Some(absent(*ty)),
                Beside::Held(value) => Some(Expected::Equal(value)),
            }
        }
        Is::Frozen(reference, source, field, ty) => {
            let to = get(place, reference);
            if to == Key::Null {
                return Some(absent(*ty));
            }
            let of_source = || match world.of(source).get(&to) {
                Some(source) => copied(source, field, *ty),
                None => absent(*ty),
            };
            let expected = match beside(before, rule, id, place, reference) {
                Beside::Unknown => return None,
                Beside::Held(value) => Expected::Equal(value),
                Beside::Nothing => of_source(),
            };
            // A missing value was never copied.
            Some(match expected {
                Expected::NullOrMissing => Expected::Equal(Key::Null),
                expected => expected,
            })
        }
        Is::Values(source, reference, field) => {
            let mut values = Vec::new();
            for (_, source) in children(world, source, reference, id) {
                let value = get(source, field);
                if value != Key::Null && !values.contains(&value) {
                    values.push(value);
                }
            }
            Some(Expected::Equal(Key::Array(values)))
        }
        Is::Count(child, reference, test) => {
            let children = children(world, child, reference, id);
            let number = children.iter().filter(|(_, child)| test(child)).count();
            Some(Expected::Equal(Key::Number(number as i64)))
        }
        Is::Exists(child, reference, test) => {
            let mut children = children(world, child, reference, id).into_iter();
            let exists = children.any(|(_, child)| test(child));
            Some(Expected::Equal(key(&Bson::Boolean(exists))))
        }
        Is::Sum(child, reference, field, test) => {
            let values = values(world, (child, reference), id, (field, test)).into_iter();
            let numbers = values.map(|value| match value {
                Key::Number(number) => number,
                _ => 0,
            });
            Some(Expected::Exactly(Bson::Int64(numbers.sum())))
        }
        Is::Min(child, reference, field, test) => {
            let values = values(world, (child, reference), id, (field, test));
            Some(values.into_iter().min().map_or(Expected::NullOrMissing, Expected::Equal))
        }
        Is::Max(child, reference, field, test) => {
            let values = values(world, (child, reference), id, (field, test));
            Some(values.into_iter().max().map_or(Expected::NullOrMissing, Expected::Equal))
        }
        Is::Number(reference) => {
            let parent = get(place, reference);
            if parent == Key::Null {
                return Some(absent(Type::Option));
            }
            let sequence = (format!("{}.{}", rule.holder, rule.field), parent);
            let last = world.last_numbers().get(&sequence).copied().unwrap_or_default();
            Some(match beside(before, rule, id, place, reference) {
                Beside::Held(number @ Key::Number(1..)) => Expected::Equal(number),
                _ => {
                    let before = before.map(World::last_numbers);
                    // Without the state before, any number can have been given.
                    let given = before.and_then(|before| before.get(&sequence).copied());
                    Expected::Between(given.unwrap_or_default() + 1, last)
                }
            })
        }
        Is::Path(reference, tree, above) => Some(
            path(world, place, reference, tree, *above)
                .map_or(Expected::Nothing, |path| Expected::Equal(Key::Array(path))),
        ),
        Is::Computed(function) => {
            Some(function(place).map_or(Expected::Nothing, Expected::Exactly))
        }
        Is::Subset { child, reference, test, sort, limit, shows } => {
            let mut children = children(world, child, reference, id);
            children.retain(|(_, child)| test(child));
            children.sort_by(|one, other| order(one, other, sort));
            let number = limit.unsigned_abs() as usize;
            let shown = match limit {
                0.. => &children[..number.min(children.len())],
                _ => &children[children.len().saturating_sub(number)..],
            };
            let lines = shown.iter().map(|(_, child)| {
                let fields = shows.iter();
                let fields =
                    fields.filter_map(|name| Some(((*name).to_owned(), child.get(name)?.clone())));
                Bson::Document(fields.collect())
            });
            Some(Expected::Exactly(lines.collect()))
        }
    }
}

/// The `_id`s above a document, from the root down; `None` if they are in a ring.
fn path(
    world: &World,
    document: &Document,
    reference: &str,
    tree: &str,
    above: Above,
) -> Option<Vec<Key>> {
    let mut path = Vec::new();
    let mut next = get(document, reference);
    while next != Key::Null {
        if path.contains(&next) {
            return None;
        }
        let named = world.of(tree).get(&next);
        path.insert(0, next);
        next = match (named, above) {
            (None, _) => Key::Null,
            (Some(named), Above::Reference(reference)) => get(named, reference),
            (Some(named), Above::List(list)) => {
                if let Key::Array(list) = get(named, list) {
                    path.splice(0..0, list);
                }
                Key::Null
            }
        };
    }
    Some(path)
}

fn absent(ty: Type) -> Expected {
    match ty {
        Type::Option => Expected::NullOrMissing,
        Type::Value => Expected::Missing,
    }
}

fn copied(source: &Document, field: &str, ty: Type) -> Expected {
    match get(source, field) {
        Key::Null => absent(ty),
        value => Expected::Equal(value),
    }
}

/// The earlier copy at the same reference.
enum Beside {
    Held(Key),
    Nothing,
    Unknown,
}

fn beside(
    before: Option<&World>,
    rule: &Rule,
    id: &Key,
    place: &Document,
    reference: &str,
) -> Beside {
    let Some(before) = before else {
        // Any value is possible.
        return match place.contains_key(rule.field) {
            true => Beside::Unknown,
            false => Beside::Nothing,
        };
    };
    let held = before.of(rule.holder).get(id);
    let held = held.filter(|held| get(held, reference) == get(place, reference));
    match held.and_then(|held| held.get(rule.field)) {
        Some(value) => Beside::Held(key(value)),
        None => Beside::Nothing,
    }
}

/// The values of a field, if they are of its type, of the documents whose reference names a document, and that pass a test.
fn values(
    world: &World,
    (child, reference): (&str, &str),
    id: &Key,
    (field, test): (&str, &Test),
) -> Vec<Key> {
    let is_typed = |value: &Key| match field {
        "note" => matches!(value, Key::Text(_)),
        _ => matches!(value, Key::Number(_)),
    };
    let children = children(world, child, reference, id).into_iter();
    let children = children.filter(|(_, child)| test(child));
    children.map(|(_, child)| get(child, field)).filter(is_typed).collect()
}

type Child<'a> = (&'a Key, &'a Document);

/// The documents whose reference names a document, in the order of their `_id`s.
fn children<'a>(world: &'a World, child: &str, reference: &str, id: &Key) -> Vec<Child<'a>> {
    let all = world.of(child).iter();
    let names = |child: &Document| match get(child, reference) {
        Key::Array(all) => all.contains(id),
        one => one == *id,
    };
    all.filter(|(_, child)| names(child)).collect()
}

fn order(one: &Child<'_>, other: &Child<'_>, sort: &[Sort]) -> Ordering {
    let by_sort = sort.iter().map(|(path, descends)| {
        let [one, other] = [one, other].map(|(_, child)| sort_key(child, path, *descends));
        let order = one.cmp(&other);
        if *descends { order.reverse() } else { order }
    });
    by_sort.fold(Ordering::Equal, Ordering::then).then(one.0.cmp(other.0))
}

/// Dangling references, one-sided inverse references, and cold parts without a document.
fn wrong_references(world: &World, wrong: &mut Wrong) {
    for reference in REFERENCES {
        if reference.on_delete == OnDelete::Dangle {
            continue;
        }
        let path = match reference.list {
            "" => reference.field.to_owned(),
            list => format!("{list}.{}", reference.field),
        };
        for (id, document) in world.of(reference.holder) {
            for place in places(document, reference.list) {
                for to in named(place, reference.field) {
                    if !world.of(reference.target).contains_key(&to) {
                        let at = at(reference.holder, id, &path);
                        wrong.insert(at, format!("names {to:?}, which does not exist"));
                    }
                }
            }
        }
    }
    for [left, right] in INVERSES {
        for [(from, field), (to, back)] in [[left, right], [right, left]] {
            for (id, document) in world.of(from) {
                if INVERSE_LISTS.contains(&(from, field)) && !document.contains_key(field) {
                    let at = at(from, id, field);
                    wrong.insert(at, "is missing".to_owned());
                }
                let named = named(document, field);
                for other in &named {
                    let other = world.of(to).get(other);
                    if other.is_some_and(|other| !self::named(other, back).contains(id)) {
                        let at = at(from, id, field);
                        wrong.insert(at, format!("names {other:?}, which does not name it"));
                    }
                }
                if named.iter().collect::<BTreeSet<_>>().len() < named.len() {
                    let at = at(from, id, field);
                    wrong.insert(at, format!("names one twice: {named:?}"));
                }
            }
        }
    }
    let mut owners = BTreeSet::new();
    for (id, part) in world.of("item_details") {
        let item = get(part, "item");
        if !world.of("items").contains_key(&item) {
            let at = at("item_details", id, "item");
            wrong.insert(at, format!("is an orphan of {item:?}"));
        } else if !owners.insert(item.clone()) {
            let at = at("items", &item, "detail");
            wrong.insert(at, "has two parts".to_owned());
        }
    }
    for (id, item) in world.of("items") {
        if item.contains_key("detail") {
            let at = at("items", id, "detail");
            wrong.insert(at, "holds its part itself".to_owned());
        }
    }
}

/// Checks the effects of one write, except on derived fields: every document that is gone, is new or has other base data was written itself
/// or follows from that, and each version counts it once.
pub(crate) fn unexplained(
    before: &World,
    after: &World,
    version: usize,
    written: &str,
    during: &RangeInclusive<DateTime>,
) -> Result<(), String> {
    let rules = rules(version);
    let is_written = |collection: &str| {
        collection == written || (collection == "item_details" && written == "items")
    };
    let gone = |collection: &str, id: &Key| {
        before.of(collection).contains_key(id) && !after.of(collection).contains_key(id)
    };
    let refers_to_gone = |holder: &str, document: &Document, cascades: bool| {
        let references = REFERENCES.iter().filter(|reference| {
            reference.holder == holder && (reference.on_delete == OnDelete::Cascade) == cascades
        });
        references.into_iter().any(|reference| {
            let places = places(document, reference.list).into_iter();
            let mut to = places.flat_map(|place| named(place, reference.field));
            to.any(|to| gone(reference.target, &to))
        })
    };
    for collection in COLLECTIONS {
        let (old, new) = (before.of(collection), after.of(collection));
        for (id, document) in old {
            let owner_is_gone =
                collection == "item_details" && gone("items", &get(document, "item"));
            let follows = owner_is_gone || refers_to_gone(collection, document, true);
            if gone(collection, id) && !is_written(collection) && !follows {
                return Err(format!("`{collection}` {id:?} is gone, and nothing says why"));
            }
            if !gone(collection, id) && follows && !owner_is_gone && !is_written(collection) {
                return Err(format!("`{collection}` {id:?} should have gone: {document}"));
            }
        }
        for (id, document) in new {
            let Some(held) = old.get(id) else {
                if !is_written(collection) {
                    return Err(format!("`{collection}` {id:?} came from nowhere"));
                }
                version_is(document, collection, id, &[1])?;
                if collection == "tickets" {
                    times_are(None, document, true, during)?;
                }
                continue;
            };
            let [old_base, new_base] = [(before, held), (after, document)]
                .map(|(world, document)| base(world, &rules, collection, document));
            let is_changed = bytes(&old_base) != bytes(&new_base);
            let has_inverse = matches!(collection, "shops" | "persons");
            let part_follows = collection == "items"
                && before.of("item_details").values().any(|part| {
                    get(part, "item") == *id && refers_to_gone("item_details", part, false)
                });
            let follows = has_inverse || part_follows || refers_to_gone(collection, held, false);
            if is_changed && !is_written(collection) && !follows {
                return Err(format!("`{collection}` {id:?} was {held} and is {document}"));
            }
            if collection == "tickets" {
                times_are(Some(held), document, is_changed, during)?;
            }
            let was = get(held, "revision");
            if let Key::Number(was) = was {
                version_is(document, collection, id, &[was + i64::from(is_changed)])?;
            }
        }
    }
    Ok(())
}

/// Checks the times of a ticket after a write: it was made once, and changed with its base data.
fn times_are(
    before: Option<&Document>,
    after: &Document,
    is_changed: bool,
    during: &RangeInclusive<DateTime>,
) -> Result<(), String> {
    for (field, is_now) in [("made", before.is_none()), ("changed", is_changed)] {
        let is_right = match is_now {
            true => after.get_datetime(field).is_ok_and(|at| during.contains(at)),
            false => before.is_some_and(|before| get(before, field) == get(after, field)),
        };
        if !is_right {
            return Err(format!("`{field}` is wrong: {after}, which was {before:?}"));
        }
    }
    Ok(())
}

/// Keys that two documents have in a unique index, and values that every validation refuses.
pub(crate) fn wrong_values(world: &World) -> Option<String> {
    let key_of = |document: &Document, fields: &[&str]| -> Vec<Key> {
        fields.iter().map(|field| get(document, field)).collect()
    };
    let is_first = |order: &&Document| get(order, "note") == Key::Text("name 1".to_owned());
    let codes = world.of("tickets").values();
    let codes: Vec<_> = codes.map(|ticket| key_of(ticket, &["code"])).collect();
    let orders = world.of("orders").values().filter(is_first);
    let orders: Vec<_> = orders.map(|order| key_of(order, &["note", "region"])).collect();
    let [tickets, reviews] = [("tickets", ["shop", "number"]), ("reviews", ["by", "by_number"])]
        .map(|(of, fields)| world.of(of).values().map(|of| key_of(of, &fields)).collect());
    for keys in [codes, orders, tickets, reviews] {
        // A key with null does not count.
        let mut keys = keys.into_iter().filter(|key| !key.contains(&Key::Null));
        let mut seen = BTreeSet::new();
        if let Some(twice) = keys.find(|key| !seen.insert(key.clone())) {
            return Some(format!("the unique key {twice:?} is there twice"));
        }
    }
    let mut reviews = world.of("reviews").values();
    let invalid = reviews.find(|review| number(review, "stars") > MOST_STARS);
    invalid.map(|review| format!("an invalid review was stored: {review}"))
}

fn version_is(document: &Document, name: &str, id: &Key, allowed: &[i64]) -> Result<(), String> {
    let has_version = matches!(name, "shops" | "persons" | "items" | "tickets");
    match get(document, "revision") {
        Key::Number(version) if has_version && allowed.contains(&version) => Ok(()),
        _ if !has_version => Ok(()),
        other => Err(format!("`{name}` {id:?} has the version {other:?}, and should {allowed:?}")),
    }
}

/// The base data of a document, including its cold part.
fn base(world: &World, rules: &[Rule], collection: &str, document: &Document) -> Document {
    let mut base = document.clone();
    for recorded in RECORDED {
        base.remove(recorded);
    }
    for rule in rules.iter().filter(|rule| rule.holder == collection) {
        match rule.list {
            "" => drop(base.remove(rule.field)),
            list => {
                let elements = base.get_array_mut(list).map(|list| list.iter_mut());
                for element in elements.into_iter().flatten() {
                    if let Some(element) = element.as_document_mut() {
                        element.remove(rule.field);
                    }
                }
            }
        }
    }
    if collection == "items" {
        let parts = world.of("item_details").values();
        let mut parts = parts.filter(|part| get(part, "item") == get(document, "_id"));
        if let Some(part) = parts.next() {
            let mut part = self::base(world, rules, "item_details", part);
            part.remove("_id");
            base.insert("detail", part);
        }
    }
    base
}
