//! The application of projections.

use std::{collections::HashMap, ops::Range};

use bson::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf, spec::ElementType};

use odm_pattern::Steps;

use super::{Mode, Projection, ProjectionNode, ProjectionNodes, Rule, Slice};
use crate::{
    Collation, Error, Expr, Test, depth,
    expr::Work,
    types::check_computed_size,
    write::{Element, Name, Writer, elements, fields},
};

pub(super) fn apply(
    projection: &Projection,
    document: &RawDocument,
    position: Option<usize>,
) -> Result<RawDocumentBuf, Error> {
    if projection.mode != Mode::Include && projection.tree.all.is_empty() {
        return Ok(document.to_owned());
    }
    let steps = Steps::default();
    let mut projector = Projector {
        mode: projection.mode,
        positional: projection.positional(),
        position,
        whole: document,
        collation: projection.collation.as_ref(),
        work: Work::new(&steps),
        out: Writer::with_capacity(document.as_bytes().len()),
    };
    let open = projector.out.begin();
    projector.fields(document, &projection.tree)?;
    let projected = projector.out.finish(open)?;
    if projection.computes() {
        depth::check(&projected)?;
    }
    Ok(projected)
}

struct Projector<'p> {
    mode: Mode,
    /// The document that computed fields are computed from.
    whole: &'p RawDocument,
    collation: Option<&'p Collation>,
    /// The work that is left for the computed fields.
    work: Work<'p>,
    /// The path of the positional `$`, and the position that `$` stands for.
    positional: Option<&'p str>,
    position: Option<usize>,
    out: Writer,
}

