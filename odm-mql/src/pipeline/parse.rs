//! The parser of MongoDB's form of a pipeline.

mod grouped;
mod joined;

use std::sync::Arc;

use bson::{Bson, DateTime, Document, RawBson, RawBsonRef};

use super::{Pipeline, Stage, unwind::UnwindStage};
use crate::{
    Collation, Error, Expr, Projection, Sort, Variables,
    decimal::{Decimal, half_to_even},
    error::code,
    filter::{self, FilterScope},
    order, path,
    types::{self, MAX_NESTING, as_number, bad_as, check_nesting, unknown, whole_number},
    variables::Substitution,
};

/// The greatest number of stages.
const MAX_STAGES: usize = 1_000;

/// Stages of MongoDB that are not supported, with the alternative.
pub(super) const UNSUPPORTED: [(&str, &str); 30] = [
    ("$bucketAuto", "name the boundaries in `$bucket`"),
    ("$changeStream", "watch the collection"),
    ("$changeStreamSplitLargeEvent", "watch the collection"),
    ("$collStats", NO_STATISTICS),
    ("$currentOp", NO_STATISTICS),
    ("$densify", "add the missing values after the pipeline"),
    ("$documents", "read the documents of a collection"),
    ("$fill", "name the values in `$set`"),
    ("$geoNear", "keep a geohash in a field"),
    ("$graphLookup", "write a `$lookup` for each level"),
    ("$indexStats", NO_STATISTICS),
    ("$listClusterCatalog", NO_STATISTICS),
    ("$listLocalSessions", NO_STATISTICS),
    ("$listSampledQueries", NO_STATISTICS),
    ("$listSearchIndexes", NO_SEARCH),
    ("$listSessions", NO_STATISTICS),
    ("$merge", WRITE),
    ("$out", WRITE),
    ("$planCacheStats", NO_STATISTICS),
    ("$queryStats", NO_STATISTICS),
    ("$querySettings", NO_STATISTICS),
    ("$rankFusion", NO_SEARCH),
    ("$redact", "choose the fields in `$project`"),
    ("$score", NO_SEARCH),
    ("$scoreFusion", NO_SEARCH),
    ("$search", NO_SEARCH),
    ("$searchMeta", NO_SEARCH),
    (
        "$setWindowFields",
        "group the documents, or compute after the pipeline",
    ),
    ("$shardedDataDistribution", NO_STATISTICS),
    ("$vectorSearch", NO_SEARCH),
];

const NO_STATISTICS: &str = "a pipeline reads no statistics of a server";
const NO_SEARCH: &str = "match documents by `$match`";
const WRITE: &str = "write the results after the pipeline";

/// Parses a pipeline.
pub(super) fn pipeline(stages: &[Document], context: &PipelineContext) -> Result<Pipeline, Error> {
    let scope = StageScope {
        context,
        substitution: &Substitution::at(context.now, &context.variables),
    };
    scope.pipeline(stages)
}

/// The surroundings of a pipeline.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PipelineContext {
    variables: Arc<Variables>,
    /// The time of the whole request.
    now: DateTime,
    /// By which texts are compared.
    collation: Option<Collation>,
    /// The number of the pipelines of `$lookup` and `$unionWith` that it is in.
    depth: usize,
}

impl PipelineContext {
    pub(super) fn new(variables: &Variables, collation: Option<&Collation>) -> PipelineContext {
        PipelineContext {
            variables: Arc::new(variables.clone()),
            now: DateTime::now(),
            collation: collation.cloned(),
            depth: 0,
        }
    }

    /// The same context with more variables, some of which may be missing.
    pub(super) fn bind(
        &self,
        values: impl IntoIterator<Item = Result<(String, Option<RawBson>), Error>>,
    ) -> Result<PipelineContext, Error> {
        let mut variables = Variables::clone(&self.variables);
        for value in values {
            let (name, value) = value?;
            variables.bind(name, value)?;
        }
        Ok(PipelineContext {
            variables: Arc::new(variables),
            ..self.clone()
        })
    }
}

/// The scope of the stages of a pipeline.
pub(super) struct StageScope<'v> {
    context: &'v PipelineContext,
    substitution: &'v Substitution<'v>,
}

struct StageParser<'s> {
    scope: &'s StageScope<'s>,
    stages: Vec<Stage>,
}

