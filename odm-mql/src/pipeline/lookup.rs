//! `$lookup`: the documents of another collection that belong to a document.

use std::{collections::HashMap, sync::Arc};

use bson::{Bson, Document, RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use super::{
    Pipeline, Stage,
    bounds::made,
    nested::with_value,
    parse::{self, PipelineContext},
    run::{Documents, SourceRequest},
};
use crate::{
    Collation, Error, Expr, Filter, Test, key,
    path::{self, Leaf, visit},
};

/// The stage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LookupStage {
    pub(super) from: String,
    /// The path of the array, which leads through documents only.
    pub(super) to: String,
    /// The paths of the local and of the foreign field of a join by equal fields.
    pub(super) fields: Option<(String, String)>,
    pub(super) inner: InnerPipeline,
    /// Whether `$facet` is a stage of its pipeline, or of a pipeline in that.
    pub(super) has_facet: bool,
    /// By which texts are compared.
    pub(super) collation: Option<Collation>,
}

/// The stages that the documents of the other collection pass.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum InnerPipeline {
    None,
    /// The same stages for each local document.
    Fixed(Pipeline),
    /// Stages with variables, which each local document gives other values.
    Bound(BoundPipeline),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct BoundPipeline {
    /// The names in `let`, with their expressions on the local document.
    pub(super) bindings: Vec<(String, Expr)>,
    pub(super) stages: Vec<Document>,
    /// The context without these variables.
    pub(super) context: PipelineContext,
}

impl BoundPipeline {
    fn bind(&self, local: &RawDocument) -> Result<Pipeline, Error> {
        let value = |(name, expr): &(String, Expr)| Ok((name.clone(), expr.evaluate(local)?));
        let context = self.context.bind(self.bindings.iter().map(value))?;
        parse::pipeline(&self.stages, &context)
    }
}

impl LookupStage {
    /// Adds the collections that it reads.
    pub(super) fn add_sources<'p>(&'p self, sources: &mut Vec<&'p str>) {
        sources.push(&self.from);
        match &self.inner {
            InnerPipeline::None => {}
            InnerPipeline::Fixed(pipeline) => pipeline.add_sources(sources),
            InnerPipeline::Bound(bound) => add_unparsed(&bound.stages, sources),
        }
    }
}

/// Adds the collections that stages read, which were parsed before, so that their nesting is bounded.
fn add_unparsed<'p>(stages: impl IntoIterator<Item = &'p Document>, sources: &mut Vec<&'p str>) {
    for (name, operand) in stages.into_iter().flatten() {
        let pipelines: Vec<&Bson> = match (name.as_str(), operand) {
            ("$lookup", Bson::Document(lookup)) => {
                sources.extend(lookup.get("from").and_then(Bson::as_str));
                lookup.get("pipeline").into_iter().collect()
            }
            ("$unionWith", Bson::String(from)) => {
                sources.push(from);
                Vec::new()
            }
            ("$unionWith", Bson::Document(union)) => {
                sources.extend(union.get("coll").and_then(Bson::as_str));
                union.get("pipeline").into_iter().collect()
            }
            ("$facet", Bson::Document(facets)) => facets.values().collect(),
            _ => Vec::new(),
        };
        for pipeline in pipelines.into_iter().filter_map(Bson::as_array) {
            add_unparsed(pipeline.iter().filter_map(Bson::as_document), sources);
        }
    }
}

/// Documents that wait for documents of the other collection.
#[derive(Debug)]
pub(super) struct LookupRun {
    stage: Arc<LookupStage>,
    waiting: Vec<RawDocumentBuf>,
    /// The number of documents that the next join by equal fields takes.
    batch: usize,
    /// The one answer for all local documents, once it is there.
    answer: Option<Arc<RawArrayBuf>>,
}

/// The number of documents of the first join by equal fields, and the greatest number.
const BATCHES: (usize, usize) = (32, 256);

/// The number of bytes of an answer after which the next join takes fewer documents.
const LARGE_ANSWER: usize = 4 << 20;

