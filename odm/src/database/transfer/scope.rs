//! The collections that an export, an import or a copy is about.

use odm_store::{Error, ErrorKind, Result};

use super::line::Head;
use crate::{
    catalog::{self, Catalog},
    database::Database,
    model::{FieldKind, Model},
    session::{Session, SnapshotGuard},
};

/// The collections of a transfer.
#[derive(Debug, Clone)]
pub(crate) enum TransferScope {
    /// Those of the models of a program, in a version of its database.
    Models {
        version: u32,
        models: Vec<&'static Model>,
    },
    /// All collections of a store.
    Store,
}

/// A collection of whole documents.
pub(super) struct TransferredCollection {
    pub(super) name: String,
    /// The fields that are cold parts.
    pub(super) cold: Vec<String>,
}

/// One state of the data, with its collections and databases, until it is dropped.
pub(super) struct TransferState {
    /// The session that reads it.
    pub(super) session: Session,
    pub(super) collections: Vec<TransferredCollection>,
    /// The databases whose documents are passed, each with its version.
    pub(super) databases: Vec<(String, u32)>,
    _ending: SnapshotGuard,
}

impl TransferScope {
    /// The collections of a database.
    pub(crate) fn of<D: Database>() -> Self {
        TransferScope::Models {
            version: D::VERSION,
            models: D::models(),
        }
    }

    /// Takes the state that is committed now, or that of the transaction or snapshot of a session.
    ///
    /// # Errors
    ///
    /// `InvalidQuery` in a snapshot, if the collections in it are not known any more.
    pub(super) async fn state(&self, session: &Session) -> Result<TransferState> {
        loop {
            let (state, ending) = session.snapshot()?;
            let catalog = state.current_catalog().await?;
            let collections = self.collections(&state, &catalog).await?;
            // No snapshot has a list of its collections: the present one is that of the snapshot if none was removed or renamed since.
            if matches!(self, TransferScope::Models { .. })
                || !state.has_other_collections().await?
            {
                return Ok(TransferState {
                    databases: self.databases(&state).await?,
                    session: state,
                    collections,
                    _ending: ending,
                });
            }
            if session.has_own_state() {
                return Err(Error::new(
                    ErrorKind::InvalidQuery,
                    "collections or databases on the store were changed since the snapshot began: begin a new one",
                ));
            }
        }
    }

    /// The collections whose documents are passed. Cold parts are passed with their documents.
    pub(super) async fn collections(
        &self,
        session: &Session,
        catalog: &Catalog,
    ) -> Result<Vec<TransferredCollection>> {
        let of_models = |models: &Vec<&'static Model>| {
            let models = models.iter().map(|model| {
                let fields = (model.shape)().fields.iter();
                let cold = fields.filter(|field| matches!(field.kind, FieldKind::Split(_)));
                TransferredCollection {
                    name: model.collection.to_owned(),
                    cold: cold.map(|field| field.name.to_owned()).collect(),
                }
            });
            models.collect()
        };
        match self {
            TransferScope::Models { models, .. } => Ok(of_models(models)),
            TransferScope::Store => {
                let specs = session.collections().await?.into_iter();
                let names = specs.map(|spec| spec.name);
                let names =
                    names.filter(|name| !catalog::is_own(name) && catalog.split_in(name).is_none());
                let collections = names.map(|name| TransferredCollection {
                    cold: catalog
                        .splits_of(&name)
                        .map(|split| split.path.clone())
                        .collect(),
                    name,
                });
                Ok(collections.collect())
            }
        }
    }

    /// The databases that an export names, each with its version: those that were opened on a whole store.
    async fn databases(&self, session: &Session) -> Result<Vec<(String, u32)>> {
        match self {
            TransferScope::Models { version, .. } => {
                Ok(vec![(session.database().to_owned(), *version)])
            }
            TransferScope::Store => session.databases().await,
        }
    }

    /// Checks that the documents of an export are those of the database.
    pub(super) async fn check(&self, head: &Head, session: &Session) -> Result<Result<(), String>> {
        let (database, version) = only(self.databases(session).await?);
        let is_of_any_database = matches!(self, TransferScope::Store) && head.database.is_empty();
        if is_of_any_database || (head.database == database && head.version == version) {
            return Ok(Ok(()));
        }
        let there = match (self, database.as_str()) {
            (TransferScope::Models { .. }, database) => {
                format!(
                    "not of version {version} of `{database}`; import it by a program that has that version"
                )
            }
            (TransferScope::Store, "") => {
                "the store has none, or several; open it once by a program that has that version"
                    .to_owned()
            }
            (TransferScope::Store, database) => {
                format!(
                    "the store has version {version} of `{database}`; import it into a store of that version"
                )
            }
        };
        Ok(Err(format!(
            "the export is of version {} of the database `{}`, and {there}",
            head.version, head.database
        )))
    }

    /// Checks that documents of a collection can be imported.
    pub(super) fn check_collection(&self, name: &str, catalog: &Catalog) -> Result<(), String> {
        match self {
            TransferScope::Models { models, .. } => {
                match models.iter().any(|model| model.collection == name) {
                    true => Ok(()),
                    false => Err(format!(
                        "unknown collection: no model of the database is stored in `{name}`"
                    )),
                }
            }
            TransferScope::Store if catalog::is_own(name) => {
                Err(format!("collection `{name}` is the library's own"))
            }
            TransferScope::Store => match catalog.split_in(name) {
                None => Ok(()),
                Some(split) => Err(format!(
                    "collection `{name}` has the cold parts of `{}`: import whole documents there",
                    split.hot
                )),
            },
        }
    }
}

/// The only database, or none.
pub(super) fn only(mut databases: Vec<(String, u32)>) -> (String, u32) {
    match databases.len() {
        1 => databases.swap_remove(0),
        _ => (String::new(), 0),
    }
}

/// The error of a collection that cannot be imported.
pub(super) fn unknown(why: String) -> Error {
    Error::new(ErrorKind::InvalidImport, why)
}
