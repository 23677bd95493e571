//! Updates by a pipeline.

use bson::{Document, RawBsonRef, RawDocument, RawDocumentBuf};

use super::{
    Stage,
    bounds::check_stored,
    each::replace_root,
    parse::{self, PipelineContext},
};
use crate::{
    Collation, Error, Expr, Projection, Variables,
    error::code,
    order, path,
    types::bad_as,
    write::{Name, Writer, fields},
};

/// An update by the stages of a pipeline: `$set` or `$addFields`, `$unset`, `$project`, and `$replaceRoot` or `$replaceWith`.
///
/// ```
/// use odm_mql::{UpdatePipeline, Variables, bson::{doc, rawdoc}};
///
/// let stages = [doc! { "$set": { "total": { "$add": ["$midterm", "$final"] } } }];
/// let update = UpdatePipeline::parse(&stages, &Variables::default())?;
/// let student = rawdoc! { "_id": 1, "midterm": 40, "final": 55 };
/// assert_eq!(
///     update.apply(&student)?,
///     rawdoc! { "_id": 1, "midterm": 40, "final": 55, "total": 95 }
/// );
/// # Ok::<_, odm_mql::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UpdatePipeline {
    stages: Vec<UpdateStage>,
}

#[derive(Debug, Clone, PartialEq)]
enum UpdateStage {
    /// `$set` or `$unset`.
    Change(Projection),
    Project(Projection),
    ReplaceRoot(Expr),
}

impl UpdatePipeline {
    /// Parses the stages of an update, with the values of variables in the place of their names.
    ///
    /// # Errors
    ///
    /// The errors of [`Pipeline::parse`](super::Pipeline::parse), and [`BadOperand`](Error::BadOperand) for a stage that an update cannot
    /// have.
    pub fn parse(stages: &[Document], variables: &Variables) -> Result<UpdatePipeline, Error> {
        UpdatePipeline::parse_collated(stages, variables, None)
    }

    /// Parses the stages of an update as [`parse`](UpdatePipeline::parse) does, with a collation by which all texts are compared.
    ///
    /// # Errors
    ///
    /// The errors of [`parse`](UpdatePipeline::parse).
    pub fn parse_collated(
        stages: &[Document],
        variables: &Variables,
        collation: Option<&Collation>,
    ) -> Result<UpdatePipeline, Error> {
        let context = PipelineContext::new(variables, collation);
        let parsed = parse::pipeline(stages, &context)?;
        let names = stages.iter().filter_map(|stage| stage.keys().next());
        let mut all = Vec::with_capacity(stages.len());
        // A stage that is parsed to several is not allowed, and the first one is reported.
        for (stage, name) in parsed.stages.into_iter().zip(names) {
            all.push(match (stage, name.as_str()) {
                (Stage::Project(projection), "$project") => UpdateStage::Project(projection),
                (Stage::Project(projection), "$set" | "$addFields" | "$unset") => {
                    UpdateStage::Change(projection)
                }
                (Stage::ReplaceRoot(expr), "$replaceRoot" | "$replaceWith") => {
                    UpdateStage::ReplaceRoot(expr)
                }
                (_, name) => {
                    let expected = "to be in an aggregation, not in an update";
                    return Err(bad_as(code::INVALID_OPTIONS, name, expected));
                }
            });
        }
        Ok(UpdatePipeline { stages: all })
    }

    /// Returns the document after the update, which is the same document if nothing changes. Its `_id` stays if the stages remove it, and
    /// comes first.
    ///
    /// # Errors
    ///
    /// [`Immutable`](Error::Immutable) if a stage changes the `_id` of a document that has one; [`TooLarge`](Error::TooLarge) and
    /// [`ResultTooDeep`](Error::ResultTooDeep); [`Expression`](Error::Expression) if an expression fails, or a new document is none.
    pub fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf, Error> {
        let mut after = document.to_owned();
        for stage in &self.stages {
            after = match stage {
                UpdateStage::Change(projection) | UpdateStage::Project(projection) => {
                    projection.apply(&after)?
                }
                UpdateStage::ReplaceRoot(expr) => replace_root(expr, &after)?,
            };
        }
        let after = match (path::get(document, "_id"), path::get(&after, "_id")) {
            (Some(id), Some(new)) if !order::equal(id, new) => {
                return Err(Error::Immutable("_id".to_owned()));
            }
            (id, new) => match new.or(id) {
                Some(id) => with_id_first(&after, id)?,
                None => after,
            },
        };
        check_stored(&after)?;
        Ok(after)
    }

    /// Returns the paths that the stages `$set`, `$addFields` and `$unset` name.
    pub fn named_paths(&self) -> impl Iterator<Item = &str> {
        self.stages.iter().flat_map(|stage| {
            let named = match stage {
                UpdateStage::Change(projection) => Some(projection.paths()),
                UpdateStage::Project(_) | UpdateStage::ReplaceRoot(_) => None,
            };
            named.into_iter().flatten()
        })
    }

    /// Returns whether there is a stage that makes a new document: `$project`, `$replaceRoot` or `$replaceWith`.
    pub fn replaces(&self) -> bool {
        self.stages.iter().any(|stage| match stage {
            UpdateStage::Change(_) => false,
            UpdateStage::Project(_) | UpdateStage::ReplaceRoot(_) => true,
        })
    }

    /// Returns the paths whose values decide about the changes, including paths that an earlier stage sets. The empty path is the whole
    /// document, which `$project` reads, too.
    pub fn read_paths(&self) -> impl Iterator<Item = &str> {
        self.stages.iter().flat_map(|stage| match stage {
            UpdateStage::Change(projection) => projection.computed_from().collect(),
            UpdateStage::Project(_) => vec![""],
            UpdateStage::ReplaceRoot(expr) => expr.paths(),
        })
    }
}

/// The document with this `_id` at its begin.
fn with_id_first(document: &RawDocument, id: RawBsonRef<'_>) -> Result<RawDocumentBuf, Error> {
    let mut out = Writer::with_capacity(document.as_bytes().len());
    let open = out.begin();
    out.element(Name::Field("_id"), id);
    for field in fields(document) {
        let field = field?;
        if field.name() != "_id" {
            out.copy(&field);
        }
    }
    out.finish(open)
}
