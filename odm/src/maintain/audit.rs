//! The audit: the search for all fields that do not conform to the models.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use bson::{RawBson, RawDocument, RawDocumentBuf};
use odm_mql::{Violation, key, path};
use odm_store::{Cost, Error, ErrorKind, Find, FindByKey, Reader, Result, show};

use super::{
    as_read,
    derived::{DerivedKind, Inputs, SnapshotInputs, problems},
    inverse, outbox,
    unit::{Doc, id},
    validation,
};
use crate::catalog::{Catalog, DerivedField, Edge, Split, join, references};

/// A field of a stored document that does not conform to the models.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// for finding in shop.repair().await? {
///     println!("{finding}: {}", if finding.repaired { "repaired" } else { "look at it" });
/// }
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The collection of the document.
    pub collection: String,
    /// Its `_id`.
    pub id: RawBson,
    /// The path of the field. It is empty for the whole document.
    pub path: String,
    /// The problem of the field.
    pub problem: Problem,
    /// Whether it has been repaired. An audit repairs nothing; a repair repairs whatever it can without discarding data that
    /// exists nowhere else.
    pub repaired: bool,
}

/// The ways in which a field can be wrong.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::Problem;
///
/// let unreadable = |problem: &Problem| matches!(problem, Problem::Unreadable(_));
/// let findings = shop.audit().await?;
/// assert!(!findings.iter().any(|finding| unreadable(&finding.problem)));
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// A derived field does not have the value that its definition gives.
    Derived(DerivedKind),
    /// A reference names a document that does not exist. A repair empties it or removes it from its list, if that is its rule for
    /// deletes.
    Dangling,
    /// The inverse of a reference does not name the holder. In a repair, a scalar side decides over a list, a missing member of
    /// one of two lists is added, and a scalar that its inverse contradicts is emptied.
    OneSidedInverse,
    /// The document has no version, since it is from before its model had one. A repair gives it the version 0.
    MissingVersion,
    /// The cold part of a document is missing, and it is not `optional`. A repair cannot know its
    /// value.
    MissingColdPart,
    /// A document has several cold parts for one field. A repair removes parts that are equal to the first; it leaves different
    /// ones, since it cannot know which is right.
    DuplicateColdPart,
    /// A cold part has no document. A repair leaves it, since it may be all that is left.
    OrphanColdPart,
    /// A document holds its cold part inline, since it is from before the split. A repair moves it, unless a different cold part
    /// is stored already.
    InlineColdPart,
    /// The document does not conform to the validation of its collection: it was stored before the validation was declared, or
    /// under the action `warn`. A repair leaves it, since it cannot know the right value.
    Invalid(Violation),
    /// The field cannot be read as its type in the model of this program. The text is the reason. A repair corrects a derived
    /// field, and leaves any other.
    Unreadable(String),
    /// A derived field does not have the value that its definition gives, and its deferred refresh has failed for a
    /// reason that does not pass by itself. The text is the error message. A repair retries the refresh.
    FailedRefresh(String),
    /// The field cannot be checked, since a filter or a pattern fails on a document, or its right value cannot be
    /// computed. The text is the error message. A repair
    /// leaves it until the document is changed or deleted; several such documents of one field must be changed or deleted by one
    /// write.
    CheckFailed(String),
}

/// The definitions that an audit compares documents with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AuditScope {
    /// The definitions of derived fields, references and cold parts.
    pub(crate) relations: bool,
    /// The validators of the collections.
    pub(crate) validators: bool,
    /// The types of the models of this program, as which documents must be readable.
    pub(crate) types: bool,
}

impl AuditScope {
    pub(crate) const VALIDATORS: Self = AuditScope {
        relations: false,
        validators: true,
        types: false,
    };
    pub(crate) const MODELS: Self = AuditScope {
        relations: true,
        validators: false,
        types: true,
    };

