//! The changes that a version of the models makes on a store, in words.

use std::fmt;

use super::{Failure, Plan, failure::Failures};
use crate::catalog::{Declaration, FieldChange, FieldChangeKind, StoredDatabase, differences};

/// The changes that opening a database makes on a store; see [`Database::check`](crate::Database::check). As text, it has a line for each.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let changes = Shop::check(&Embedded::memory().await?).await?;
/// println!("{changes}"); // a line for each step, field and relation
/// assert_eq!((changes.database.as_str(), changes.from, changes.to), ("shop", None, 1));
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SchemaChanges {
    /// The name of the database.
    pub database: String,
    /// The version that is stored; `None` if the database is new on the store.
    pub from: Option<u32>,
    /// The version of the models.
    pub to: u32,
    /// The steps of the migration that are left.
    pub steps: Vec<String>,
    /// The differences between the models of the two versions, without fields that the steps remove or rename.
    pub fields: Vec<FieldChange>,
    /// The new and changed relations, as
    /// `collection.path`. Over existing documents they are pending until [`backfill`](crate::Database::backfill).
    pub new_relations: Vec<String>,
    /// The removed relations, which are not maintained from then on.
    pub gone_relations: Vec<String>,
    /// The documents for which `open` would fail: the first 1,000.
    pub failures: Vec<Failure>,
    /// The number of all failures. If a step fails on a document, further failures of the document are not known.
    pub failure_count: u64,
}

impl SchemaChanges {
    pub(crate) fn new(stored: &StoredDatabase, declaration: &Declaration, plan: &Plan) -> Self {
        let (before, after) = (&stored.relations, &declaration.relations);
        let new = after.fields_not_in(before);
        let gone = before.fields_not_in(after);
        let mut fields = match &stored.models {
            Some(models) => differences(models, &declaration.models),
            None => Vec::new(),
        };
        // The list of steps tells which fields a step removes or renames.
        let touched = plan.touched();
        fields.retain_mut(|change| {
            let field = (change.collection.clone(), change.path.clone());
            let is_touched = touched.contains(&field);
            match &mut change.kind {
                FieldChangeKind::Added { like, .. } if is_touched => like.clear(),
                // A field that a step takes is no older name of another field.
                FieldChangeKind::Added { like, .. } => like.retain(|old| {
                    let is_taken = |(collection, path): &(String, String)| {
                        *collection == change.collection && (path == old || path.is_empty())
                    };
                    !touched.iter().any(is_taken)
                }),
                FieldChangeKind::Removed if is_touched => return false,
                _ => {}
            }
            true
        });
        SchemaChanges {
            database: declaration.name.clone(),
            from: Some(stored.version),
            to: declaration.version,
            steps: plan.left().map(str::to_owned).collect(),
            fields,
            gone_relations: gone.difference(&new).cloned().collect(),
            new_relations: new.into_iter().collect(),
            ..SchemaChanges::default()
        }
    }

    /// Adds the findings of a trial.
    pub(crate) fn with_failures(mut self, failures: Failures) -> Self {
        self.failure_count = failures.number();
        self.failures = failures.into_listed();
        self
    }

    pub(crate) fn of_new(declaration: &Declaration) -> Self {
        SchemaChanges {
            database: declaration.name.clone(),
            to: declaration.version,
            ..SchemaChanges::default()
        }
    }

    /// Whether there is nothing to change.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let store = Embedded::memory().await?;
    /// assert!(!Shop::check(&store).await?.is_empty());
    /// Shop::open(store.clone()).await?;
    /// assert!(Shop::check(&store).await?.is_empty());
    /// # Ok(()) });
    /// ```
    pub fn is_empty(&self) -> bool {
        self.from == Some(self.to)
            && self.steps.is_empty()
            && self.fields.is_empty()
            && self.new_relations.is_empty()
            && self.gone_relations.is_empty()
            && self.failures.is_empty()
    }

    /// Emits an event for each line.
    pub(crate) fn report(&self) {
        if self.is_empty() {
            return;
        }
        let database = self.database.as_str();
        for step in &self.steps {
            tracing::info!(target: "odm", database, "migration to run: {step}");
        }
        for change in &self.fields {
            match &change.kind {
                // The values would seem to be lost.
                FieldChangeKind::Added { like, .. } if !like.is_empty() => {
                    tracing::warn!(target: "odm", database, "{change}");
                }
                _ => tracing::info!(target: "odm", database, "{change}"),
            }
        }
        for relation in &self.gone_relations {
            tracing::info!(target: "odm", database, "`{relation}` is not declared any more");
        }
    }
}

impl fmt::Display for SchemaChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, to) = (&self.database, self.to);
        match self.from {
            None => writeln!(f, "`{name}` is new on this store: version {to}")?,
            Some(from) if from == to => writeln!(f, "`{name}`: version {to}")?,
            Some(from) => writeln!(f, "`{name}`: from version {from} to {to}")?,
        }
        for step in &self.steps {
            writeln!(f, "  step to {step}")?;
        }
        for change in &self.fields {
            writeln!(f, "  {change}")?;
        }
        for relation in &self.new_relations {
            writeln!(
                f,
                "  relation `{relation}` is declared anew, or differently"
            )?;
        }
        for relation in &self.gone_relations {
            writeln!(f, "  relation `{relation}` is not declared any more")?;
        }
        for failure in &self.failures {
            writeln!(f, "  failure: {failure}")?;
        }
        match self.failure_count - self.failures.len() as u64 {
            0 => {}
            more => writeln!(f, "  {more} more failures")?,
        }
        match self.is_empty() {
            true => writeln!(f, "  nothing changes"),
            false => Ok(()),
        }
    }
}
