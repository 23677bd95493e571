//! `$lookup`, `$unionWith` and `$facet`: the stages with pipelines in them.

use bson::{Bson, Document};

use super::{PipelineContext, StageScope, check_path, pipeline, string, unknown_option};
use crate::{
    Error, Expr,
    error::code,
    path,
    pipeline::{
        Pipeline, Stage,
        lookup::{BoundPipeline, InnerPipeline, LookupStage},
        union::UnionStage,
    },
    types::bad_as,
};

/// The greatest number of pipelines of `$lookup` and `$unionWith` in each other.
const MAX_DEPTH: usize = 20;

impl StageScope<'_> {
    pub(super) fn lookup(&self, document: &Document) -> Result<LookupStage, Error> {
        let bad = |expected| bad_as(code::FAILED_TO_PARSE, "$lookup", expected);
        let bad_type = |expected| bad_as(code::TYPE_MISMATCH, "$lookup", expected);
        let (mut from, mut to, mut local, mut foreign) = (None, None, None, None);
        let (mut variables, mut stages) = (None, None);
        for (name, value) in document {
            let field = match name.as_str() {
                "from" => &mut from,
                "as" => &mut to,
                "localField" => &mut local,
                "foreignField" => &mut foreign,
                "let" => {
                    variables = match value {
                        Bson::Document(document) => Some(document),
                        Bson::Null => None,
                        _ => return Err(bad_type("an object as `let`")),
                    };
                    continue;
                }
                "pipeline" => {
                    stages = match value {
                        Bson::Null => None,
                        value => Some(stages_of("$lookup", value, code::TYPE_MISMATCH)?),
                    };
                    continue;
                }
                other => return Err(unknown_option(code::FAILED_TO_PARSE, "$lookup", other)),
            };
            *field = match (name.as_str(), value) {
                ("from", value) => Some(string(name, value, code::FAILED_TO_PARSE)?),
                (_, Bson::Null) => None,
                (_, value) => Some(string(name, value, code::TYPE_MISMATCH)?),
            };
            *field = field.filter(|text| !text.is_empty());
        }
        let from = from.ok_or_else(|| bad("the collection as `from`"))?;
        let to = to.ok_or_else(|| bad("the path of the result as `as`"))?;
        check_path(to)?;
        let fields = match (local, foreign) {
            (Some(local), Some(foreign)) => {
                check_path(local)?;
                check_path(foreign)?;
                Some((local.to_owned(), foreign.to_owned()))
            }
            (None, None) => None,
            _ => return Err(bad("both `localField` and `foreignField`, or none of them")),
        };
        let (inner, has_facet) = match stages {
            Some(stages) => self.inner(variables, stages)?,
            None if fields.is_none() => {
                return Err(bad("a `pipeline`, or `localField` and `foreignField`"));
            }
            None if variables.is_some() => return Err(bad("a `pipeline` with `let`")),
            None => (InnerPipeline::None, false),
        };
        Ok(LookupStage {
            from: from.to_owned(),
            to: to.to_owned(),
            fields,
            inner,
            has_facet,
            collation: self.collation().cloned(),
        })
    }

    /// The pipeline of a `$lookup`, and whether there is a `$facet` in it.
    fn inner(
        &self,
        bound: Option<&Document>,
        stages: Vec<Document>,
    ) -> Result<(InnerPipeline, bool), Error> {
        let context = self.deeper("$lookup")?;
        let bindings = bound.into_iter().flatten();
        let bindings = bindings.map(|(name, value)| Ok((name.clone(), self.expr(value)?)));
        let bindings: Vec<(String, Expr)> = bindings.collect::<Result<_, Error>>()?;
        let checked = match bindings.is_empty() {
            true => {
                // The values of all variables together are bounded.
                let scope = StageScope {
                    context: &context,
                    ..*self
                };
                scope.pipeline(&stages)?
            }
            false => {
                // The stages are checked with missing values, and parsed again with those of each document.
                let missing = bindings.iter().map(|(name, _)| Ok((name.clone(), None)));
                pipeline(&stages, &context.bind(missing)?)?
            }
        };
        let has_facet = checked.facet().is_some();
        let inner = match bindings.is_empty() {
            true => InnerPipeline::Fixed(checked),
            false => InnerPipeline::Bound(BoundPipeline {
                bindings,
                stages,
                context,
            }),
        };
        Ok((inner, has_facet))
    }

    pub(super) fn union_with(&self, value: &Bson) -> Result<UnionStage, Error> {
        const NAME: &str = "$unionWith";
        let bad = |expected| bad_as(code::FAILED_TO_PARSE, NAME, expected);
        let (mut from, mut stages) = (None, Vec::new());
        match value {
            Bson::String(name) => from = Some(name.as_str()),
            Bson::Document(document) => {
                for (name, value) in document {
                    match (name.as_str(), value) {
                        ("coll" | "pipeline", Bson::Null | Bson::Undefined) => {}
                        ("coll", value) => from = Some(string(name, value, code::TYPE_MISMATCH)?),
                        ("pipeline", value) => {
                            stages = stages_of(NAME, value, code::TYPE_MISMATCH)?;
                        }
                        (other, _) => return Err(unknown_option(40_415, NAME, other)),
                    }
                }
            }
            _ => return Err(bad("the name of a collection, or an object")),
        }
        let from = from.ok_or_else(|| bad("the collection as `coll`"))?;
        if from.is_empty() {
            let expected = "a name that is not empty as `coll`";
            return Err(bad_as(code::INVALID_NAMESPACE, NAME, expected));
        }
        let scope = StageScope {
            context: &self.deeper(NAME)?,
            ..*self
        };
        Ok(UnionStage {
            from: from.to_owned(),
            pipeline: scope.pipeline(&stages)?,
        })
    }

    /// The context of a pipeline in a stage.
    fn deeper(&self, stage: &str) -> Result<PipelineContext, Error> {
        let context = PipelineContext {
            depth: self.context.depth + 1,
            ..self.context.clone()
        };
        match context.depth > MAX_DEPTH {
            true => {
                let expected = "at most 20 pipelines in each other";
                Err(bad_as(code::TOO_MANY_SUB_PIPELINES, stage, expected))
            }
            false => Ok(context),
        }
    }

    pub(super) fn facets(&self, document: &Document) -> Result<Vec<(String, Pipeline)>, Error> {
        if document.is_empty() {
            return Err(bad_as(40_169, "$facet", "at least one pipeline"));
        }
        let facet = |(name, value): (&String, &Bson)| {
            check_name(name)?;
            let Bson::Array(_) = value else {
                return Err(bad_as(40_170, "$facet", "an array for each pipeline"));
            };
            let stages = stages_of("$facet", value, 40_171)?;
            let pipeline = self.pipeline(&stages)?;
            match pipeline.facet() {
                Some(stage) => Err(bad_as(40_600, stage, "to be outside of `$facet`")),
                None => Ok((name.clone(), pipeline)),
            }
        };
        document.iter().map(facet).collect()
    }
}