impl LookupRun {
    pub(super) fn new(stage: LookupStage) -> LookupRun {
        LookupRun {
            stage: Arc::new(stage),
            waiting: Vec::new(),
            batch: BATCHES.0,
            answer: None,
        }
    }

    /// Takes documents, and asks for the documents of the other collection, unless they are known.
    pub(super) fn take(
        &mut self,
        documents: &mut impl Iterator<Item = RawDocumentBuf>,
    ) -> Result<Option<SourceRequest>, Error> {
        let most = match (&self.stage.fields, &self.stage.inner) {
            (_, InnerPipeline::None) | (None, InnerPipeline::Fixed(_)) => self.batch,
            // Each document has a pipeline of its own.
            (Some(_), InnerPipeline::Fixed(_)) | (_, InnerPipeline::Bound(_)) => 1,
        };
        self.waiting.extend(documents.take(most));
        match self.waiting.is_empty() || self.answer.is_some() {
            true => Ok(None),
            false => self.request().map(Some),
        }
    }

    fn request(&self) -> Result<SourceRequest, Error> {
        let stage = &self.stage;
        let mut pipeline = match (&stage.inner, self.waiting.first()) {
            (InnerPipeline::Fixed(pipeline), _) => pipeline.clone(),
            (InnerPipeline::Bound(bound), Some(local)) => bound.bind(local)?,
            (InnerPipeline::Bound(_), None) | (InnerPipeline::None, _) => Pipeline::default(),
        };
        if let Some((local, foreign)) = &stage.fields {
            let collation = stage.collation.as_ref();
            let filter = equal_to_some(&self.waiting, local, foreign, collation);
            pipeline.stages.insert(0, Stage::Match(filter));
        }
        Ok(SourceRequest {
            from: stage.from.clone(),
            pipeline,
        })
    }

    /// The documents that have waited, once the others are there.
    pub(super) fn answer(&mut self, foreign: Vec<RawDocumentBuf>) -> Documents {
        let stage = Arc::clone(&self.stage);
        if let (Some((local_field, foreign_field)), InnerPipeline::None) =
            (&stage.fields, &stage.inner)
        {
            let bytes: usize = foreign.iter().map(|other| other.as_bytes().len()).sum();
            self.batch = match bytes > LARGE_ANSWER {
                true => (self.batch / 2).max(1),
                false => (self.batch * 2).min(BATCHES.1),
            };
            let locals = std::mem::take(&mut self.waiting);
            let key = |value: RawBsonRef<'_>| key::of_by(stage.collation.as_ref(), value);
            let found = matches(&locals, local_field, &foreign, foreign_field, key);
            let each = locals.into_iter().zip(found);
            return Box::new(each.map(move |(local, found)| {
                let found = array(found.iter().map(|at| &foreign[*at]));
                attach(&local, &stage.to, &found)
            }));
        }
        // A join by equal fields has chosen them before they passed the pipeline.
        let all = Arc::new(array(foreign.iter()));
        if let (None, InnerPipeline::Fixed(_)) = (&stage.fields, &stage.inner) {
            self.answer = Some(all.clone());
        }
        self.attach_all(all)
    }

    /// The documents that have waited, if the one answer for all is there.
    pub(super) fn known(&mut self) -> Option<Documents> {
        let all = self.answer.clone()?;
        Some(self.attach_all(all))
    }

    fn attach_all(&mut self, all: Arc<RawArrayBuf>) -> Documents {
        let stage = Arc::clone(&self.stage);
        let locals = std::mem::take(&mut self.waiting).into_iter();
        Box::new(locals.map(move |local| attach(&local, &stage.to, &all)))
    }
}

fn array<'d>(documents: impl Iterator<Item = &'d RawDocumentBuf>) -> RawArrayBuf {
    let mut array = RawArrayBuf::new();
    for document in documents {
        array.push(RawBsonRef::Document(document));
    }
    array
}

