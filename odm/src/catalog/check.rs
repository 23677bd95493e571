//! The rules that relations obey together, whether they are declared by one database or merged of
//! several: the compiler has checked them for the models of one database only.

use super::{CopyDefinition, DerivedField, FromDerived, Relations, schema};
use crate::{error::Result, mql::path};

pub(super) fn check(relations: &Relations) -> Result<()> {
    for edge in &relations.edges {
        inverse_exists(relations, edge)?;
    }
    for field in &relations.derived {
        is_base_data_free(relations, field)?;
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

/// A refresh changes no reference: else the graph would cause effects.
fn is_base_data_free(relations: &Relations, field: &DerivedField) -> Result<()> {
    let holder = field.holder();
    let mut edges = relations.edges.iter();
    let path = field.path();
    let edge = edges.find(|edge| edge.from == holder && path::overlap(&edge.path, &path));
    match edge {
        None => Ok(()),
        Some(edge) => Err(schema(format!(
            "derived reference: `{holder}.{path}` is derived, and `{holder}.{}` is a reference; store \
             them in different fields",
            edge.path
        ))),
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

/// The hot document and its cold part change in different writes, so nothing is derived from the
/// latter.
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