    /// Whether there are definitions to compare documents of a collection with.
    pub(crate) fn includes(self, catalog: &Catalog, collection: &str) -> bool {
        self.relations && catalog.has_relations(collection)
            || self.validators && catalog.validators_of(collection).is_some()
            || self.types && !catalog.read_checks(collection).is_empty()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = show(&self.id);
        let (problem, detail) = match &self.problem {
            Problem::Derived(kind) => (&*format!("wrong {kind}"), None),
            Problem::Dangling => ("dangling reference", None),
            Problem::OneSidedInverse => ("one-sided inverse reference", None),
            Problem::MissingVersion => ("missing version", None),
            Problem::MissingColdPart => ("missing cold part", None),
            Problem::DuplicateColdPart => ("duplicate cold part", None),
            Problem::OrphanColdPart => ("orphan cold part", None),
            Problem::InlineColdPart => ("inline cold part", None),
            // Like the error of a write: the text of the violation follows the path.
            Problem::Invalid(violation) => {
                let collection = &self.collection;
                return write!(
                    f,
                    "invalid document: `{collection}` with `_id` = {id}: {violation}"
                );
            }
            Problem::Unreadable(reason) => ("unreadable document", Some(reason)),
            Problem::FailedRefresh(error) => ("failed refresh", Some(error)),
            Problem::CheckFailed(error) => ("failed check", Some(error)),
        };
        match self.path.as_str() {
            "" => write!(f, "{problem}: `{}` with `_id` = {id}", self.collection)?,
            path => {
                let field = join(&self.collection, path);
                write!(f, "{problem}: `{field}` of the document with `_id` = {id}")?;
            }
        }
        detail.map_or(Ok(()), |detail| write!(f, ": {detail}"))
    }
}

/// The result of the check of some documents.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) findings: Vec<Finding>,
    /// The wrong derived fields that the worker of the outbox has not refreshed yet.
    pub(crate) deferred: Vec<Finding>,
    /// The cost of the reads.
    pub(crate) cost: Cost,
}

/// Compares documents of one collection with the models, all on one state of the data, with one call for each kind of input.
/// Returns the findings and the cost.
pub(crate) async fn check(
    catalog: &Catalog,
    scope: AuditScope,
    reader: &dyn Reader,
    collection: &str,
    documents: &[RawDocumentBuf],
) -> Result<Checked> {
    let documents: Vec<Doc> = documents.iter().cloned().map(Doc::new).collect();
    let mut lookup = SnapshotInputs {
        reader,
        cost: Cost::default(),
    };
    let mut found = AuditFindings {
        collection,
        findings: Vec::new(),
    };
    let mut deferred = Vec::new();
    if scope.relations {
        check_relations(&mut lookup, catalog, &documents, &mut found).await?;
        let findings = &mut found.findings;
        deferred =
            outbox::split_deferred(&mut lookup, catalog, collection, &documents, findings).await?;
    }
    if scope.validators {
        for document in &documents {
            for problem in validation::problems(catalog, collection, document) {
                let path = match &problem {
                    Problem::Invalid(violation) => violation.path.clone(),
                    _ => String::new(),
                };
                found.add(document, &path, problem);
            }
        }
    }
    if scope.types {
        for document in &documents {
            for check in catalog.read_checks(collection) {
                // A field that has a finding already is not reported again.
                let read = as_read(catalog, collection, document)?;
                if let Some(why) = check.unreadable(&read)?
                    && !found.has(document, &why.path)
                {
                    found.add(document, &why.path, Problem::Unreadable(why.reason));
                }
            }
        }
    }
    Ok(Checked {
        findings: found.findings,
        deferred,
        cost: lookup.cost,
    })
}

async fn check_relations(
    lookup: &mut SnapshotInputs<'_>,
    catalog: &Catalog,
    documents: &[Doc],
    found: &mut AuditFindings<'_>,
) -> Result<()> {
    let collection = found.collection;
    let fields: Vec<&DerivedField> = catalog.derived_in(collection).collect();
    check_derived(lookup, &fields, documents, found).await?;
    for edge in catalog.edges_from(collection) {
        if edge.is_certain() {
            check_references(lookup, catalog, edge, documents, found).await?;
        }
    }
    if let Some(version) = catalog.version(collection) {
        for document in documents {
            if path::get(document, version).is_none() {
                found.add(document, version, Problem::MissingVersion);
            }
        }
    }
    for split in catalog.splits_of(collection) {
        check_cold_parts(lookup, split, documents, found).await?;
    }
    if let Some(split) = catalog.split_in(collection) {
        check_owners(lookup, split, documents, found).await?;
    }
    Ok(())
}

/// Whether a field cannot be checked, since a filter fails on a document or a value cannot be computed.
pub(crate) fn is_of_documents(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::FailedFilter | ErrorKind::Uncomputable
    )
}

