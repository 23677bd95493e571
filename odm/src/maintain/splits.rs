//! Halves of documents that are stored apart.
//!
//! A caller writes whole documents, and paths into them. Here they are taken apart: what belongs to a
//! cold half goes to its collection, in the same unit, and the hot document holds no trace of it.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    ops::ControlFlow,
};

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use super::{
    Effect, Write,
    unit::{Touched, Unit, by_id, id},
};
use crate::{
    catalog::{Catalog, Half, Split, value_of},
    error::{Error, ErrorKind, Result, show},
    model::{DateTime, ObjectId},
    mql::{Filter, Operation, Projection, Sort, Test, Update, key, path},
    store::{Change, DeleteWrite, Find, UpdateWrite},
};

/// Stores whole documents in all of their halves.
pub(super) async fn insert(
    unit: &mut Unit<'_>,
    collection: &str,
    documents: &[RawDocumentBuf],
) -> Result<Touched> {
    let catalog = unit.catalog;
    if catalog.splits_of(collection).next().is_none() {
        return unit.insert(collection, documents).await;
    }
    let mut hot = Vec::with_capacity(documents.len());
    let mut values: HashMap<&str, Values<'_>> = HashMap::new();
    for document in documents {
        let (document, halves) = catalog.divide(collection, document)?;
        for (split, value) in halves {
            if let Some(value) = value {
                let (_, values) = values.entry(&split.path).or_insert((split, Vec::new()));
                values.push((id(&document).into(), value));
            }
        }
        hot.push(document.into_owned());
    }
    let touched = unit.insert(collection, &hot).await?;
    for (split, values) in values.into_values() {
        put(unit, split, values).await?;
    }
    Ok(touched)
}

/// A half of several documents, with the `_id` of each.
type Values<'c> = (&'c Split, Vec<(RawBson, RawDocumentBuf)>);

/// Stores the halves that came with a document which takes the place of another. One that is not
/// loaded stays as it is.
pub(super) async fn replace(
    unit: &mut Unit<'_>,
    id: &RawBson,
    halves: Vec<Half<'_>>,
    touched: &mut Touched,
) -> Result<()> {
    for (split, value) in halves {
        let Some(value) = value else { continue };
        let changed = put(unit, split, vec![(id.clone(), value)]).await?;
        touch(unit, split, changed, touched).await?;
    }
    Ok(())
}

/// Divides documents that hold what should be stored apart, as from before they were split. Of one
/// that has a half already, the half counts.
pub(super) async fn divide_stored(
    unit: &mut Unit<'_>,
    collection: &str,
    ids: &[RawBson],
) -> Result<()> {
    let catalog = unit.catalog;
    for split in catalog.splits_of(collection) {
        for document in unit.get_many(collection, ids).await? {
            let Some(value) = path::get(&document, &split.path) else {
                continue;
            };
            let own = RawBson::from(id(&document));
            let halves = split.halves_of(vec![own.clone()]);
            let (halves, _) = unit.transaction.count(&halves).await?;
            if let Some(value) = value_of(split, value)?.filter(|_| halves == 0) {
                put(unit, split, vec![(own.clone(), value)]).await?;
            }
            let fields = vec![(split.path.clone(), None)];
            unit.set(collection, &own, fields).await?;
        }
    }
    Ok(())
}

/// Makes these values the halves of these documents, and returns the documents whose half is
/// different now.
async fn put(
    unit: &mut Unit<'_>,
    split: &Split,
    values: Vec<(RawBson, RawDocumentBuf)>,
) -> Result<Vec<RawBson>> {
    let ids = values.iter().map(|(id, _)| id.clone()).collect();
    let mut stored = HashMap::new();
    let halves = split.halves_of(ids);
    unit.transaction
        .find(&halves, &mut |_, half| {
            if let Some(document) = path::get(half, &split.key) {
                let id = RawBson::from(id(half));
                stored.entry(key::of(document)).or_insert(id);
            }
            Ok(ControlFlow::Continue(()))
        })
        .await?;
    let mut new = Vec::new();
    let mut changed = Vec::new();
    for (document, value) in values {
        let own = split.own_id.then(|| own_id(split, &value)).transpose()?;
        let held = stored.remove(&key::of(document.as_raw_bson_ref()));
        let half = |id| split.half(document.as_raw_bson_ref(), id, &value);
        match held {
            Some(held) if own.as_ref().is_none_or(|own| *own == held) => {
                let change = Change::Replace(half(held.clone())?);
                let written = unit.update(&by_id(&split.cold, &held, change)).await?;
                if written.places.is_empty() {
                    continue;
                }
            }
            held => {
                if let Some(held) = held {
                    let filter = Filter::Path("_id".into(), Test::Eq(held));
                    unit.delete(&all(&split.cold, filter)).await?;
                }
                new.push(half(own.unwrap_or_else(|| ObjectId::new().into()))?);
            }
        }
        changed.push(document);
    }
    unit.insert(&split.cold, &new).await?;
    Ok(changed)
}

