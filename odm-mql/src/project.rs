//! Projections: the fields of a document that are returned.

mod apply;
mod parse;

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use bson::{Bson, Document, RawDocument, RawDocumentBuf, doc};

use self::parse::ProjectionUse;
use crate::{
    Collation, Error, Expr, Filter, Test, Variables,
    error::code,
    path::{self, overlap},
    types::bad_as,
    variables::Substitution,
};

/// The fields of a document that are returned, in the order of the document, and after them the computed fields, in the order of the
/// projection.
///
/// The default is all fields.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Projection {
    mode: Mode,
    /// The fields in the order of the request.
    fields: Vec<(Cow<'static, str>, Rule)>,
    /// The same fields and the implied `_id`, by the parts of their paths.
    tree: Arc<ProjectionNodes>,
    collation: Option<Collation>,
}

/// Nodes in the order of the request.
#[derive(Debug, Clone, Default, PartialEq)]
struct ProjectionNodes {
    all: Vec<(String, ProjectionNode)>,
    /// The positions of the nodes by their names.
    by_name: BTreeMap<String, usize>,
}

impl ProjectionNodes {
    fn position(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    fn push(&mut self, name: &str, node: ProjectionNode) {
        self.by_name.insert(name.to_owned(), self.all.len());
        self.all.push((name.to_owned(), node));
    }
}

/// The treatment of fields that are not named.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Mode {
    /// They are excluded.
    Include,
    /// They are included.
    #[default]
    Exclude,
    /// They are included too, and the named ones are computed in their place.
    Set,
}

#[derive(Debug, Clone, PartialEq)]
enum Rule {
    Include,
    Exclude,
    Slice(Slice),
    /// Included, but of the first array on the path only the element by which the filter matches.
    Positional,
    /// The first element by which the test passes, an [`Test::ElemMatch`] or [`Test::ElemTest`].
    ElemMatch(Test),
    /// The value of an expression on the whole document.
    Computed(Expr),
}

/// A part of an array.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Slice {
    /// The number of elements to skip. If it is negative, it counts from the end, and the limit is
    /// positive.
    skip: Option<i64>,
    /// The number of elements to return: the first ones, or the last ones if it is negative.
    limit: i64,
}

#[derive(Debug, Clone, PartialEq)]
enum ProjectionNode {
    Rule(Rule),
    Fields(ProjectionNodes),
}

impl Projection {
    /// Parses a projection in MongoDB's form: fields to include or fields to exclude, `$slice`,
    /// `$elemMatch` and the positional `$`, and fields that an [expression](Expr) computes. A number and a
    /// boolean include or exclude a field; `$literal` makes them its value.
    pub fn parse(document: &Document) -> Result<Self, Error> {
        Projection::parse_with(document, &Variables::default())
    }

    /// Parses a projection in MongoDB's form, with the values of [variables](Variables) in the place of their names.
    pub fn parse_with(document: &Document, variables: &Variables) -> Result<Self, Error> {
        let variables = Substitution::new(variables);
        Projection::parse_as(ProjectionUse::Find, document, &variables)
    }

    /// Parses the projection of the stage `$project`, which has no `$slice` of `find`, no `$elemMatch` and no positional `$`.
    pub(super) fn parse_stage(
        document: &Document,
        variables: &Substitution<'_>,
    ) -> Result<Self, Error> {
        Projection::parse_as(ProjectionUse::Stage, document, variables)
    }

    fn parse_as(
        used: ProjectionUse,
        document: &Document,
        variables: &Substitution<'_>,
    ) -> Result<Self, Error> {
        let mut fields = Vec::new();
        parse::fields(document, "", used, variables, &mut fields)?;
        Projection::new(fields)
    }

    /// Parses the fields of the stage `$set`.
    ///
    /// The other fields stay, and a field that exists is computed in its place. A path through an array leads into each element, and a value
    /// on a path that is neither a document nor an array becomes a document.
    pub(super) fn parse_set(
        document: &Document,
        variables: &Substitution<'_>,
    ) -> Result<Self, Error> {
        let mut fields = Vec::new();
        parse::set_fields(document, "", variables, &mut fields)?;
        let mut tree = ProjectionNodes::default();
        for (path, rule) in &fields {
            insert(&mut tree, path, path, rule).map_err(|(other, _)| Error::ConflictingPaths {
                path: path.to_string(),
                other,
                code: 40_176,
            })?;
        }
        Ok(Projection {
            mode: Mode::Set,
            fields,
            tree: tree.into(),
            collation: None,
        })
    }

