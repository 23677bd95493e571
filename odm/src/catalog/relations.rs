//! The relations as they are declared and stored.

mod document;

use std::{collections::BTreeSet, fmt::Write as _};

use bson::RawBson;
use odm_mql::path;
use serde::{Deserialize, Serialize};

use super::{DerivedField, Edge, Split, Validator, svg};
use crate::model::{Expires, IdOfNumber, Model};

/// The relations that the models of a database declare.
///
/// They are stored beside the data, so that a program with only some of the models maintains the fields that the others derive from them.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let relations = Shop::catalog()?;
/// println!("{}", relations.mermaid());
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Relations {
    pub(crate) collections: Vec<DeclaredCollection>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) splits: Vec<Split>,
    pub(crate) derived: Vec<DerivedField>,
    pub(crate) validators: Vec<Validator>,
}

/// One collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeclaredCollection {
    pub(crate) name: String,
    /// The name of the Rust type, for messages.
    pub(crate) model: String,
    #[serde(flatten)]
    pub(crate) write_fields: WriteFields,
    /// When its documents expire. More than one if several databases declare it differently: each holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) expires: Vec<Expiry>,
    /// Its `_id`s, if these are the numbers of a sequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sequence: Option<IdSequence>,
}

impl DeclaredCollection {
    /// The collection of a model.
    pub(super) fn of(model: &Model) -> Self {
        DeclaredCollection {
            write_fields: WriteFields {
                version: model.version.map(str::to_owned),
                created_at: model.created_at.map(str::to_owned),
                updated_at: model.updated_at.map(str::to_owned),
            },
            expires: model.expires.into_iter().map(Into::into).collect(),
            sequence: model.id_of_number.and_then(IdSequence::of),
            ..DeclaredCollection::new(model.collection, model.name)
        }
    }

    /// A collection without such fields, whose documents do not expire.
    pub(crate) fn new(name: &str, model: &str) -> Self {
        DeclaredCollection {
            name: name.to_owned(),
            model: model.to_owned(),
            write_fields: WriteFields::default(),
            expires: Vec::new(),
            sequence: None,
        }
    }
}

/// When the documents of a collection expire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Expiry {
    /// The path of a date.
    pub(crate) path: String,
    /// How long after it, in milliseconds.
    pub(crate) after: i64,
}

/// The `_id`s of a collection that are the numbers of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct IdSequence {
    number: IdNumber,
    /// The greatest number that the type of the model has.
    max: i64,
}

/// The BSON type of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum IdNumber {
    Int32,
    Int64,
}

impl IdSequence {
    /// The sequence of a function from numbers to `_id`s. `None` if it does not store them as integers: then only its program can make
    /// them.
    fn of(id_of_number: IdOfNumber) -> Option<Self> {
        let number = match id_of_number(1) {
            Ok(Some(RawBson::Int32(1))) => IdNumber::Int32,
            Ok(Some(RawBson::Int64(1))) => IdNumber::Int64,
            _ => return None,
        };
        let sequence = IdSequence {
            number,
            max: i64::MAX,
        };
        let has = |n| {
            let id = id_of_number(n).ok().flatten();
            id.is_some() && id == sequence.id(n)
        };
        // All numbers up to the greatest one have an `_id`.
        let (mut max, mut beyond) = (1_i64, i64::MAX);
        if has(beyond) {
            max = beyond;
        }
        while beyond.saturating_sub(max) > 1 {
            let middle = max.midpoint(beyond);
            if has(middle) {
                max = middle;
            } else {
                beyond = middle;
            }
        }
        Some(IdSequence { number, max })
    }

    /// The `_id` of a number, unless the type of the model lacks it.
    pub(crate) fn id(self, number: i64) -> Option<RawBson> {
        if number > self.max {
            return None;
        }
        match self.number {
            IdNumber::Int32 => i32::try_from(number).ok().map(RawBson::Int32),
            IdNumber::Int64 => Some(RawBson::Int64(number)),
        }
    }
}

impl From<Expires> for Expiry {
    fn from(expires: Expires) -> Self {
        Expiry {
            path: expires.path.to_owned(),
            after: i64::try_from(expires.after.as_millis()).unwrap_or(i64::MAX),
        }
    }
}

/// The fields of a document in which every write of it is recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WriteFields {
    /// The field that counts the changes of the document.
    pub(crate) version: Option<String>,
    /// The field that holds the time of its insert.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created_at: Option<String>,
    /// The field that holds the time of its last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) updated_at: Option<String>,
}

impl WriteFields {
    pub(crate) fn is_empty(&self) -> bool {
        *self == WriteFields::default()
    }

    /// The fields that hold times.
    pub(crate) fn times(&self) -> impl Iterator<Item = &str> {
        let times = [&self.created_at, &self.updated_at];
        times.into_iter().flatten().map(String::as_str)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.version.as_deref().into_iter().chain(self.times())
    }

