//! The kinds of derived fields, and their refresh in the order of the graph.
//!
//! A kind has its definition in `catalog` and its computation here, in files of one name. The same
//! computation serves a write, an audit and a repair.

use std::{collections::HashMap, fmt, ops::ControlFlow};

use async_trait::async_trait;
use bson::{RawBson, RawBsonRef, RawDocument};
use futures_core::future::BoxFuture;
use odm_mql::{
    key,
    path::{self, Lookup},
};
use odm_store::{
    Cost, Error, ErrorKind, FindByKey, Reader, ReaderExt, Result, mutants::mutant, show,
};

use super::{
    Problem,
    audit::is_of_documents,
    places::FieldValues,
    unit::{Doc, Unit, id},
};
use crate::catalog::{
    CountDefinition, DerivedField, ExistsDefinition, FieldDefinition, FromDerived, MaxDefinition,
    MinDefinition, OrderedField, SumDefinition, references,
};

mod ancestors;
mod computed;
mod copy;
mod count;
mod exists;
mod extreme;
mod sequence;
pub(super) mod subset;
mod sum;
mod tally;

pub(super) use ancestors::is_followed;
pub(super) use count::is_number;
pub(super) use extreme::{ExtremeChange, is_beyond};
pub(super) use subset::Subsets;
pub(crate) use subset::{children_of, shown};
pub(super) use tally::{Tallies, changes};

/// All kinds, as they are computed.
const KINDS: [&dyn Derivation; DerivedField::KINDS] = [
    &ancestors::AncestorLists,
    &computed::ComputedFields,
    &copy::Copies,
    &Tallies::<CountDefinition>::ALL,
    &Tallies::<ExistsDefinition>::ALL,
    &Tallies::<MaxDefinition>::ALL,
    &Tallies::<MinDefinition>::ALL,
    &sequence::Sequences,
    &Subsets,
    &Tallies::<SumDefinition>::ALL,
];

/// The kinds of derived fields.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{DerivedKind, Problem};
///
/// let wrong = |kind| Problem::Derived(kind);
/// let findings = shop.audit().await?;
/// assert!(findings.iter().all(|finding| finding.problem != wrong(DerivedKind::Count)));
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DerivedKind {
    /// The documents above a document in a tree.
    Ancestors,
    /// A value computed from fields of the same document.
    Computed,
    /// The copy of a field of another document.
    Copy,
    /// The number of children.
    Count,
    /// Whether there are children.
    Exists,
    /// The greatest value of a field in the children.
    Max,
    /// The least value of a field in the children.
    Min,
    /// The number of a document within its parent.
    Sequence,
    /// The first children of a document, in order.
    Subset,
    /// The sum of a number in the children.
    Sum,
}

impl fmt::Display for DerivedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DerivedKind::Ancestors => "list of ancestors",
            DerivedKind::Computed => "computed value",
            DerivedKind::Copy => "copy",
            DerivedKind::Count => "count",
            DerivedKind::Exists => "existence",
            DerivedKind::Max => "greatest value",
            DerivedKind::Min => "least value",
            DerivedKind::Sequence => "number within a parent",
            DerivedKind::Subset => "subset",
            DerivedKind::Sum => "sum",
        })
    }
}

/// How the fields of a kind are computed.
#[async_trait]
pub(super) trait Derivation: Sync {
    /// Recomputes the fields of this kind in a level that the changes of a unit make stale.
    async fn refresh(&self, unit: &mut Unit<'_>, level: &[OrderedField<'_>]) -> Result<()>;

    /// Returns for each document the fields of this kind that differ from their definitions, with their right values. All fields
    /// and documents are of one collection.
    async fn differences(
        &self,
        lookup: &mut dyn Inputs,
        fields: &[&DerivedField],
        documents: &[Doc],
    ) -> Result<Vec<FieldValues>>;

    /// The kind.
    fn kind(&self) -> DerivedKind;
}