impl Projector<'_> {
    fn fields(&mut self, document: &RawDocument, nodes: &ProjectionNodes) -> Result<(), Error> {
        let mut met = match self.mode {
            Mode::Include | Mode::Exclude => Vec::new(),
            Mode::Set => vec![false; nodes.all.len()],
        };
        for element in fields(document) {
            let element = element?;
            let name = Name::Field(element.name());
            let Some(at) = nodes.position(element.name()) else {
                self.unnamed(&element);
                continue;
            };
            if let Some(met) = met.get_mut(at) {
                *met = true;
            }
            match &nodes.all[at].1 {
                ProjectionNode::Rule(rule) => self.rule(rule, &element)?,
                ProjectionNode::Fields(nodes) => self.nested(name, &element, nodes)?,
            }
        }
        match self.mode {
            Mode::Include => self.added(Some(document), nodes),
            Mode::Exclude => Ok(()),
            Mode::Set => {
                let nodes = nodes.all.iter().zip(met);
                let mut missing = nodes.filter(|(_, met)| !met);
                missing.try_for_each(|((name, node), _)| match node {
                    ProjectionNode::Rule(Rule::Computed(expr)) => self.compute(name, expr),
                    ProjectionNode::Rule(_) => Ok(()),
                    ProjectionNode::Fields(nodes) => self.computed(Name::Field(name), nodes),
                })
            }
        }
    }

    /// Writes the value of an expression, unless it is missing.
    fn compute(&mut self, name: &str, expr: &Expr) -> Result<(), Error> {
        if let Some(value) = expr.evaluate_by(self.collation, self.whole, &self.work)? {
            let value = value.as_raw_bson_ref();
            self.out.element(Name::Field(name), value);
            // Each element of an array can get a value that is as long as the whole document.
            check_computed_size(self.out.len())?;
        }
        Ok(())
    }

    /// Writes the fields that follow the fields of the document: the computed fields and the fields of `$elemMatch`.
    fn added(
        &mut self,
        document: Option<&RawDocument>,
        nodes: &ProjectionNodes,
    ) -> Result<(), Error> {
        // Made at the first use.
        let mut named = None;
        for (name, node) in &nodes.all {
            match node {
                ProjectionNode::Rule(Rule::Computed(expr)) => self.compute(name, expr)?,
                ProjectionNode::Rule(Rule::ElemMatch(test)) => {
                    if let Some(element) = by_name(&mut named, document)?.get(name.as_str()) {
                        self.first_match(test, element)?;
                    }
                }
                ProjectionNode::Fields(nodes) if computes(nodes) => {
                    let is_written = match by_name(&mut named, document)?.get(name.as_str()) {
                        Some(element) => has_fields(element.value()?),
                        None => false,
                    };
                    if !is_written {
                        self.computed(Name::Field(name), nodes)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes a document of the computed fields in the place of a missing document.
    fn computed(&mut self, name: Name<'_>, nodes: &ProjectionNodes) -> Result<(), Error> {
        self.out.head(ElementType::EmbeddedDocument, name);
        let open = self.out.begin();
        self.added(None, nodes)?;
        self.out.end(open)
    }

    fn unnamed(&mut self, element: &Element<'_>) {
        if self.mode != Mode::Include {
            self.out.copy(element);
        }
    }

    fn rule(&mut self, rule: &Rule, element: &Element<'_>) -> Result<(), Error> {
        match rule {
            Rule::Include => self.out.copy(element),
            Rule::Exclude => {}
            Rule::Positional => match element.value()? {
                RawBsonRef::Array(array) => {
                    self.matched_element(Name::Field(element.name()), array)?;
                }
                _ => self.out.copy(element),
            },
            Rule::Slice(slice) => match element.value()? {
                RawBsonRef::Array(array) => self.slice(*slice, element.name(), array)?,
                _ => self.out.copy(element),
            },
            // Among included fields these come last.
            Rule::ElemMatch(_) if self.mode == Mode::Include => {}
            Rule::Computed(expr) if self.mode == Mode::Set => self.compute(element.name(), expr)?,
            // They come last, too.
            Rule::Computed(_) => {}
            Rule::ElemMatch(test) => self.first_match(test, element)?,
        }
        Ok(())
    }

    fn nested(
        &mut self,
        name: Name<'_>,
        element: &Element<'_>,
        nodes: &ProjectionNodes,
    ) -> Result<(), Error> {
        match element.value()? {
            RawBsonRef::Document(document) => {
                self.out.head(ElementType::EmbeddedDocument, name);
                let open = self.out.begin();
                self.fields(document, nodes)?;
                self.out.end(open)
            }
            RawBsonRef::Array(array) if leads_to_position(nodes) => {
                self.matched_element(name, array)
            }
            RawBsonRef::Array(array) => {
                self.out.head(ElementType::Array, name);
                let open = self.out.begin();
                let mut at = 0;
                for element in elements(array) {
                    let element = element?;
                    if has_fields(element.value()?) {
                        self.nested(Name::Position(at), &element, nodes)?;
                    } else if computes(nodes) {
                        self.computed(Name::Position(at), nodes)?;
                    } else if self.mode == Mode::Exclude {
                        self.out.copy_as(Name::Position(at), &element);
                    } else {
                        continue;
                    }
                    at += 1;
                }
                self.out.end(open)
            }
            // The value has no such field, to include or to exclude.
            _ => match self.mode {
                Mode::Include => Ok(()),
                Mode::Exclude => {
                    self.out.copy_as(name, element);
                    Ok(())
                }
                Mode::Set => self.computed(name, nodes),
            },
        }
    }

    /// Writes an array of the one element by which the filter matched.
    fn matched_element(&mut self, name: Name<'_>, array: &RawArray) -> Result<(), Error> {
        let missing = |code| Error::NoPosition {
            path: format!("{}.$", self.positional.unwrap_or_default()),
            code,
        };
        let position = self.position.ok_or_else(|| missing(51_246))?;
        let element = elements(array).nth(position);
        let element = element.ok_or_else(|| missing(51_247))??;
        self.out.head(ElementType::Array, name);
        let open = self.out.begin();
        self.out.copy_as(Name::Position(0), &element);
        self.out.end(open)
    }

    fn slice(&mut self, slice: Slice, name: &str, array: &RawArray) -> Result<(), Error> {
        let range = slice.range(elements(array).count());
        self.out.head(ElementType::Array, Name::Field(name));
        let open = self.out.begin();
        for (at, element) in elements(array)
            .skip(range.start)
            .take(range.len())
            .enumerate()
        {
            self.out.copy_as(Name::Position(at), &element?);
        }
        self.out.end(open)
    }

    fn first_match(&mut self, test: &Test, element: &Element<'_>) -> Result<(), Error> {
        let RawBsonRef::Array(array) = element.value()? else {
            return Ok(());
        };
        for candidate in elements(array) {
            let candidate = candidate?;
            if test.matches_element_by(self.collation, candidate.value()?)? {
                self.out
                    .head(ElementType::Array, Name::Field(element.name()));
                let open = self.out.begin();
                self.out.copy_as(Name::Position(0), &candidate);
                return self.out.end(open);
            }
        }
        Ok(())
    }
}

/// The fields of a document by their names. The first field of a name counts.
fn by_name<'n, 'd>(
    named: &'n mut Option<HashMap<&'d str, Element<'d>>>,
    document: Option<&'d RawDocument>,
) -> Result<&'n HashMap<&'d str, Element<'d>>, Error> {
    if let Some(named) = named {
        return Ok(named);
    }
    let mut all = HashMap::new();
    for element in document.into_iter().flat_map(fields) {
        let element = element?;
        all.entry(element.name()).or_insert(element);
    }
    Ok(named.insert(all))
}

/// Whether a path leads into a value.
fn has_fields(value: RawBsonRef<'_>) -> bool {
    matches!(value, RawBsonRef::Document(_) | RawBsonRef::Array(_))
}

/// Whether there are computed fields below these nodes.
fn computes(nodes: &ProjectionNodes) -> bool {
    nodes.all.iter().any(|(_, node)| match node {
        ProjectionNode::Rule(rule) => matches!(rule, Rule::Computed(_)),
        ProjectionNode::Fields(nodes) => computes(nodes),
    })
}

/// Whether the positional `$` is below these nodes.
fn leads_to_position(nodes: &ProjectionNodes) -> bool {
    nodes.all.iter().any(|(_, node)| match node {
        ProjectionNode::Rule(rule) => *rule == Rule::Positional,
        ProjectionNode::Fields(nodes) => leads_to_position(nodes),
    })
}

impl Slice {
    fn range(self, len: usize) -> Range<usize> {
        let amount = |number: i64| usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
        let limit = amount(self.limit);
        let start = match self.skip {
            Some(skip) if skip < 0 => len.saturating_sub(amount(skip)),
            Some(skip) => amount(skip).min(len),
            None if self.limit < 0 => len.saturating_sub(limit),
            None => 0,
        };
        start..start.saturating_add(limit).min(len)
    }
}
