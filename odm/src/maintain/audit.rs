//! What is not as its definition says, and making it so.

use std::{collections::HashMap, fmt, ops::ControlFlow};

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use super::{
    copies, counts, links, splits, subsets,
    unit::{Touched, Unit, id},
};
use crate::{
    catalog::{Catalog, Split, references},
    error::{Result, show},
    mql::{Filter, Test, key, path},
    store::{Cost, DeleteWrite, MeteredReader, Reader, ReaderExt},
};

/// A place in a stored document where something is not as the models say.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The collection of the document.
    pub collection: String,
    /// Its `_id`.
    pub id: RawBson,
    /// The field.
    pub path: String,
    /// What is wrong with it.
    pub problem: Problem,
    /// Whether it has been mended: never by an audit, and by a repair wherever that can be done
    /// without throwing away what is nowhere else.
    pub repaired: bool,
}

/// What can be wrong with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Problem {
    /// A subset does not show what its definition says.
    Subset,
    /// A copy is not what its source says.
    Copy,
    /// A count is not the number of children.
    Count,
    /// A reference leads nowhere. A repair empties it or takes it out of its list, if that is its rule
    /// for deletes.
    Dangling,
    /// The other side of a pair does not point back. A repair lets the side that can hold only one
    /// decide; where both can, or both cannot, what points there is right, unless what it points to
    /// already points elsewhere.
    OneSidedInverse,
    /// There is no half in the collection where the field is stored apart, and it is not `optional`. A
    /// repair cannot know what should be in it.
    MissingColdPart,
    /// There are several halves of one document. A repair removes those that are the same as the
    /// first; others it leaves, since it cannot know which one is right.
    DuplicateColdPart,
    /// A half belongs to no document. A repair leaves it, since it may be all that is left.
    OrphanColdPart,
    /// The document itself holds what should be stored apart, as from before it was split. A repair
    /// moves it, unless there is another half already.
    InlineColdPart,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` of the document with the `_id` {} in `{}` {}",
            self.path,
            show(&self.id),
            self.collection,
            match self.problem {
                Problem::Subset => "does not show what its definition says",
                Problem::Copy => "is not what its source says",
                Problem::Count => "is not the number of children",
                Problem::Dangling => "refers to a document that is not there",
                Problem::OneSidedInverse => "refers to a document that does not point back",
                Problem::MissingColdPart => "has no half where it is stored apart",
                Problem::DuplicateColdPart => "has several halves where it is stored apart",
                Problem::OrphanColdPart => "leads to no document, of which this would be a half",
                Problem::InlineColdPart => "is in the document, and should be stored apart",
            }
        )
    }
}

/// Compares documents of one collection with their definitions, all on one state of the data. Returns
/// the differences, and what reading the sources cost.
pub(crate) async fn check(
    catalog: &Catalog,
    reader: &dyn Reader,
    collection: &str,
    documents: &[RawDocumentBuf],
) -> Result<(Vec<Finding>, Cost)> {
    let reader = MeteredReader::new(reader);
    let findings = differences(catalog, &reader, collection, documents).await?;
    Ok((findings, reader.cost()))
}

async fn differences(
    catalog: &Catalog,
    reader: &dyn Reader,
    collection: &str,
    documents: &[RawDocumentBuf],
) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut found = |document: &RawDocument, path: &str, problem| {
        findings.push(Finding {
            collection: collection.to_owned(),
            id: id(document).into(),
            path: path.to_owned(),
            problem,
            repaired: false,
        });
    };
    let subsets: Vec<_> = catalog.subsets_in(collection).collect();
    let counts: Vec<_> = catalog.counts_in(collection).collect();
    let copies: Vec<_> = catalog.copies_in(collection).collect();
    let before: Vec<_> = documents.iter().cloned().map(Some).collect();
    let wrong_copies = copies::wrong(reader, &copies, documents, &before).await?;
    for (document, copies) in documents.iter().zip(wrong_copies) {
        for (path, _) in copies {
            found(document, &path, Problem::Copy);
        }
        for (path, _) in counts::wrong(reader, &counts, document).await? {
            found(document, &path, Problem::Count);
        }
        for (path, _) in subsets::wrong(reader, &subsets, document).await? {
            found(document, &path, Problem::Subset);
        }
    }
    for edge in catalog.edges_from(collection) {
        if !edge.is_certain() {
            continue;
        }
        let there = links::at_the_other_end(reader, edge, documents).await?;
        let other = catalog.inverse_of(edge);
        for document in documents {
            let (mut dangling, mut one_sided) = (false, false);
            references(document, &edge.path, |target| {
                match there.get(&key::of(target)) {
                    None => dangling = true,
                    Some(there) => {
                        one_sided |=
                            other.is_some_and(|other| !links::points(there, other, document));
                    }
                }
            });
            one_sided |= links::is_no_list(document, edge);
            if dangling {
                found(document, &edge.path, Problem::Dangling);
            }
            if one_sided {
                found(document, &edge.path, Problem::OneSidedInverse);
            }
        }
    }
    for split in catalog.splits_of(collection) {
        let ids = documents.iter().map(|document| id(document).into());
        let halves = halves(reader, split, ids.collect()).await?;
        for document in documents {
            match halves.get(&key::of(id(document))).map_or(0, Vec::len) {
                0 if split.optional => {}
                0 => found(document, &split.path, Problem::MissingColdPart),
                1 => {}
                _ => found(document, &split.path, Problem::DuplicateColdPart),
            }
            if path::get(document, &split.path).is_some() {
                found(document, &split.path, Problem::InlineColdPart);
            }
        }
    }
    if let Some(split) = catalog.split_in(collection) {
        let owner = |half: &RawDocumentBuf| {
            let owner = path::get(half, &split.key);
            owner.map_or(RawBson::Null, RawBson::from)
        };
        let owners: Vec<RawBson> = documents.iter().map(owner).collect();
        let (there, _) = reader.exist(&split.hot, &owners).await?;
        for (half, there) in documents.iter().zip(there) {
            if !there {
                found(half, &split.key, Problem::OrphanColdPart);
            }
        }
    }
    Ok(findings)
}

/// The halves of documents, by the `_id`s of these.
async fn halves(
    reader: &dyn Reader,
    split: &Split,
    ids: Vec<RawBson>,
) -> Result<HashMap<Vec<u8>, Vec<RawDocumentBuf>>> {
    let find = split.halves_of(ids);
    let mut halves: HashMap<_, Vec<_>> = HashMap::new();
    let each = &mut |_, half: &RawDocument| {
        if let Some(owner) = path::get(half, &split.key) {
            halves
                .entry(key::of(owner))
                .or_default()
                .push(half.to_owned());
        }
        Ok(ControlFlow::Continue(()))
    };
    reader.find(&find, each).await?;
    Ok(halves)
}

/// Makes documents what their definitions say, as far as that can be known.
pub(super) async fn repair(
    unit: &mut Unit<'_>,
    collection: &str,
    ids: &[RawBson],
) -> Result<Touched> {
    let catalog = unit.catalog;
    unit.mends = true;
    let mut touched = Touched::default();
    // References first, since what is derived follows them.
    for edge in catalog.edges_from(collection) {
        if edge.is_certain() {
            links::mend(unit, edge, ids).await?;
        }
    }
    let subsets: Vec<_> = catalog.subsets_in(collection).collect();
    let counts: Vec<_> = catalog.counts_in(collection).collect();
    for group in catalog.copies() {
        let here = group.iter().filter(|copy| copy.holder == collection);
        let copies: Vec<_> = here.collect();
        let documents = unit.get_many(collection, ids).await?;
        let before: Vec<_> = documents.iter().cloned().map(Some).collect();
        let wrong = copies::wrong(&*unit.transaction, &copies, &documents, &before).await?;
        for (document, fields) in documents.iter().zip(wrong) {
            let written = unit.set(collection, &id(document).into(), fields).await?;
            touched.places.extend(written.places);
        }
    }
    let documents = unit.get_many(collection, ids).await?;
    touched.matched = documents.len() as u64;
    for document in documents {
        let id = RawBson::from(id(&document));
        let mut wrong = counts::wrong(&*unit.transaction, &counts, &document).await?;
        wrong.extend(subsets::wrong(&*unit.transaction, &subsets, &document).await?);
        let written = unit.set(collection, &id, wrong).await?;
        touched.places.extend(written.places);
        for split in catalog.splits_of(collection) {
            let ids = vec![id.clone()];
            let halves = halves(&*unit.transaction, split, ids).await?;
            let halves = halves.into_values().next().unwrap_or_default();
            remove_copies(unit, split, &halves).await?;
            let Some(value) = path::get(&document, &split.path) else {
                continue;
            };
            let value = match (value, halves.first()) {
                (RawBsonRef::Null, _) => None,
                (RawBsonRef::Document(value), None) => Some(value.to_owned()),
                (RawBsonRef::Document(value), Some(half)) if *split.value(half)? == *value => None,
                _ => continue,
            };
            splits::replace(unit, &id, vec![(split, value)], &mut touched).await?;
            let fields = vec![(split.path.clone(), None)];
            unit.set(collection, &id, fields).await?;
        }
    }
    // One document may have been written more than once.
    touched.places.sort_unstable();
    touched.places.dedup();
    Ok(touched)
}

/// Removes the halves that are the same as the first.
async fn remove_copies(
    unit: &mut Unit<'_>,
    split: &Split,
    halves: &[RawDocumentBuf],
) -> Result<()> {
    let Some((first, others)) = halves.split_first() else {
        return Ok(());
    };
    let first = split.value(first)?;
    let mut copies = Vec::new();
    for half in others {
        if split.value(half)? == first {
            copies.push(id(half).into());
        }
    }
    if !copies.is_empty() {
        let write = DeleteWrite {
            collection: split.cold.clone(),
            filter: Filter::Path("_id".into(), Test::In(copies)),
            multi: true,
        };
        unit.delete(&write).await?;
    }
    Ok(())
}