/// Compares derived fields with their definitions: all at once or, if one cannot be checked, one by one, so that a failing document does
/// not hide the problems of others.
async fn check_derived(
    lookup: &mut SnapshotInputs<'_>,
    fields: &[&DerivedField],
    documents: &[Doc],
    found: &mut AuditFindings<'_>,
) -> Result<()> {
    match (problems(lookup, fields, documents).await, fields, documents) {
        (Ok(problems), ..) => {
            for (document, problems) in documents.iter().zip(problems) {
                for (path, problem) in problems {
                    found.add(document, &path, problem);
                }
            }
        }
        (Err(error), ..) if !is_of_documents(&error) => return Err(error),
        (Err(error), [field], [document]) => {
            found.add(
                document,
                &field.path(),
                Problem::CheckFailed(error.to_string()),
            );
        }
        (Err(_), ..) => {
            for document in documents.chunks(1) {
                for field in fields.chunks(1) {
                    Box::pin(check_derived(lookup, field, document, found)).await?;
                }
            }
        }
    }
    Ok(())
}

/// The findings in one collection.
struct AuditFindings<'a> {
    collection: &'a str,
    findings: Vec<Finding>,
}

impl AuditFindings<'_> {
    fn has(&self, document: &RawDocument, path: &str) -> bool {
        let id = RawBson::from(id(document));
        let mut findings = self.findings.iter();
        findings.any(|finding| finding.path == path && finding.id == id)
    }

    fn add(&mut self, document: &RawDocument, path: &str, problem: Problem) {
        self.findings.push(Finding {
            collection: self.collection.to_owned(),
            id: id(document).into(),
            path: path.to_owned(),
            problem,
            repaired: false,
        });
    }
}

async fn check_references(
    lookup: &mut SnapshotInputs<'_>,
    catalog: &Catalog,
    edge: &Edge,
    documents: &[Doc],
    found: &mut AuditFindings<'_>,
) -> Result<()> {
    let mut ids = HashMap::new();
    for document in documents {
        ids.extend(inverse::targets(document, edge));
    }
    let named = if ids.is_empty() {
        HashMap::new()
    } else {
        lookup.get(&edge.to, ids.into_values().collect()).await?
    };
    let other = catalog.inverse_of(edge);
    let mut inverses = other.map(|other| inverse::ReferrerLookup::new(other, documents.iter()));
    for document in documents {
        let own = key::of(id(document));
        let (mut dangling, mut one_sided) = (false, false);
        references(document, &edge.path, |target| {
            match named.get(&key::of(target)) {
                None => dangling = true,
                Some(named) => {
                    let inverses = inverses.as_mut();
                    one_sided |= inverses.is_some_and(|inverses| !inverses.refers_to(named, &own));
                }
            }
        });
        one_sided |= inverse::is_no_list(document, edge);
        if dangling {
            found.add(document, &edge.path, Problem::Dangling);
        }
        if one_sided {
            found.add(document, &edge.path, Problem::OneSidedInverse);
        }
    }
    Ok(())
}

async fn check_cold_parts(
    lookup: &mut SnapshotInputs<'_>,
    split: &Split,
    documents: &[Doc],
    found: &mut AuditFindings<'_>,
) -> Result<()> {
    let find = FindByKey {
        find: Find {
            collection: split.cold.clone(),
            ..Find::default()
        },
        path: split.key.clone(),
        keys: documents
            .iter()
            .map(|document| id(document).into())
            .collect(),
    };
    let parts = lookup.find_by_key(&find).await?;
    for (document, parts) in documents.iter().zip(parts) {
        match parts.len() {
            0 if split.optional => {}
            0 => found.add(document, &split.path, Problem::MissingColdPart),
            1 => {}
            _ => found.add(document, &split.path, Problem::DuplicateColdPart),
        }
        if path::get(document, &split.path).is_some() {
            found.add(document, &split.path, Problem::InlineColdPart);
        }
    }
    Ok(())
}

async fn check_owners(
    lookup: &mut SnapshotInputs<'_>,
    split: &Split,
    parts: &[Doc],
    found: &mut AuditFindings<'_>,
) -> Result<()> {
    let owner = |part: &Doc| {
        let owner = path::get(part, &split.key);
        owner.map_or(RawBson::Null, RawBson::from)
    };
    let owners: Vec<RawBson> = parts.iter().map(owner).collect();
    if owners.is_empty() {
        return Ok(());
    }
    let exist: HashSet<Vec<u8>> = lookup
        .get(&split.hot, owners.clone())
        .await?
        .into_keys()
        .collect();
    for (part, owner) in parts.iter().zip(owners) {
        if !exist.contains(&key::of(owner.as_raw_bson_ref())) {
            found.add(part, &split.key, Problem::OrphanColdPart);
        }
    }
    Ok(())
}
