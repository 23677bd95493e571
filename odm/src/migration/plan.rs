//! The steps that lead from the stored version to a declaration.

use std::collections::BTreeSet;

use bson::RawBson;
use odm_store::{Error, ErrorKind, Reader, Result};

use super::{Migrations, Step, step::Action};
use crate::catalog::{self, Declaration, Model, Split, StoredDatabase};

/// The steps from the stored version of a database to a newer one, in their order.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) name: String,
    pub(super) to: u32,
    /// The steps, each with its text.
    pub(super) steps: Vec<(String, Step)>,
    /// How many of them are done.
    pub(super) done: usize,
    /// The `_id` of the last document that the next step has processed.
    pub(super) after: Option<RawBson>,
    has_begun: bool,
    splits: Vec<Split>,
}

impl Plan {
    /// Finds the steps that lead from the stored version to a declaration.
    ///
    /// # Errors
    ///
    /// `Schema` if a step is invalid or changes a field that another database declares, or if the migration that has begun had other steps.
    pub(crate) async fn new(
        reader: &dyn Reader,
        stored: &StoredDatabase,
        declaration: &Declaration,
        migrations: &Migrations,
        models: &[&'static Model],
    ) -> Result<Self> {
        let to = declaration.version;
        if let Some(last) = migrations.last().filter(|last| *last > to) {
            return Err(schema(format!(
                "missing version: `{}` has steps to version {last}, and its version is {to}; increase `version`",
                declaration.name
            )));
        }
        let listed = migrations.between(stored.version, to);
        let listed = listed.map(|(version, step)| (version, step.clone()));
        let renamings = models.iter().flat_map(|model| {
            let renamed = model.renamed.iter();
            let renamed = renamed.filter(|of| stored.is_before(model.collection, of.from, of.to));
            renamed.map(|of| (to, Step::rename(model.collection, of.from, of.to)))
        });
        let (before, last): (Vec<_>, Vec<_>) = listed.partition(|(version, _)| *version < to);
        let steps = before.into_iter().chain(renamings).chain(last);
        let steps: Vec<(String, Step)> = steps
            .map(|(version, step)| (format!("version {version}: {step}"), step))
            .collect();
        for (_, step) in &steps {
            if let Action::Invalid(error) = &step.action {
                return Err(error.clone());
            }
        }
        let begun = stored.migration.as_ref();
        let begun = begun.filter(|migration| migration.has_begun());
        let done = begun.map_or(&[][..], |begun| &begun.done);
        for (at, done) in done.iter().enumerate() {
            if steps.get(at).is_none_or(|(text, _)| text != done) {
                return Err(schema(format!(
                    "changed migration: a migration of `{}` has begun with the step `{done}`, which is not at \
                     its place any more; keep the steps as they were, and add others after them",
                    declaration.name
                )));
            }
        }
        let plan = Plan {
            name: declaration.name.clone(),
            to,
            done: done.len(),
            after: begun.and_then(|begun| begun.after.clone()),
            has_begun: begun.is_some(),
            splits: stored.relations.splits.clone(),
            steps,
        };
        if plan.steps.is_empty() {
            return Ok(plan);
        }
        if stored.version == to {
            return Err(schema(format!(
                "the models of `{}` changed without a new version: {} needs one; increase `version`",
                declaration.name, plan.steps[0].0
            )));
        }
        catalog::check_owned(reader, &declaration.name, &plan.touched()).await?;
        Ok(plan)
    }

    /// The plan of a database that is new on the store, or has nothing to migrate.
    pub(crate) fn empty(declaration: &Declaration) -> Self {
        Plan {
            name: declaration.name.clone(),
            to: declaration.version,
            steps: Vec::new(),
            done: 0,
            after: None,
            has_begun: false,
            splits: Vec::new(),
        }
    }

    /// Whether documents may have been changed already, in place, so that no older version can go on.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Whether a step is left.
    pub(crate) fn has_left(&self) -> bool {
        self.done < self.steps.len()
    }

    /// The number of steps.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The steps that are left, in words.
    pub(crate) fn left(&self) -> impl Iterator<Item = &str> {
        self.steps[self.done..]
            .iter()
            .map(|(text, _)| text.as_str())
    }

    /// The collections whose documents the steps that are left read or change.
    pub(crate) fn collections(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        for (_, step) in &self.steps[self.done..] {
            all.insert(step.collection.clone());
            all.extend(
                step.touched
                    .iter()
                    .map(|(collection, _)| collection.clone()),
            );
            if let Action::Inline { path } = &step.action
                && let Some(split) = self.split(&step.collection, path)
            {
                all.insert(split.cold.clone());
            }
        }
        all
    }

    /// The fields that the steps change, each as a collection and a path.
    pub(crate) fn touched(&self) -> Vec<(String, String)> {
        let mut touched = Vec::new();
        for (_, step) in &self.steps {
            touched.extend(step.touched.iter().cloned());
            if let Action::Inline { path } = &step.action
                && let Some(split) = self.split(&step.collection, path)
            {
                touched.push((split.cold.clone(), String::new()));
            }
        }
        touched
    }

    pub(super) fn split(&self, collection: &str, path: &str) -> Option<&Split> {
        let mut splits = self.splits.iter();
        splits.find(|split| split.hot == collection && split.path == path)
    }
}

fn schema(message: String) -> Error {
    Error::new(ErrorKind::Schema, message)
}