    /// The fields that every change of the document sets.
    pub(crate) fn changing(&self) -> impl Iterator<Item = &str> {
        let changing = [&self.version, &self.updated_at];
        changing.into_iter().flatten().map(String::as_str)
    }

    /// Adds the fields that another owner declares.
    ///
    /// # Errors
    ///
    /// The field that it declares differently.
    fn merge(&mut self, other: WriteFields) -> Result<(), String> {
        let fields = [
            (&mut self.version, other.version),
            (&mut self.created_at, other.created_at),
            (&mut self.updated_at, other.updated_at),
        ];
        for (held, other) in fields {
            match (&held, other) {
                (Some(held), Some(other)) if *held != other => return Err(other),
                (None, other) => *held = other,
                _ => {}
            }
        }
        Ok(())
    }
}

impl Relations {
    /// Draws the relations as a diagram in the language of Mermaid: a node for each collection, an
    /// arrow for each reference, a dotted one from a source to its copies and counts, and a thick
    /// one to the subsets that show a collection and to the cold parts of split documents.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // For the page of a project: what refers to what, and what is copied from where.
    /// let diagram = Shop::catalog()?.mermaid();
    /// assert!(diagram.contains("reviews") && diagram.contains("manuals"));
    /// # Ok(()) });
    /// ```
    pub fn mermaid(&self) -> String {
        let mut text = "flowchart LR\n".to_owned();
        let node = |name: &str| {
            let at = self.collections.iter().position(|of| of.name == name);
            at.map_or_else(|| name.to_owned(), |at| format!("c{at}"))
        };
        for collection in &self.collections {
            let name = node(&collection.name);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "    {name}[\"{}\"]", collection.name);
        }
        let mut arrow = |from: &str, arrow: &str, label: &str, to: &str| {
            let _ = writeln!(text, "    {} {arrow}|\"{label}\"| {}", node(from), node(to));
        };
        for edge in &self.edges {
            arrow(&edge.from, "-->", &edge.path, &edge.to);
        }
        for field in &self.derived {
            let (line, label) = field.arrow();
            arrow(field.source(), line, &label, field.holder());
        }
        for split in &self.splits {
            arrow(
                &split.hot,
                "==>",
                &format!("cold part {}", split.path),
                &split.cold,
            );
        }
        text
    }

    /// Draws the relations as a picture in SVG: a box for each collection with the fields that refer, are derived or are cold parts, and an
    /// arrow for each. Equal relations make equal texts, and the colours are for white and dark pages.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let picture = Shop::catalog()?.svg();
    /// assert!(picture.starts_with("<svg ") && picture.contains("product → products"));
    /// # Ok(()) });
    /// ```
    pub fn svg(&self) -> String {
        svg::draw(self)
    }

    /// The fields that are derived, are versions or hold references or cold parts, as `collection.path`.
    pub(crate) fn fields(&self) -> BTreeSet<String> {
        let edges = self.edges.iter().map(DeclaredField::name);
        let splits = self.splits.iter().map(DeclaredField::name);
        let derived = self.derived.iter().map(DeclaredField::name);
        let fields = edges.chain(splits).chain(derived);
        fields.chain(self.versions()).collect()
    }

    /// The versions of documents, as `collection.path`.
    pub(crate) fn versions(&self) -> impl Iterator<Item = String> {
        let collections = self.collections.iter();
        collections.filter_map(|of| {
            let version = of.write_fields.version.as_ref()?;
            Some(format!("{}.{version}", of.name))
        })
    }

    /// The derived fields that are deferred, as `collection.path`.
    pub(crate) fn deferred(&self) -> BTreeSet<String> {
        let deferred = self.derived.iter().filter(|field| field.is_deferred());
        deferred.map(DeclaredField::name).collect()
    }

    /// The definition of a field, as `collection.path`, if it is derived.
    pub(crate) fn derived(&self, field: &str) -> Option<&DerivedField> {
        self.derived.iter().find(|derived| derived.name() == field)
    }

    /// The fields that these relations declare and others do not, or declare differently.
    pub(crate) fn fields_not_in(&self, others: &Relations) -> BTreeSet<String> {
        let mut new = self.clone();
        new.edges.retain(|edge| !others.edges.contains(edge));
        new.splits.retain(|split| !others.splits.contains(split));
        new.derived.retain(|field| {
            let mut others = others.derived.iter();
            !others.any(|other| other.is_same_value(field))
        });
        let versions: BTreeSet<String> = others.versions().collect();
        let mut fields = new.fields();
        fields.retain(|field| !versions.contains(field));
        fields
    }

    /// The fields, as `collection.path`, that overlap one of some paths of collections, or are derived from
    /// one. An empty path is the whole document.
    pub(crate) fn fields_about(&self, touched: &[(String, String)]) -> BTreeSet<String> {
        let is_touched = |collection: &str, path: &str| {
            let mut all = touched.iter();
            all.any(|(of, at)| {
                of == collection && (at.is_empty() || path.is_empty() || path::overlap(at, path))
            })
        };
        let mut about = self.clone();
        about
            .edges
            .retain(|edge| is_touched(&edge.from, &edge.path));
        about
            .splits
            .retain(|split| is_touched(&split.hot, &split.path) || is_touched(&split.cold, ""));
        about.derived.retain(|field| {
            let mut reads = field.reads().into_iter();
            is_touched(field.holder(), &field.path())
                || reads.any(|read| is_touched(read.collection, &read.path))
        });
        about.fields()
    }

    /// Whether a collection holds the cold parts of other documents.
    fn is_cold(&self, collection: &str) -> bool {
        self.splits.iter().any(|split| split.cold == collection)
    }

    /// Adds the relations of another owner.
    ///
    /// # Errors
    ///
    /// The field that the other declares differently.
    pub(crate) fn merge(&mut self, other: Relations) -> Result<(), String> {
        let shared = |name: &str| self.collections.iter().any(|held| held.name == name);
        for DeclaredCollection { name, .. } in &other.collections {
            if shared(name) && self.is_cold(name) != other.is_cold(name) {
                return Err(format!(
                    "stores documents in `{name}` where another database on the same store has cold \
                     parts, or the reverse; use another collection"
                ));
            }
        }
        for collection in other.collections {
            let mut all = self.collections.iter_mut();
            match all.find(|held| held.name == collection.name) {
                None => self.collections.push(collection),
                Some(held) => {
                    let merged = held.write_fields.merge(collection.write_fields);
                    merged.map_err(|path| differs(&format!("{}.{path}", collection.name)))?;
                    let expires = collection.expires.into_iter();
                    let new = expires.filter(|expiry| !held.expires.contains(expiry));
                    let new: Vec<Expiry> = new.collect();
                    held.expires.extend(new);
                    let sequences = [held.sequence, collection.sequence];
                    held.sequence = sequences.into_iter().flatten().min();
                }
            }
        }
        merge_fields(&mut self.edges, other.edges)?;
        merge_fields(&mut self.splits, other.splits)?;
        merge_fields(&mut self.derived, other.derived)?;
        // A document conforms to all of them.
        for validator in other.validators {
            if !self.validators.contains(&validator) {
                self.validators.push(validator);
            }
        }
        Ok(())
    }

    /// The sequence of the `_id`s of a collection.
    pub(crate) fn id_sequence(&self, collection: &str) -> Option<IdSequence> {
        let mut collections = self.collections.iter();
        collections.find(|of| of.name == collection)?.sequence
    }

    /// When documents expire, with their collections.
    pub(crate) fn expiries(&self) -> impl Iterator<Item = (&str, &Expiry)> {
        let collections = self.collections.iter();
        collections.flat_map(|of| of.expires.iter().map(|expiry| (&*of.name, expiry)))
    }

    /// The collection whose documents hold a field that is named as `collection.path`.
    pub(crate) fn holder_of<'f>(&self, field: &'f str) -> &'f str {
        let is_of = |name: &&str| {
            field
                .strip_prefix(*name)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        let names = self
            .collections
            .iter()
            .map(|collection| collection.name.as_str());
        let length = names.filter(is_of).map(str::len).max();
        &field[..length.unwrap_or_default()]
    }
}