/// The reads of a computation: of a unit, which sees its own changes, or of a snapshot.
#[async_trait]
pub(super) trait Inputs: Send {
    /// Returns the existing documents with these `_id`s, by the keys of the `_id`s.
    async fn get(&mut self, collection: &str, ids: Vec<RawBson>) -> Result<HashMap<Vec<u8>, Doc>>;

    /// Runs one query for each of several keys of a field.
    async fn find_by_key(&mut self, find: &FindByKey) -> Result<Vec<Vec<Doc>>>;

    /// Counts the documents of one query for each of several keys of a field.
    async fn count_by_key(&mut self, find: &FindByKey) -> Result<Vec<u64>>;

    /// Passes the documents of one query, which has no limit, for each of several keys of a field, each with the position of the key. A
    /// projection must keep `_id`.
    async fn each_by_key(&mut self, find: &FindByKey, each: EachByKey<'_>) -> Result<()>;
}

/// A function that is called with each document that a query by keys finds, and the position of the key.
pub(super) type EachByKey<'a> = &'a mut (dyn FnMut(usize, &RawDocument) -> Result<()> + Send);

/// The reads of one state of the data, and their cost.
pub(super) struct SnapshotInputs<'a> {
    pub(super) reader: &'a dyn Reader,
    pub(super) cost: Cost,
}

#[async_trait]
impl Inputs for SnapshotInputs<'_> {
    async fn get(&mut self, collection: &str, ids: Vec<RawBson>) -> Result<HashMap<Vec<u8>, Doc>> {
        let (found, cost) = self.reader.get_all(collection, &ids).await?;
        self.cost += cost;
        let found = found.into_iter();
        let found = found.map(|document| (key::of(id(&document)), Doc::new(document)));
        Ok(found.collect())
    }

    async fn find_by_key(&mut self, find: &FindByKey) -> Result<Vec<Vec<Doc>>> {
        let (found, cost) = self.reader.find_all_by_key(find).await?;
        self.cost += cost;
        let wrap = |documents: Vec<_>| documents.into_iter().map(Doc::new).collect();
        Ok(found.into_iter().map(wrap).collect())
    }

    async fn count_by_key(&mut self, find: &FindByKey) -> Result<Vec<u64>> {
        let (numbers, cost) = self.reader.count_by_key(find).await?;
        self.cost += cost;
        Ok(numbers)
    }

    async fn each_by_key(&mut self, find: &FindByKey, each: EachByKey<'_>) -> Result<()> {
        let each = &mut |at: usize, document: &RawDocument| {
            each(at, document)?;
            Ok(ControlFlow::Continue(()))
        };
        self.cost += self.reader.find_by_key(find, each).await?;
        Ok(())
    }
}

/// Recomputes the derived fields that the changes of a unit make stale, level by level: the changes of a level can make only
/// later levels stale.
pub(super) fn refresh<'f>(unit: &'f mut Unit<'_>) -> BoxFuture<'f, Result<()>> {
    Box::pin(async move {
        for level in unit.catalog.levels() {
            for kind in KINDS {
                kind.refresh(unit, &level).await?;
            }
            if mutant("second level") {
                break;
            }
        }
        Ok(())
    })
}

/// Recomputes the derived fields of these documents, whatever is stored, and the fields that depend on them.
pub(super) async fn repair(unit: &mut Unit<'_>, collection: &str, ids: &[RawBson]) -> Result<()> {
    for level in unit.catalog.levels() {
        let here = level.iter().map(|ordered| ordered.field);
        let fields: Vec<&DerivedField> =
            here.filter(|field| field.holder() == collection).collect();
        for kind in KINDS {
            if !fields.is_empty() {
                let positions = unit.load_existing(collection, ids).await?;
                let images = unit.images(collection);
                let documents = positions
                    .iter()
                    .filter_map(|&at| images.at(at).now().cloned());
                let documents: Vec<Doc> = documents.collect();
                let differences = repaired(unit, kind, &fields, &documents).await?;
                for (at, fields) in positions.into_iter().zip(differences) {
                    if mutant("repair") {
                        break;
                    }
                    unit.set_derived(collection, at, fields).await?;
                }
            }
            kind.refresh(unit, &level).await?;
        }
    }
    Ok(())
}