impl StageScope<'_> {
    fn pipeline(&self, stages: &[Document]) -> Result<Pipeline, Error> {
        if stages.len() > MAX_STAGES {
            return Err(bad_as(7_749_501, "pipeline", "at most 1000 stages"));
        }
        let mut parser = StageParser {
            scope: self,
            stages: Vec::with_capacity(stages.len()),
        };
        stages.iter().try_for_each(|stage| parser.stage(stage))?;
        Ok(Pipeline {
            stages: parser.stages,
        })
    }

    pub(super) fn expr(&self, value: &Bson) -> Result<Expr, Error> {
        let expr = Expr::parse_in(value, self.substitution)?;
        Ok(expr.collated(self.collation()))
    }

    pub(super) fn collation(&self) -> Option<&Collation> {
        self.context.collation.as_ref()
    }
}

impl StageParser<'_> {
    fn stage(&mut self, stage: &Document) -> Result<(), Error> {
        let mut fields = stage.iter();
        let (Some((name, value)), None) = (fields.next(), fields.next()) else {
            return Err(bad_as(40_323, "pipeline", "just one field in each stage"));
        };
        check_nesting(value, MAX_NESTING)?;
        let stage = match name.as_str() {
            "$match" => {
                let scope = FilterScope::Document(self.scope.substitution);
                let filter = filter::parse_in(object(name, value, 15_959)?, scope)?;
                Stage::Match(filter.collated(self.scope.collation()))
            }
            "$sort" => {
                let sort = sort(object(name, value, 15_973)?)?;
                Stage::Sort(sort.collated(self.scope.collation()))
            }
            "$skip" => Stage::Skip(whole(name, value, 5_107_200)?),
            "$limit" => match whole(name, value, 5_107_201)? {
                0 => return Err(bad_as(15_958, name, "a positive number")),
                limit => Stage::Limit(limit),
            },
            "$sample" => Stage::Sample(sample(object(name, value, 28_745)?)?),
            "$project" => {
                let projection = self.project(object(name, value, 15_969)?)?;
                Stage::Project(projection.collated(self.scope.collation()))
            }
            "$set" | "$addFields" => {
                let fields = object(name, value, 40_272)?;
                let projection = Projection::parse_set(fields, self.scope.substitution)?;
                Stage::Project(projection.collated(self.scope.collation()))
            }
            "$unset" => Stage::Project(unset(value)?),
            "$replaceRoot" => self.replace_root(object(name, value, 40_229)?)?,
            "$replaceWith" => Stage::ReplaceRoot(self.scope.expr(value)?),
            "$unwind" => Stage::Unwind(unwind(value)?),
            "$group" => Stage::Group(self.scope.group(object(name, value, 15_947)?)?),
            "$count" => return self.count(value),
            "$sortByCount" => return self.sort_by_count(value),
            "$bucket" => return self.bucket(object(name, value, 40_201)?),
            "$lookup" => Stage::Lookup(Box::new(self.scope.lookup(object(
                name,
                value,
                code::FAILED_TO_PARSE,
            )?)?)),
            "$unionWith" => Stage::Union(self.scope.union_with(value)?),
            "$facet" => Stage::Facet(self.scope.facets(object(name, value, 40_169)?)?),
            other => return Err(no_stage(other)),
        };
        self.stages.push(stage);
        Ok(())
    }

    fn project(&self, document: &Document) -> Result<Projection, Error> {
        match document.is_empty() {
            true => Err(bad_as(51_272, "$project", "at least one field")),
            false => Projection::parse_stage(document, self.scope.substitution),
        }
    }

    fn replace_root(&self, document: &Document) -> Result<Stage, Error> {
        if let Some(other) = document.keys().find(|key| *key != "newRoot") {
            return Err(unknown_option(40_415, "$replaceRoot", other));
        }
        let root = document.get("newRoot");
        let root = root.ok_or_else(|| bad_as(40_414, "$replaceRoot", "`newRoot`"))?;
        Ok(Stage::ReplaceRoot(self.scope.expr(root)?))
    }
}

fn no_stage(name: &str) -> Error {
    match UNSUPPORTED.iter().find(|(other, _)| *other == name) {
        Some((_, instead)) => Error::NotSupported {
            operator: name.to_owned(),
            instead,
            code: code::UNKNOWN_STAGE,
        },
        None => Error::UnknownStage(name.to_owned()),
    }
}

fn unknown_option(code: i32, stage: &str, option: &str) -> Error {
    unknown(code, &format!("{stage}.{option}"))
}

fn object<'d>(name: &str, value: &'d Bson, code: i32) -> Result<&'d Document, Error> {
    value
        .as_document()
        .ok_or_else(|| bad_as(code, name, "an object"))
}

fn string<'d>(name: &str, value: &'d Bson, code: i32) -> Result<&'d str, Error> {
    value.as_str().ok_or_else(|| bad_as(code, name, "a string"))
}