impl Pipeline {
    /// The stage that is a `$facet`, or has one in its pipeline.
    fn facet(&self) -> Option<&'static str> {
        self.stages.iter().find_map(|stage| match stage {
            Stage::Facet(_) => Some("$facet"),
            Stage::Lookup(lookup) if lookup.has_facet => Some("$lookup"),
            Stage::Union(union) if union.pipeline.facet().is_some() => Some("$unionWith"),
            _ => None,
        })
    }
}

fn stages_of(stage: &str, value: &Bson, code: i32) -> Result<Vec<Document>, Error> {
    let expected = || bad_as(code, stage, "a pipeline, which is an array of objects");
    let stages = value.as_array().ok_or_else(expected)?;
    let stages = stages.iter().map(|stage| stage.as_document().cloned());
    stages.collect::<Option<_>>().ok_or_else(expected)
}

fn check_name(name: &str) -> Result<(), Error> {
    let bad = |reason, code| Err(path::bad(name, reason, code));
    match name {
        "" => bad("the name of a pipeline is empty", 15_998),
        name if name.starts_with('$') => bad("the name of a pipeline begins with `$`", 16_410),
        name if name.contains('\0') => bad("the name of a pipeline has a NUL", 16_411),
        name if name.contains('.') => bad("the name of a pipeline has a dot", 16_412),
        _ => Ok(()),
    }
}
