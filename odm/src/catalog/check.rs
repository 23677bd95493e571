//! The rules for all relations together, declared by one database or merged from several: the compiler has checked them for the models of
//! one database only.

use std::borrow::Cow;

use odm_mql::path;
use odm_store::Result;

use super::{CopyDefinition, DerivedField, FromDerived, Relations, schema};

pub(super) fn check(relations: &Relations) -> Result<()> {
    for edge in &relations.edges {
        inverse_exists(relations, edge)?;
    }
    has_own_collections(relations)?;
    let roles = roles(relations);
    for FieldRole {
        collection, path, ..
    } in &roles
    {
        is_named(collection, path)?;
    }
    is_apart(&roles)?;
    for field in &relations.derived {
        for read in field.reads() {
            is_named(read.collection, &read.path)?;
        }
        reads_no_cold_part(relations, field)?;
        if let Some(copy) = CopyDefinition::from_derived(field) {
            copies_no_reference(relations, copy)?;
        }
    }
    Ok(())
}

/// Inverse references name each other.
fn inverse_exists(relations: &Relations, edge: &super::Edge) -> Result<()> {
    let Some(inverse) = &edge.inverse else {
        return Ok(());
    };
    let mut edges = relations.edges.iter();
    let other = edges.find(|other| other.from == edge.to && other.path == *inverse);
    let points_back = other
        .is_some_and(|other| other.to == edge.from && other.inverse.as_ref() == Some(&edge.path));
    if points_back {
        return Ok(());
    }
    Err(schema(format!(
        "unmatched inverse: `{}.{}` names `{}.{inverse}`, which is not its inverse; let both name each \
         other",
        edge.from, edge.path, edge.to
    )))
}

/// No two splits store their cold parts in one collection.
fn has_own_collections(relations: &Relations) -> Result<()> {
    for (at, split) in relations.splits.iter().enumerate() {
        let mut others = relations.splits[..at].iter();
        if let Some(other) = others.find(|other| other.cold == split.cold) {
            return Err(schema(format!(
                "shared collection: the cold parts `{}.{}` and `{}.{}` are both stored in `{}`; give \
                 each a collection of its own",
                other.hot, other.path, split.hot, split.path, split.cold
            )));
        }
    }
    Ok(())
}

/// A field that the library reads or writes.
struct FieldRole<'a> {
    collection: &'a str,
    path: Cow<'a, str>,
    role: Role,
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Reference,
    Derived,
    Version,
    WriteTime,
    ColdPart,
}

fn roles(relations: &Relations) -> Vec<FieldRole<'_>> {
    let new = |collection, path, role| FieldRole {
        collection,
        path,
        role,
    };
    let edges = relations.edges.iter();
    let edges = edges.map(|edge| new(&*edge.from, (&*edge.path).into(), Role::Reference));
    let derived = relations.derived.iter();
    let derived = derived.map(|field| new(field.holder(), field.path(), Role::Derived));
    let written = relations.collections.iter().flat_map(|collection| {
        let fields = &collection.write_fields;
        let version = fields.version.iter().map(|path| (&**path, Role::Version));
        let times = fields.times().map(|path| (path, Role::WriteTime));
        let fields = version.chain(times);
        fields.map(|(path, role)| new(&*collection.name, path.into(), role))
    });
    let splits = relations.splits.iter();
    let splits = splits.map(|split| new(&*split.hot, (&*split.path).into(), Role::ColdPart));
    let mut roles: Vec<FieldRole<'_>> = edges.chain(derived).chain(written).chain(splits).collect();
    roles.sort_by(|a, b| a.collection.cmp(b.collection));
    roles
}

/// A number in a path is a position in a list, so a path could not use it as a name.
fn is_named(collection: &str, path: &str) -> Result<()> {
    match path.split('.').find(|step| path::position(step).is_some()) {
        None => Ok(()),
        Some(name) => Err(schema(format!(
            "numbered field: `{name}` in `{collection}.{path}` is a position in a list, and cannot be the \
             name of a field that relations read; store it under another name"
        ))),
    }
}

/// Two fields that the library writes do not overlap, and none overlaps a reference: a refresh changes no reference, else the graph would
/// cause effects. References in different variants of an enum can overlap.
fn is_apart(roles: &[FieldRole<'_>]) -> Result<()> {
    for roles in roles.chunk_by(|a, b| a.collection == b.collection) {
        for (at, one) in roles.iter().enumerate() {
            let mut others = roles[..at].iter();
            let other = others.find(|other| {
                let are_references = [one.role, other.role] == [Role::Reference; 2];
                !are_references && path::overlap(&one.path, &other.path)
            });
            if let Some(other) = other {
                return Err(schema(format!(
                    "overlapping fields: `{0}.{1}` is {2}, and `{0}.{3}` is {4}; store them in \
                     different fields",
                    one.collection,
                    other.path,
                    other.role.name(),
                    one.path,
                    one.role.name()
                )));
            }
        }
    }
    Ok(())
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::Reference => "a reference",
            Role::Derived => "derived",
            Role::Version => "the version",
            Role::WriteTime => "the time of a write",
            Role::ColdPart => "a cold part",
        }
    }
}

fn copies_no_reference(relations: &Relations, copy: &CopyDefinition) -> Result<()> {
    let mut edges = relations.edges.iter();
    let reference =
        edges.find(|edge| edge.from == copy.source && path::overlap(&edge.path, &copy.value));
    match reference {
        None => Ok(()),
        Some(edge) => Err(schema(format!(
            "copied reference: `{}.{}` is a copy of `{}.{}`, which is or holds the reference `{}`; copy \
             another field, or follow the reference",
            copy.holder, copy.name, copy.source, copy.value, edge.path
        ))),
    }
}

/// The hot document and its cold part change in different writes, so no field is derived from the cold part.
fn reads_no_cold_part(relations: &Relations, field: &DerivedField) -> Result<()> {
    for read in field.reads() {
        let mut splits = relations.splits.iter();
        let split = splits.find(|split| {
            split.hot == read.collection
                && !read.path.is_empty()
                && path::overlap(&split.path, &read.path)
        });
        if let Some(split) = split {
            return Err(schema(format!(
                "derived from a cold part: `{}.{}` reads `{}.{}`, which is stored in `{}`; read a \
                 field of the document itself",
                field.holder(),
                field.path(),
                read.collection,
                read.path,
                split.cold
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