/// Checks the path of a field in a text.
fn check_path(path: &str) -> Result<(), Error> {
    if path.contains('\0') {
        return Err(path::bad(path, "it contains a NUL", 16_411));
    }
    path::check_strictly(path)
}

/// A whole number that is not negative.
fn whole(name: &str, value: &Bson, code: i32) -> Result<u64, Error> {
    let number = whole_number(value).and_then(|number| u64::try_from(number).ok());
    number.ok_or_else(|| bad_as(code, name, "a whole number of 64 bits that is not negative"))
}

pub(super) fn sort(document: &Document) -> Result<Sort, Error> {
    if document.is_empty() {
        return Err(bad_as(15_976, "$sort", "at least one field"));
    }
    if document.contains_key("$natural") {
        let reason = "a part of it begins with `$`";
        return Err(path::bad("$natural", reason, 16_410));
    }
    Sort::parse(document)
}

fn sample(document: &Document) -> Result<u64, Error> {
    let mut size = None;
    for (name, value) in document {
        if name != "size" {
            return Err(unknown_option(28_748, "$sample", name));
        }
        let number =
            as_number(value).ok_or_else(|| bad_as(28_746, "$sample", "a number as its `size`"))?;
        let is_positive = order::compare(number, RawBsonRef::Int32(0)).is_gt();
        // A decimal is rounded, and another number cut. One of more than 64 bits is more than there are documents.
        let cut = match value {
            Bson::Decimal128(value) => Decimal::new(*value).cut(0, half_to_even).truncated(),
            value => types::truncated(value),
        };
        let cut = cut.or(is_positive.then_some(i64::MAX));
        size = Some(cut.and_then(|size| u64::try_from(size).ok()).unwrap_or(0));
    }
    match size {
        None => Err(bad_as(28_749, "$sample", "a `size`")),
        Some(0) => Err(bad_as(28_747, "$sample", "a positive `size`")),
        Some(size) => Ok(size),
    }
}

fn unset(value: &Bson) -> Result<Projection, Error> {
    let only_strings = || bad_as(31_120, "$unset", "strings only");
    let paths: Vec<String> = match value {
        Bson::String(path) => vec![path.clone()],
        Bson::Array(array) if array.is_empty() => {
            return Err(bad_as(31_119, "$unset", "at least one field"));
        }
        Bson::Array(array) => {
            let paths = array.iter().map(|value| value.as_str().map(str::to_owned));
            paths.collect::<Option<_>>().ok_or_else(only_strings)?
        }
        _ => return Err(bad_as(31_002, "$unset", "a string or an array of strings")),
    };
    if let Some(path) = paths.iter().find(|path| path.contains('\0')) {
        return Err(path::bad(path, "it contains a NUL", 9_527_900));
    }
    Projection::exclude(paths)
}

fn unwind(value: &Bson) -> Result<UnwindStage, Error> {
    let bad = |code, expected| bad_as(code, "$unwind", expected);
    let (mut path, mut index, mut preserves) = (None, None, false);
    match value {
        Bson::String(text) => path = Some(text.as_str()),
        Bson::Document(document) => {
            for (name, value) in document {
                match (name.as_str(), value) {
                    ("path", Bson::String(text)) => path = Some(text),
                    ("path", _) => return Err(bad(28_808, "a string as its `path`")),
                    ("preserveNullAndEmptyArrays", Bson::Boolean(value)) => preserves = *value,
                    ("preserveNullAndEmptyArrays", _) => {
                        return Err(bad(28_809, "a boolean as `preserveNullAndEmptyArrays`"));
                    }
                    ("includeArrayIndex", Bson::String(text)) if !text.is_empty() => {
                        if text.starts_with('$') {
                            let expected = "an `includeArrayIndex` without `$` at its begin";
                            return Err(bad(28_822, expected));
                        }
                        check_path(text)?;
                        index = Some(text.clone());
                    }
                    ("includeArrayIndex", _) => {
                        let expected = "a string that is not empty as `includeArrayIndex`";
                        return Err(bad(28_810, expected));
                    }
                    (other, _) => return Err(unknown_option(28_811, "$unwind", other)),
                }
            }
        }
        _ => return Err(bad(15_981, "a path or an object")),
    }
    let path = path.ok_or_else(|| bad(28_812, "a `path`"))?;
    let path = path
        .strip_prefix('$')
        .ok_or_else(|| bad(28_818, "`$` at the begin of its path"))?;
    check_path(path)?;
    Ok(UnwindStage {
        path: path.to_owned(),
        index,
        preserves,
    })
}
