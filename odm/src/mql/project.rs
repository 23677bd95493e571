//! Which fields of a document are returned.

mod apply;
mod parse;

use std::borrow::Cow;

use bson::{Bson, Document, RawDocument, RawDocumentBuf, doc};

use crate::mql::{Error, Filter, Test, path::overlap};

/// Which fields of a document are returned, in the order in which they stand in it.
///
/// The default is all of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Projection {
    mode: Mode,
    /// As they were given.
    fields: Vec<(Cow<'static, str>, Rule)>,
    /// The same, with `_id` where it is due, by the parts of the paths.
    tree: Vec<(String, Node)>,
}

/// What becomes of the fields that are not named.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Mode {
    /// They are left out.
    Include,
    /// They are returned.
    #[default]
    Exclude,
}

#[derive(Debug, Clone, PartialEq)]
enum Rule {
    Include,
    Exclude,
    Slice(Slice),
    /// The first element that the test, an [`Test::ElemMatch`] or [`Test::ElemTest`], is met by.
    ElemMatch(Test),
}

/// A part of an array.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Slice {
    /// How many to leave out, from the end if it is negative; then the limit is positive.
    skip: Option<i64>,
    /// How many to return: the first, or the last if it is negative.
    limit: i64,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Rule(Rule),
    Fields(Vec<(String, Node)>),
}

impl Projection {
    /// Reads a projection in MongoDB's form: fields to include or fields to exclude, `$slice` and
    /// `$elemMatch`.
    pub fn parse(document: &Document) -> Result<Self, Error> {
        let mut fields = Vec::new();
        parse::fields(document, "", &mut fields)?;
        Projection::new(fields)
    }

    /// Only these fields, and `_id`. A path that leads to a part of another one adds nothing.
    pub fn include(
        paths: impl IntoIterator<Item = impl Into<Cow<'static, str>>>,
    ) -> Result<Self, Error> {
        let mut fields: Vec<(Cow<'static, str>, Rule)> = Vec::new();
        for path in paths {
            let path = path.into();
            let covers = |other: &str| overlap(other, &path) && other.len() <= path.len();
            if !fields.iter().any(|(other, _)| covers(other)) {
                fields.retain(|(other, _)| !overlap(other, &path));
                fields.push((path, Rule::Include));
            }
        }
        if fields.is_empty() {
            fields.push(("_id".into(), Rule::Include));
        }
        Projection::new(fields)
    }

    /// The projection in the form that [`parse`](Projection::parse) reads.
    pub fn to_document(&self) -> Document {
        let value = |rule: &Rule| match rule {
            Rule::Include => Bson::Int32(1),
            Rule::Exclude => Bson::Int32(0),
            Rule::Slice(Slice { skip: None, limit }) => doc! { "$slice": limit }.into(),
            Rule::Slice(Slice {
                skip: Some(skip),
                limit,
            }) => doc! { "$slice": [skip, limit] }.into(),
            Rule::ElemMatch(test) => Filter::Path("".into(), test.clone())
                .to_document()
                .remove("")
                .unwrap_or(Bson::Int32(1)),
        };
        self.fields
            .iter()
            .map(|(path, rule)| (path.to_string(), value(rule)))
            .collect()
    }

    /// The document with these fields only. A document that cannot be read is an error.
    pub fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf, Error> {
        apply::apply(self, document)
    }

    fn new(fields: Vec<(Cow<'static, str>, Rule)>) -> Result<Self, Error> {
        let mode = mode(&fields);
        let mut tree = Vec::new();
        for (path, rule) in &fields {
            match (mode, rule) {
                (Mode::Include, Rule::Exclude) | (Mode::Exclude, Rule::Include)
                    if path == "_id" => {}
                (Mode::Include, Rule::Exclude) | (Mode::Exclude, Rule::Include) => {
                    return Err(Error::MixedProjection(path.to_string()));
                }
                (_, rule) => insert(&mut tree, path, path, rule)?,
            }
        }
        let id_is_named = fields.iter().any(|(path, _)| overlap(path, "_id"));
        if mode == Mode::Include && !id_is_named {
            tree.push(("_id".to_owned(), Node::Rule(Rule::Include)));
        }
        Ok(Projection { mode, fields, tree })
    }
}

/// The first field that is included or excluded decides. `_id` does only if it is alone, as it may
/// go against the others, and `$slice` goes with both.
fn mode(fields: &[(Cow<'static, str>, Rule)]) -> Mode {
    let decisive = fields.iter().find_map(|(path, rule)| match rule {
        Rule::Include if path != "_id" => Some(Mode::Include),
        Rule::Exclude if path != "_id" => Some(Mode::Exclude),
        _ => None,
    });
    let has = |wanted: fn(&Rule) -> bool| fields.iter().any(|(_, rule)| wanted(rule));
    decisive.unwrap_or_else(|| {
        if has(|rule| matches!(rule, Rule::Slice(_))) {
            Mode::Exclude
        } else if has(|rule| matches!(rule, Rule::ElemMatch(_) | Rule::Include)) {
            Mode::Include
        } else {
            Mode::Exclude
        }
    })
}

fn insert(
    nodes: &mut Vec<(String, Node)>,
    whole: &str,
    path: &str,
    rule: &Rule,
) -> Result<(), Error> {
    let (name, rest) = crate::mql::path::split(path);
    let found = nodes.iter().position(|(other, _)| other == name);
    let conflict = || Error::ConflictingPaths {
        path: whole.to_owned(),
        other: whole[..whole.len() - rest.map_or(0, |rest| rest.len() + 1)].to_owned(),
    };
    match (rest, found) {
        (None, None) => {
            nodes.push((name.to_owned(), Node::Rule(rule.clone())));
            Ok(())
        }
        (None, Some(_)) => Err(conflict()),
        (Some(rest), None) => {
            let mut inner = Vec::new();
            insert(&mut inner, whole, rest, rule)?;
            nodes.push((name.to_owned(), Node::Fields(inner)));
            Ok(())
        }
        (Some(rest), Some(at)) => match &mut nodes[at].1 {
            Node::Fields(inner) => insert(inner, whole, rest, rule),
            Node::Rule(_) => Err(conflict()),
        },
    }
}

#[cfg(test)]
mod tests;