/// The differences of documents that are repaired. A field that cannot be checked stays as it is in a document that is repaired alone, and
/// does not prevent the others.
async fn repaired(
    unit: &mut Unit<'_>,
    kind: &dyn Derivation,
    fields: &[&DerivedField],
    documents: &[Doc],
) -> Result<Vec<FieldValues>> {
    match kind.differences(unit, fields, documents).await {
        Err(error) if documents.len() == 1 && is_of_documents(&error) => {
            let mut differences = vec![FieldValues::new()];
            for field in fields.chunks(1) {
                match kind.differences(unit, field, documents).await {
                    Ok(found) => differences[0].extend(found.into_iter().flatten()),
                    Err(error) if is_of_documents(&error) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(differences)
        }
        differences => differences,
    }
}

/// The derived fields of documents that differ from their definitions: for each document the paths, with the problem.
pub(super) async fn problems(
    lookup: &mut dyn Inputs,
    fields: &[&DerivedField],
    documents: &[Doc],
) -> Result<Vec<Vec<(String, Problem)>>> {
    let mut problems = vec![Vec::new(); documents.len()];
    if fields.is_empty() {
        return Ok(problems);
    }
    for kind in KINDS {
        if mutant("audit of counts") && kind.kind() == DerivedKind::Count {
            continue;
        }
        let differences = kind.differences(lookup, fields, documents).await?;
        for (problems, fields) in problems.iter_mut().zip(differences) {
            let fields = fields.into_iter();
            problems.extend(fields.map(|(path, _)| (path, Problem::Derived(kind.kind()))));
        }
    }
    Ok(problems)
}

/// Whether a child counts for a derived field, by the filter of its definition.
///
/// # Errors
///
/// If the filter fails. The field has no value then, so a write that stores such a child is refused.
fn counts(definition: &dyn FieldDefinition, child: &RawDocument) -> Result<bool> {
    let filter = definition.filter().filter(|_| !mutant("filter"));
    let matches = filter.map_or(Ok(true), |filter| filter.matches(child));
    matches.map_err(|error| {
        let id = RawBson::from(id(child));
        let message = format!(
            "failed filter: that of `{}.{}` on the document of `{}` with `_id` = {}: {error}",
            definition.holder(),
            definition.path(),
            definition.source(),
            show(&id),
        );
        Error::new(ErrorKind::FailedFilter, message)
            .with_source(error)
            .at(definition.source(), None, Some(id))
    })
}

/// The value at a path, unless the path meets a list before its end.
fn value<'a>(document: &'a RawDocument, path: &str) -> Option<RawBsonRef<'a>> {
    match path::lookup(document, path) {
        Lookup::Value(value) => Some(value),
        Lookup::Array(list, None) => Some(RawBsonRef::Array(list)),
        Lookup::Array(_, Some(_)) | Lookup::Missing => None,
    }
}

/// The `_id` that a reference to at most one document names.
fn referenced(document: &RawDocument, reference: &str) -> Option<RawBson> {
    let mut named = None;
    references(document, reference, |id| named = Some(id.into()));
    named
}

/// The definitions of one kind.
fn of_kind<'c, D: FromDerived + 'c>(fields: &[&'c DerivedField]) -> Vec<&'c D> {
    let fields = fields.iter();
    fields.filter_map(|field| D::from_derived(field)).collect()
}

/// The name of the step that leaves a refresh to the worker of the outbox.
fn deferred_step(refresh: String) -> String {
    format!("deferred refresh of {refresh}")
}

/// The name of the step that refreshes fields of a collection.
fn step_name<'p>(paths: impl Iterator<Item = &'p str>, holder: &str) -> String {
    let paths: Vec<String> = paths.map(|path| format!("`{path}`")).collect();
    format!("{} of `{holder}`", paths.join(", "))
}