/// The `_id` that a half brings itself.
fn own_id(split: &Split, value: &RawDocument) -> Result<RawBson> {
    match path::get(value, "_id") {
        None | Some(RawBsonRef::Null) => {
            let message = format!("the `_id` of a document of `{}` is null", split.cold);
            Err(Error::new(ErrorKind::Encode, message))
        }
        Some(id) => Ok(id.into()),
    }
}

/// Takes note that documents changed whose cold half alone did.
async fn touch(
    unit: &mut Unit<'_>,
    split: &Split,
    changed: Vec<RawBson>,
    touched: &mut Touched,
) -> Result<()> {
    let mut documents = Vec::new();
    unit.transaction
        .get(&split.hot, &changed, &mut |_, document| {
            documents.push(document.to_owned());
            Ok(ControlFlow::Continue(()))
        })
        .await?;
    let mut seen: HashSet<usize> = touched.places.iter().copied().collect();
    for document in documents {
        let (before, after) = (Some(document.clone()), Some(document));
        let place = unit.changes.note(&split.hot, before, after);
        if seen.insert(place) {
            touched.places.push(place);
        }
    }
    Ok(())
}

/// Updates documents by paths into any of their halves.
pub(super) async fn update(unit: &mut Unit<'_>, write: &UpdateWrite) -> Result<Touched> {
    let catalog = unit.catalog;
    let Change::Update(update) = &write.change else {
        return unit.update(write).await;
    };
    let parts = Parts::new(catalog, &write.collection, update)?;
    let half = catalog.half_of(&write.collection, &write.filter, &write.sort)?;
    if !parts.divided && half.is_none() {
        return unit.update(write).await;
    }
    let find = Find {
        collection: write.collection.clone(),
        filter: write.filter.clone(),
        sort: write.sort.clone(),
        limit: (!write.multi).then_some(1),
        ..Find::default()
    };
    let ids = matching(unit, &find, half).await?;
    if ids.is_empty() && write.upsert {
        let seed = write.filter.upsert_seed()?;
        let seed = RawDocumentBuf::try_from(&seed).map_err(Error::malformed)?;
        let made = update.apply(&seed, true, DateTime::now().into())?;
        return insert(unit, &write.collection, &[made.unwrap_or(seed)]).await;
    }
    let mut touched = Touched {
        matched: ids.len() as u64,
        ..Touched::default()
    };
    if ids.is_empty() {
        return Ok(touched);
    }
    if !parts.cold.is_empty() {
        divide_stored(unit, &write.collection, &ids).await?;
    }
    if !parts.hot.is_empty() {
        let write = UpdateWrite {
            collection: write.collection.clone(),
            filter: Filter::Path("_id".into(), Test::In(ids.clone())),
            sort: Sort::default(),
            change: Change::Update(parts.hot),
            multi: true,
            upsert: false,
        };
        touched.places = unit.update(&write).await?.places;
    }
    for (split, part) in parts.cold {
        let changed = match part {
            Part::Whole(value) => {
                let values = ids.iter().map(|id| (id.clone(), value.clone()));
                put(unit, split, values.collect()).await?
            }
            Part::Fields(update) => update_halves(unit, split, &ids, update).await?,
        };
        touch(unit, split, changed, &mut touched).await?;
    }
    Ok(touched)
}