    /// Creates a projection to all fields but these.
    pub(super) fn exclude(
        paths: impl IntoIterator<Item = impl Into<Cow<'static, str>>>,
    ) -> Result<Self, Error> {
        let excluded = |path: Cow<'static, str>| {
            path::check_strictly(&path)?;
            Ok((path, Rule::Exclude))
        };
        let fields = paths.into_iter().map(|path| excluded(path.into()));
        Projection::new(fields.collect::<Result<_, Error>>()?)
    }

    /// Whether it computes a field.
    pub(super) fn computes(&self) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|(_, rule)| matches!(rule, Rule::Computed(_)))
    }

    /// The paths of its fields.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(path, _)| &**path)
    }

    /// The paths that its expressions read, where the empty path is the whole document.
    pub(super) fn computed_from(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().flat_map(|(_, rule)| match rule {
            Rule::Computed(expr) => expr.paths(),
            _ => Vec::new(),
        })
    }

    /// Creates a projection to these fields and `_id`. A path within another one has no effect.
    pub fn include(
        paths: impl IntoIterator<Item = impl Into<Cow<'static, str>>>,
    ) -> Result<Self, Error> {
        let paths: Vec<Cow<'static, str>> = paths.into_iter().map(Into::into).collect();
        let all: HashSet<&str> = paths.iter().map(|path| &**path).collect();
        let is_within_other = |path: &str| {
            let mut ends = path.match_indices('.');
            ends.any(|(end, _)| all.contains(&path[..end]))
        };
        let mut seen = HashSet::new();
        let mut fields = Vec::new();
        for path in &paths {
            if !is_within_other(path) && seen.insert(&**path) {
                fields.push((path.clone(), Rule::Include));
            }
        }
        if fields.is_empty() {
            fields.push(("_id".into(), Rule::Include));
        }
        Projection::new(fields)
    }

    /// Compares all texts by a collation, if there is one: in computed fields, and in `$elemMatch`.
    pub fn collated(self, collation: Option<&Collation>) -> Self {
        Projection {
            collation: collation.cloned(),
            ..self
        }
    }

    /// The collation by which texts are compared, if there is one.
    pub fn collation(&self) -> Option<&Collation> {
        self.collation.as_ref()
    }

    /// Returns the projection in MongoDB's form, which does not contain collations.
    pub fn to_document(&self) -> Document {
        let value = |rule: &Rule| match rule {
            Rule::Include | Rule::Positional => Bson::Int32(1),
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
            Rule::Computed(expr) => match expr.to_bson() {
                // As the value of a field these are no expressions.
                value @ (Bson::Document(_) | Bson::Array(_) | Bson::String(_))
                    if !expr.is_object() =>
                {
                    value
                }
                value @ Bson::Document(_) => doc! { "$expr": value }.into(),
                value => doc! { "$literal": value }.into(),
            },
        };
        self.fields
            .iter()
            .map(|(path, rule)| match rule {
                Rule::Positional => (format!("{path}.$"), value(rule)),
                rule => (path.to_string(), value(rule)),
            })
            .collect()
    }

    /// Returns the document with these fields only.
    ///
    /// # Errors
    ///
    /// [`Malformed`](Error::Malformed) if the document cannot be decoded;
    /// [`NoPosition`](Error::NoPosition) if the positional `$` meets an array, since this document was not
    /// matched by a filter; [`Expression`](Error::Expression) if an operator of a computed field does not
    /// accept a value; [`TooLarge`](Error::TooLarge) and [`ResultTooDeep`](Error::ResultTooDeep) if the
    /// computed fields make the document too large or nested too deeply.
    pub fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf, Error> {
        apply::apply(self, document, None)
    }

    /// Returns a document that the filter matches, with these fields only. The positional `$` is the first element of an array by which it
    /// matches.
    ///
    /// # Errors
    ///
    /// The errors of [`apply`](Projection::apply).
    pub fn apply_matched(
        &self,
        filter: &Filter,
        document: &RawDocument,
    ) -> Result<RawDocumentBuf, Error> {
        let position = match self.positional() {
            None => None,
            Some(_) if filter.has_expr() => {
                return Err(bad_as(
                    code::QUERY_FEATURE_NOT_ALLOWED,
                    "$",
                    "a filter without `$expr`",
                ));
            }
            Some(_) => filter.position(document)?,
        };
        apply::apply(self, document, position)
    }

    /// The path of the positional `$`.
    fn positional(&self) -> Option<&str> {
        let mut fields = self.fields.iter();
        let (path, _) = fields.find(|(_, rule)| *rule == Rule::Positional)?;
        Some(path)
    }

    fn new(fields: Vec<(Cow<'static, str>, Rule)>) -> Result<Self, Error> {
        let mode = mode(&fields);
        let first = |wanted: fn(&Rule) -> bool| fields.iter().position(|(_, rule)| wanted(rule));
        let positional = |rule: &Rule| *rule == Rule::Positional;
        let elem_match = first(|rule| matches!(rule, Rule::ElemMatch(_)));
        if let Some(at) = first(positional) {
            if fields[at + 1..].iter().any(|(_, rule)| positional(rule)) {
                return Err(bad_as(31_276, "$", "to be the only one of a projection"));
            }
            if let Some(other) = elem_match {
                let code = if other < at { 31_256 } else { 31_255 };
                return Err(bad_as(code, "$elemMatch", "a projection without `$`"));
            }
        }
        let mut tree = ProjectionNodes::default();
        for (at, (path, rule)) in fields.iter().enumerate() {
            insert(&mut tree, path, path, rule).map_err(|(other, code)| {
                Error::ConflictingPaths {
                    path: path.to_string(),
                    other,
                    code: match rule {
                        Rule::Slice(slice) => slice_code(*slice, &fields[..at], code),
                        _ => code,
                    },
                }
            })?;
            if let (Mode::Exclude, Rule::Computed(expr)) = (mode, rule) {
                let code = if expr.is_value() { 31_310 } else { 31_252 };
                let expected = "a projection that excludes nothing, since it is computed";
                return Err(bad_as(code, path, expected));
            }
            let is_mixed = match (mode, rule) {
                (Mode::Include, Rule::Exclude) | (Mode::Exclude, Rule::Include) => path != "_id",
                (Mode::Exclude, Rule::Positional) => true,
                _ => false,
            };
            if is_mixed {
                return Err(Error::MixedProjection {
                    path: path.to_string(),
                    included: mode == Mode::Exclude,
                });
            }
        }
        if let Some(at) = first(positional) {
            let (array, _) = path::split(&fields[at].0);
            let mut fields = fields.iter();
            if fields.any(|(path, rule)| matches!(rule, Rule::Computed(_)) && overlap(array, path))
            {
                let expected = "no computed field inside of the same field";
                return Err(bad_as(code::NOT_IMPLEMENTED, "$", expected));
            }
        }
        let id_is_named = fields.iter().any(|(path, _)| overlap(path, "_id"));
        if mode == Mode::Include && !id_is_named {
            tree.push("_id", ProjectionNode::Rule(Rule::Include));
        }
        Ok(Projection {
            mode,
            fields,
            tree: tree.into(),
            collation: None,
        })
    }
}