/// A declaration about one field.
pub(super) trait DeclaredField: PartialEq {
    /// The field, as `collection.path`.
    fn name(&self) -> String;

    /// Joins another declaration of the field. Returns false, and changes nothing, if they differ.
    fn join(&mut self, other: &Self) -> bool {
        self == other
    }
}

impl DeclaredField for Edge {
    fn name(&self) -> String {
        format!("{}.{}", self.from, self.path)
    }
}

impl DeclaredField for Split {
    fn name(&self) -> String {
        format!("{}.{}", self.hot, self.path)
    }
}

impl DeclaredField for DerivedField {
    fn name(&self) -> String {
        format!("{}.{}", self.holder(), self.path())
    }

    fn join(&mut self, other: &Self) -> bool {
        let is_same = self.is_same_value(other);
        if is_same {
            self.join_deferred(other);
        }
        is_same
    }
}

fn merge_fields<T: DeclaredField>(all: &mut Vec<T>, more: Vec<T>) -> Result<(), String> {
    for one in more {
        let name = one.name();
        match all.iter_mut().find(|held| held.name() == name) {
            None => all.push(one),
            Some(held) => {
                if !held.join(&one) {
                    return Err(differs(&name));
                }
            }
        }
    }
    Ok(())
}

fn differs(field: &str) -> String {
    format!(
        "declares `{field}` differently from another database on the same store; let both declare the \
         same"
    )
}