/// Changes fields of the halves of documents, and returns the documents whose half is different now.
async fn update_halves(
    unit: &mut Unit<'_>,
    split: &Split,
    ids: &[RawBson],
    update: Update,
) -> Result<Vec<RawBson>> {
    let mut there = HashSet::new();
    let halves = split.halves_of(ids.to_vec());
    unit.transaction
        .find(&halves, &mut |_, half| {
            if let Some(document) = path::get(half, &split.key) {
                there.insert(key::of(document));
            }
            Ok(ControlFlow::Continue(()))
        })
        .await?;
    let lacks = |id: &&RawBson| !there.contains(&key::of(id.as_raw_bson_ref()));
    if let Some(id) = ids.iter().find(lacks) {
        let message = format!(
            "the document with the `_id` {} in `{}` has no half in `{}` whose fields could change: \
             set `{}` as a whole",
            show(id),
            split.hot,
            split.cold,
            split.path
        );
        return Err(Error::new(ErrorKind::NotFound, message).at(
            &split.hot,
            Some(&split.path),
            Some(id.clone()),
        ));
    }
    let write = UpdateWrite {
        collection: halves.collection,
        filter: halves.filter,
        sort: Sort::default(),
        change: Change::Update(update),
        multi: true,
        upsert: false,
    };
    let written = unit.update(&write).await?;
    let effects = unit.changes.of(&split.cold);
    let halves = written.places.iter().map(|&place| &effects[place]);
    Ok(halves
        .filter_map(|half| path::get(half.after.as_deref()?, &split.key))
        .map(RawBson::from)
        .collect())
}

/// Removes the halves of the documents that a unit has removed.
pub(super) async fn follow_deletes(unit: &mut Unit<'_>) -> Result<()> {
    for split in unit.catalog.splits() {
        let ids: Vec<RawBson> = unit
            .changes
            .of(&split.hot)
            .iter()
            .filter_map(Effect::deleted)
            .collect();
        if !ids.is_empty() {
            let Find {
                collection, filter, ..
            } = split.halves_of(ids);
            unit.delete(&all(&collection, filter)).await?;
        }
    }
    Ok(())
}

/// A delete as the store knows it: one by a cold half is one by the `_id`s that this gives.
pub(super) async fn delete<'w>(
    unit: &Unit<'_>,
    write: &'w DeleteWrite,
) -> Result<Cow<'w, DeleteWrite>> {
    let catalog = unit.catalog;
    let half = catalog.half_of(&write.collection, &write.filter, &Sort::default())?;
    if half.is_none() {
        return Ok(Cow::Borrowed(write));
    }
    let find = Find {
        collection: write.collection.clone(),
        filter: write.filter.clone(),
        limit: (!write.multi).then_some(1),
        ..Find::default()
    };
    let ids = matching(unit, &find, half).await?;
    let filter = Filter::Path("_id".into(), Test::In(ids));
    Ok(Cow::Owned(all(&write.collection, filter)))
}

/// The `_id`s of the documents that a query is about.
async fn matching(unit: &Unit<'_>, find: &Find, half: Option<&Split>) -> Result<Vec<RawBson>> {
    let mut ids = Vec::new();
    let name = half.map_or("_id", |split| split.key.as_str());
    let mut find = match half {
        Some(split) => split.find(find),
        None => find.clone(),
    };
    find.projection = Some(Projection::include([name.to_owned()])?);
    let each = &mut |_, document: &RawDocument| {
        ids.extend(path::get(document, name).map(RawBson::from));
        Ok(ControlFlow::Continue(()))
    };
    unit.transaction.find(&find, each).await?;
    let Some(split) = half else {
        return Ok(ids);
    };
    // A half whose document is gone is none.
    let mut there = vec![false; ids.len()];
    let each = &mut |place: usize, _: &RawDocument| {
        there[place] = true;
        Ok(ControlFlow::Continue(()))
    };
    unit.transaction.get(&split.hot, &ids, each).await?;
    let mut there = there.into_iter();
    ids.retain(|_| there.next() == Some(true));
    Ok(ids)
}

fn all(collection: &str, filter: Filter) -> DeleteWrite {
    DeleteWrite {
        collection: collection.to_owned(),
        filter,
        multi: true,
    }
}

/// An update by the halves that its paths lead into.
struct Parts<'c> {
    /// A path leads into a half, also where nothing is done to one that is there.
    divided: bool,
    hot: Update,
    cold: Vec<(&'c Split, Part)>,
}

enum Part {
    /// The half becomes this.
    Whole(RawDocumentBuf),
    /// Fields of it are changed.
    Fields(Update),
}