/// The treatment of other fields, decided by the first field that is included, excluded or computed. An `_id` that is not computed decides
/// only if it is included and no other field decides, since it may differ from the others; `$slice` is allowed in both modes.
fn mode(fields: &[(Cow<'static, str>, Rule)]) -> Mode {
    let decisive = fields.iter().find_map(|(path, rule)| match rule {
        Rule::Include | Rule::Positional if path != "_id" => Some(Mode::Include),
        Rule::Exclude if path != "_id" => Some(Mode::Exclude),
        Rule::Computed(_) => Some(Mode::Include),
        _ => None,
    });
    let has = |wanted: fn(&Rule) -> bool| fields.iter().any(|(_, rule)| wanted(rule));
    decisive.unwrap_or_else(|| {
        if has(|rule| matches!(rule, Rule::Include | Rule::Positional)) {
            Mode::Include
        } else if has(|rule| matches!(rule, Rule::Slice(_))) {
            Mode::Exclude
        } else if has(|rule| matches!(rule, Rule::ElemMatch(_))) {
            Mode::Include
        } else {
            Mode::Exclude
        }
    })
}

/// Adds a field, unless it overlaps another one. Returns the path of that, and MongoDB's code.
fn insert(
    nodes: &mut ProjectionNodes,
    whole: &str,
    path: &str,
    rule: &Rule,
) -> Result<(), (String, i32)> {
    let (name, rest) = path::split(path);
    let found = nodes.position(name);
    let upto = || whole[..whole.len() - rest.map_or(0, |rest| rest.len() + 1)].to_owned();
    match (rest, found) {
        (None, None) => {
            nodes.push(name, ProjectionNode::Rule(rule.clone()));
            Ok(())
        }
        (None, Some(_)) => Err((upto(), 31_250)),
        (Some(rest), None) => {
            let mut inner = ProjectionNodes::default();
            insert(&mut inner, whole, rest, rule)?;
            nodes.push(name, ProjectionNode::Fields(inner));
            Ok(())
        }
        (Some(rest), Some(at)) => match &mut nodes.all[at].1 {
            ProjectionNode::Fields(inner) => insert(inner, whole, rest, rule),
            ProjectionNode::Rule(_) => Err((upto(), 31_249)),
        },
    }
}

/// The code of a `$slice` that overlaps an earlier field. MongoDB then takes it for the expression of this name, which needs two operands
/// and is not allowed in an exclusion.
fn slice_code(slice: Slice, before: &[(Cow<'static, str>, Rule)], code: i32) -> i32 {
    let excludes =
        |(path, rule): &(Cow<'static, str>, Rule)| *rule == Rule::Exclude && path != "_id";
    match slice.skip {
        _ if before.iter().any(excludes) => 31_252,
        None => 28_667,
        Some(_) => code,
    }
}

#[cfg(test)]
mod tests;