fn attach(
    local: &RawDocument,
    path: &str,
    documents: &RawArrayBuf,
) -> Result<RawDocumentBuf, Error> {
    made(with_value(local, path, Some(RawBsonRef::Array(documents)))?)
}

/// The values of a local field by which documents are joined: an array counts as its elements, and null stands for no value.
fn local_values<'a>(local: &'a RawDocument, path: &str) -> Vec<RawBsonRef<'a>> {
    let mut values = Vec::new();
    visit_local(local, path, &mut |value| values.push(value));
    if values.is_empty() {
        values.push(RawBsonRef::Null);
    }
    values
}

/// Unlike in a filter a number in a path is only a position if it comes after an array.
fn visit_local<'a>(document: &'a RawDocument, path: &str, each: &mut impl FnMut(RawBsonRef<'a>)) {
    let (name, mut rest) = path::split(path);
    let mut value = path::get(document, name);
    while let (Some(RawBsonRef::Array(array)), Some(path)) = (value, rest)
        && let (name, after) = path::split(path)
        && let Some(at) = path::position(name)
    {
        (value, rest) = (path::elements(array).nth(at), after);
    }
    match (value, rest) {
        (Some(RawBsonRef::Array(array)), None) => path::elements(array).for_each(each),
        (Some(value), None) => each(value),
        (Some(RawBsonRef::Document(inner)), Some(rest)) => visit_local(inner, rest, each),
        (Some(RawBsonRef::Array(array)), Some(rest)) => {
            for element in path::elements(array) {
                if let RawBsonRef::Document(inner) = element {
                    visit_local(inner, rest, each);
                }
            }
        }
        (Some(_), Some(_)) | (None, _) => {}
    }
}

/// The condition that a foreign document belongs to one of the local ones.
fn equal_to_some(
    locals: &[RawDocumentBuf],
    local: &str,
    foreign: &str,
    collation: Option<&Collation>,
) -> Filter {
    let mut values: HashMap<Vec<u8>, RawBson, ahash::RandomState> = HashMap::default();
    for document in locals {
        for value in local_values(document, local) {
            let values = values.entry(key::of_by(collation, value));
            values.or_insert_with(|| value.into());
        }
    }
    let mut values: Vec<(Vec<u8>, RawBson)> = values.into_iter().collect();
    values.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let mut values: Vec<RawBson> = values.into_iter().map(|(_, value)| value).collect();
    let test = match values.len() {
        1 => Test::Eq(values.remove(0)),
        _ => Test::In(values.into()),
    };
    Filter::Path(foreign.to_owned().into(), test).collated(collation)
}

/// The positions of the foreign documents that belong to each local one.
fn matches(
    locals: &[RawDocumentBuf],
    local_field: &str,
    foreign: &[RawDocumentBuf],
    foreign_field: &str,
    key: impl Fn(RawBsonRef<'_>) -> Vec<u8>,
) -> Vec<Vec<usize>> {
    let keys = locals.iter().map(|local| {
        let values = local_values(local, local_field).into_iter();
        values.map(&key).collect::<Vec<_>>()
    });
    let keys: Vec<Vec<Vec<u8>>> = keys.collect();
    let mut found: HashMap<&[u8], Vec<usize>, ahash::RandomState> = HashMap::default();
    for key in keys.iter().flatten() {
        found.entry(key).or_default();
    }
    for (at, document) in foreign.iter().enumerate() {
        // The values that a filter sees.
        visit(document, foreign_field, Leaf::Elements, &mut |value| {
            let key = key(value.unwrap_or(RawBsonRef::Null));
            if let Some(found) = found.get_mut(&*key)
                && found.last() != Some(&at)
            {
                found.push(at);
            }
            false
        });
    }
    let of_keys = |keys: &Vec<Vec<u8>>| {
        let all = keys.iter().filter_map(|key| found.get(&**key));
        let mut all: Vec<usize> = all.flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    keys.iter().map(of_keys).collect()
}