impl<'c> Parts<'c> {
    fn new(catalog: &'c Catalog, collection: &str, update: &Update) -> Result<Self> {
        let mut parts = Parts {
            divided: false,
            hot: Update::default(),
            cold: Vec::new(),
        };
        for (path, operation) in &update.operations {
            let split = catalog.split_at(collection, path);
            if let Operation::Rename(target) = operation
                && catalog.split_at(collection, target) != split
            {
                let message = format!(
                    "`{path}` of `{collection}` cannot be renamed to `{target}`, which is stored in \
                     another collection"
                );
                return Err(refused(collection, path, message));
            }
            match split {
                None => parts.hot.push(path.clone(), operation.clone()),
                Some(split) => parts.add(split, path, operation)?,
            }
        }
        let cold = parts.cold.iter_mut().filter_map(|(_, part)| match part {
            Part::Whole(_) => None,
            Part::Fields(update) => Some(update),
        });
        for part in cold.chain([&mut parts.hot]) {
            let named = |name: &str| {
                let name = format!("$[{name}]");
                part.paths()
                    .any(|path| path.split('.').any(|step| step == name))
            };
            let filters = update.array_filters.iter();
            part.array_filters = filters.filter(|f| named(&f.name)).cloned().collect();
        }
        Ok(parts)
    }

    fn add(&mut self, split: &'c Split, path: &str, operation: &Operation) -> Result<()> {
        self.divided = true;
        // The document is there, or is inserted as a whole.
        if matches!(operation, Operation::SetOnInsert(_)) {
            return Ok(());
        }
        let inside = split.inside(path).unwrap_or_default();
        if inside.is_empty() {
            let value = match operation {
                Operation::Set(value) => value_of(split, value.as_raw_bson_ref())?,
                _ => None,
            };
            let Some(value) = value else {
                let message = format!(
                    "`{path}` of `{}` is stored apart, in `{}`: set it to a value, or change its \
                     fields",
                    split.hot, split.cold
                );
                return Err(refused(&split.hot, path, message));
            };
            self.cold.push((split, Part::Whole(value)));
            return Ok(());
        }
        let operation = match operation {
            Operation::Rename(target) => {
                Operation::Rename(split.inside(target).unwrap_or_default().to_owned())
            }
            other => other.clone(),
        };
        let renamed = match &operation {
            Operation::Rename(target) => target,
            _ => inside,
        };
        for kept in [split.key.as_str(), "_id"] {
            if (kept != "_id" || !split.own_id)
                && [inside, renamed].iter().any(|to| path::overlap(to, kept))
            {
                let message = format!(
                    "`{kept}` of `{}` is kept by the library and cannot be updated",
                    split.cold
                );
                return Err(refused(&split.hot, path, message));
            }
        }
        let part = self.cold.iter_mut().find_map(|(other, part)| match part {
            Part::Fields(update) if *other == split => Some(update),
            _ => None,
        });
        match part {
            Some(update) => update.push(inside.to_owned(), operation),
            None => {
                let mut update = Update::default();
                update.push(inside.to_owned(), operation);
                self.cold.push((split, Part::Fields(update)));
            }
        }
        Ok(())
    }
}

fn refused(collection: &str, path: &str, message: String) -> Error {
    Error::new(ErrorKind::InvalidQuery, message).at(collection, Some(path), None)
}

/// Gives the caller back what became of whole documents, with the halves that came with them.
pub(super) fn give_back(catalog: &Catalog, write: &Write, effects: &mut [Effect]) -> Result<()> {
    let sent = match write {
        Write::Insert { documents, .. } => documents.as_slice(),
        Write::Replace { document, .. } => std::slice::from_ref(document),
        Write::Modify { to, .. } => std::slice::from_ref(to),
        Write::Update { .. } | Write::Delete(_) | Write::Repair { .. } => return Ok(()),
    };
    let collection = write.collection();
    if catalog.splits_of(collection).next().is_none() {
        return Ok(());
    }
    for (effect, sent) in effects.iter_mut().zip(sent) {
        let Some(hot) = &effect.after else { continue };
        let hot = hot.iter().collect::<Result<Vec<_>, _>>();
        let mut hot = hot.map_err(Error::malformed)?;
        // As in a document from before it was split.
        hot.retain(|(name, _)| catalog.split_at(collection, name.as_str()).is_none());
        let mut hot = hot.into_iter();
        let mut whole = RawDocumentBuf::new();
        // The fields that were stored are in the order in which they were sent.
        for element in sent {
            let (name, value) = element.map_err(Error::malformed)?;
            if catalog.split_at(collection, name.as_str()).is_some() {
                whole.append(name, value);
            } else if let Some((name, value)) = hot.next() {
                whole.append(name, value);
            }
        }
        for (name, value) in hot {
            whole.append(name, value);
        }
        effect.after = Some(whole);
    }
    Ok(())
}
