//! Views: pipelines of collections that are read as collections.
//!
//! A view is resolved where an aggregation begins to read a collection, so that a `$lookup` from a view needs no code of its own.

use std::collections::{BTreeMap, HashMap, HashSet, hash_map::Entry};

use bson::{Document, doc};
use odm_mql::{Collation, Pipeline, Variables};
use odm_store::{Error, ErrorKind, Result};

use super::Catalog;

/// The greatest number of views that are made of each other, with MongoDB's code of more.
const MAX_DEPTH: usize = 20;
const VIEW_DEPTH_LIMIT_EXCEEDED: i32 = 165;

/// MongoDB's code of a command that is not for views.
pub(super) const COMMAND_NOT_SUPPORTED_ON_VIEW: i32 = 166;

/// MongoDB's code of a view with another collation than the view that it is made of.
const OPTION_NOT_SUPPORTED_ON_VIEW: i32 = 167;

/// MongoDB's code of views that are made of each other in a cycle.
const GRAPH_CONTAINS_CYCLE: i32 = 5;

/// A view: the documents that leave a pipeline of a collection, which is run by each read of the view.
///
/// [`Collection::create_view`](crate::Collection::create_view) makes one.
///
/// ```
/// use odm::{bson::doc, collections::View};
///
/// let view = View::new("parts", [doc! { "$match": { "qty": { "$lt": 10_i64 } } }]);
/// assert_eq!((view.on.as_str(), view.pipeline.len()), ("parts", 1));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct View {
    /// The collection, or the other view, whose documents the pipeline is given.
    pub on: String,
    /// The stages of the pipeline, in MongoDB's form.
    pub pipeline: Vec<Document>,
    /// The collation by which it compares texts. That of the collection does not count.
    pub collation: Option<Collation>,
}

impl View {
    /// A view of a collection, without a collation.
    ///
    /// ```
    /// let all = odm::collections::View::new("parts", []);
    /// assert_eq!(all.collation, None);
    /// ```
    pub fn new(on: impl Into<String>, pipeline: impl IntoIterator<Item = Document>) -> Self {
        View {
            on: on.into(),
            pipeline: pipeline.into_iter().collect(),
            collation: None,
        }
    }

    /// Parses the pipeline.
    ///
    /// # Errors
    ///
    /// `InvalidQuery` for a stage that the query language does not have, or a wrong one.
    pub(crate) fn parsed(&self) -> Result<Pipeline> {
        let variables = Variables::default();
        Ok(Pipeline::parse_collated(
            &self.pipeline,
            &variables,
            self.collation.as_ref(),
        )?)
    }

    /// The pipeline as a document, in which it is stored: the names of operators are no names of fields.
    pub(super) fn form(&self) -> Document {
        doc! { "pipeline": self.pipeline.clone() }
    }
}

impl Catalog {
    /// The view of a name, if it is one.
    pub(crate) fn view(&self, name: &str) -> Option<&View> {
        self.views.get(name)
    }

    /// All views, in the order of their names.
    pub(crate) fn views(&self) -> impl Iterator<Item = (&str, &View)> {
        self.views.iter().map(|(name, view)| (name.as_str(), view))
    }

    /// Refuses operations that are only for collections.
    ///
    /// # Errors
    ///
    /// `InvalidQuery` with MongoDB's code, if it is the name of a view.
    pub(crate) fn refuse_view(&self, name: &str) -> Result<()> {
        let Some(view) = self.views.get(name) else {
            return Ok(());
        };
        let message = format!(
            "`{name}` is a view, not a collection: use `{}`, of which it is made, or an aggregation",
            view.on
        );
        let error = Error::new(ErrorKind::InvalidQuery, message).at(name, None, None);
        Err(error.with_code(COMMAND_NOT_SUPPORTED_ON_VIEW))
    }

    /// The collection that a view is made of, also by other views, and the pipelines of all of them.
    fn resolve(&self, view: &str) -> Result<(String, Pipeline)> {
        let (mut collection, mut pipeline) = (view, Pipeline::default());
        // No view is made of more, since the stored ones are checked.
        for _ in 0..MAX_DEPTH {
            let Some(view) = self.views.get(collection) else {
                break;
            };
            pipeline = view.parsed()?.then(pipeline);
            collection = &view.on;
        }
        Ok((collection.to_owned(), pipeline))
    }
}

/// The views that a statement reads, each of which is parsed once, however often a `$lookup` reads it. So `$$NOW` is one time in all of it.
#[derive(Debug, Default)]
pub(crate) struct ParsedViews(HashMap<String, (String, Pipeline)>);

impl ParsedViews {
    /// The collection that a pipeline reads, if it is one of a view, and the pipeline after the pipelines of the views before it.
    pub(crate) fn through(
        &mut self,
        catalog: &Catalog,
        collection: String,
        pipeline: Pipeline,
    ) -> Result<(String, Pipeline)> {
        let (on, before) = match self.0.entry(collection) {
            Entry::Occupied(parsed) => parsed.into_mut(),
            Entry::Vacant(other) if catalog.view(other.key()).is_none() => {
                return Ok((other.into_key(), pipeline));
            }
            Entry::Vacant(view) => {
                let resolved = catalog.resolve(view.key())?;
                view.insert(resolved)
            }
        };
        Ok((on.clone(), before.clone().then(pipeline)))
    }
}

/// Checks that views, of which one is new, can be made of each other.
///
/// # Errors
///
/// `InvalidQuery` with MongoDB's code, if they are in a cycle, too deep, or have different collations; the errors of their pipelines.
pub(super) fn check(views: &BTreeMap<String, View>) -> Result<()> {
    let mut heights = HashMap::new();
    for name in views.keys() {
        height(views, name, &mut Vec::new(), &mut heights)?;
    }
    Ok(())
}

/// How many views the longest chain from a view down has.
fn height<'v>(
    views: &'v BTreeMap<String, View>,
    name: &'v str,
    above: &mut Vec<&'v str>,
    heights: &mut HashMap<&'v str, usize>,
) -> Result<usize> {
    let Some(view) = views.get(name) else {
        return Ok(0);
    };
    let refused = |code: i32, message: String| {
        let error = Error::new(ErrorKind::InvalidQuery, message).at(name, None, None);
        Err(error.with_code(code))
    };
    if above.contains(&name) {
        let names = [above.as_slice(), &[name]].concat().join(" => ");
        return refused(
            GRAPH_CONTAINS_CYCLE,
            format!("View cycle detected: {names}"),
        );
    }
    let too_deep = || {
        let message = format!("View depth limit exceeded; maximum depth is {MAX_DEPTH}");
        refused(VIEW_DEPTH_LIMIT_EXCEEDED, message)
    };
    if above.len() >= MAX_DEPTH {
        return too_deep();
    }
    if let Some(height) = heights.get(name) {
        if above.len() + height > MAX_DEPTH {
            return too_deep();
        }
        return Ok(*height);
    }
    let parsed = view.parsed()?;
    let read: HashSet<&str> = parsed.sources().into_iter().chain([&*view.on]).collect();
    above.push(name);
    let mut highest = 0;
    for below in read {
        let Some((below, of)) = views.get_key_value(below) else {
            continue;
        };
        if of.collation != view.collation {
            let message = format!("View {name} has conflicting collation with view {below}");
            return refused(OPTION_NOT_SUPPORTED_ON_VIEW, message);
        }
        highest = highest.max(height(views, below, above, heights)?);
    }
    above.pop();
    heights.insert(name, highest + 1);
    Ok(highest + 1)
}
