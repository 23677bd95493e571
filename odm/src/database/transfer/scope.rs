//! The collections that an export, an import or a copy is about.

use std::fmt;

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
            let (state, ending) = session.snapshot().await?;
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

    /// The databases that an export names, each with its version: all that were opened on a whole store.
    async fn databases(&self, session: &Session) -> Result<Vec<(String, u32)>> {
        match self {
            TransferScope::Models { version, .. } => {
                Ok(vec![(session.database().to_owned(), *version)])
            }
            TransferScope::Store => session.databases().await,
        }
    }

    /// Checks that the databases of an export are there, in the same versions.
    pub(super) async fn check(&self, head: &Head, session: &Session) -> Result<Result<(), String>> {
        let named = head.named();
        let why = match self {
            TransferScope::Models { version, .. } => {
                let database = session.database();
                if named == [(database, *version)] {
                    return Ok(Ok(()));
                }
                format!(
                    "not of version {version} of `{database}`; import it by a program that has that version"
                )
            }
            TransferScope::Store => {
                let there = session.databases().await?;
                let version_of = |database: &str| {
                    let mut there = there.iter().filter(|(name, _)| name == database);
                    there.next().map(|(_, version)| *version)
                };
                let mut named = named.iter().copied();
                let other =
                    named.find(|(database, version)| version_of(database) != Some(*version));
                let Some((database, version)) = other else {
                    return Ok(Ok(()));
                };
                match version_of(database) {
                    Some(there) => format!(
                        "the store has version {there} of `{database}`; import it into a store of version {version}"
                    ),
                    None => format!(
                        "the store does not have `{database}`; open it once by a program that has that version"
                    ),
                }
            }
        };
        let of = shown(&named);
        Ok(Err(format!("the export is of {of}, and {why}")))
    }

    /// Checks that a database of the export declares a collection of a whole store, if any database does: the documents have the form of
    /// its version.
    pub(super) async fn check_declared(
        &self,
        name: &str,
        head: &Head,
        session: &Session,
    ) -> Result<Result<(), String>> {
        if matches!(self, TransferScope::Models { .. }) {
            return Ok(Ok(()));
        }
        let declaring = session.declaring(name).await?;
        let named = head.named();
        let is_named = |database: &String| named.iter().any(|(name, _)| name == database);
        match declaring.first() {
            Some(database) if !declaring.iter().any(is_named) => Ok(Err(format!(
                "collection `{name}` is of the database `{database}`, and the export does not say of which version its documents are"
            ))),
            Some(_) | None => Ok(Ok(())),
        }
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

/// Names databases, each with its version.
pub(super) fn shown<S: fmt::Display>(databases: &[(S, u32)]) -> String {
    let named = databases
        .iter()
        .map(|(database, version)| format!("version {version} of the database `{database}`"));
    let named: Vec<String> = named.collect();
    match named.as_slice() {
        [] => "no database".to_owned(),
        named => named.join(" and "),
    }
}

/// The error of a collection that cannot be imported.
pub(super) fn unknown(why: String) -> Error {
    Error::new(ErrorKind::InvalidImport, why)
}
