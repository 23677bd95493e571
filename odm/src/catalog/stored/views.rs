//! The views, each in a document of the stored catalog.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use bson::{Bson, Document, RawDocument, RawDocumentBuf, raw::cstr};
use odm_mql::Collation;
use odm_store::{
    Durability, Error, ErrorKind, Reader, ReaderExt, Result, Store, Transaction, UnitOfWork,
};
use serde::{Deserialize, Serialize};

use super::{
    COLLECTION, Owner, decode, documents, has_id_of, next_epoch_with_rules, put, remove,
    rules::refuse_declared, unreadable, whole::NAMESPACE_EXISTS,
};
use crate::catalog::{
    View,
    views::{COMMAND_NOT_SUPPORTED_ON_VIEW, check},
};

/// The prefix of the `_id` of the document of a view.
pub(super) const VIEW: &str = "view ";

/// A view as it is stored. Its pipeline is the bytes of a BSON document with a field of this name.
#[derive(Debug, Serialize, Deserialize)]
struct StoredView {
    /// The name of the view, after `view `.
    #[serde(rename = "_id")]
    id: String,
    on: String,
    #[serde(with = "serde_bytes")]
    pipeline: Vec<u8>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "odm_mql::stored_value"
    )]
    collation: Option<Document>,
}

fn view_id(name: &str) -> String {
    format!("{VIEW}{name}")
}

impl StoredView {
    fn new(name: &str, view: &View) -> Result<Self> {
        let form = view.form().to_vec().map_err(Error::malformed)?;
        let without_version = |collation: &Collation| {
            let mut form = collation.to_document();
            // No keys depend on the version of its rules.
            form.remove("version");
            form
        };
        Ok(StoredView {
            id: view_id(name),
            on: view.on.clone(),
            pipeline: form,
            collation: view.collation.as_ref().map(without_version),
        })
    }

    fn into_view(self) -> Result<View> {
        let form = RawDocument::from_bytes(&self.pipeline).and_then(Document::try_from);
        let mut form = form.map_err(unreadable)?;
        let mut view = View::new(self.on, []);
        if let Some(Bson::Array(stages)) = form.remove("pipeline") {
            let stages = stages.into_iter().filter_map(|stage| match stage {
                Bson::Document(stage) => Some(stage),
                _ => None,
            });
            view.pipeline = stages.collect();
        }
        if let Some(collation) = &self.collation {
            view.collation = Collation::parse(collation)?;
        }
        Ok(view)
    }
}

/// The views among the documents of the stored catalog.
pub(super) fn views_among(documents: &[RawDocumentBuf]) -> Result<BTreeMap<String, View>> {
    let views = documents
        .iter()
        .filter(|document| has_id_of(document, VIEW));
    let views = views.map(|document| {
        let stored: StoredView = decode(document)?;
        let name = stored.id.strip_prefix(VIEW).unwrap_or_default().to_owned();
        Ok((name, stored.into_view()?))
    });
    views.collect()
}

/// Refuses a database whose models need a collection under the name of a view.
pub(super) fn refuse_views(documents: &[RawDocumentBuf], owner: &Owner) -> Result<()> {
    let is_needed =
        |document: &&RawDocumentBuf| owner.collections().any(|name| has_id(document, name));
    let Some(view) = documents.iter().find(is_needed) else {
        return Ok(());
    };
    let stored: StoredView = decode(view)?;
    let message = format!(
        "the {} needs a collection under the name of a {}: drop the view, or rename the collection",
        owner.id, stored.id
    );
    Err(Error::new(ErrorKind::Schema, message))
}

fn has_id(document: &RawDocument, view: &str) -> bool {
    let id = document.get_str(cstr!("_id"));
    id.is_ok_and(|id| id == view_id(view))
}

async fn is_view(reader: &dyn Reader, name: &str) -> Result<bool> {
    let (stored, _) = reader
        .get_one(COLLECTION, &view_id(name).as_str().into())
        .await?;
    Ok(stored.is_some())
}

/// Refuses the name of a collection or a view that exists.
pub(super) async fn refuse_existing(transaction: &mut dyn Transaction, name: &str) -> Result<()> {
    let all = transaction.collections().await?;
    let is_collection = all.iter().any(|spec| spec.name == name);
    if !is_collection && !is_view(&*transaction, name).await? {
        return Ok(());
    }
    let what = if is_collection { "collection" } else { "view" };
    let message = format!("{what} `{name}` already exists");
    let error = Error::new(ErrorKind::InvalidQuery, message);
    Err(error.with_code(NAMESPACE_EXISTS).at(name, None, None))
}

/// Refuses to give a view another name, or a collection that of a view.
pub(super) async fn check_renamed(reader: &dyn Reader, from: &str, to: &str) -> Result<()> {
    for (name, code, message) in [
        (from, COMMAND_NOT_SUPPORTED_ON_VIEW, "cannot rename view"),
        (to, NAMESPACE_EXISTS, "a view already exists with that name"),
    ] {
        if is_view(reader, name).await? {
            let error = Error::new(ErrorKind::InvalidQuery, format!("{message}: `{name}`"));
            return Err(error.with_code(code).at(name, None, None));
        }
    }
    Ok(())
}

/// Makes a view, or another one in its place.
///
/// # Errors
///
/// `InvalidQuery` if a collection or another view has the name, or nothing that would be replaced; if it cannot be made of the other views;
/// the errors of its pipeline.
pub(crate) async fn put_view(
    store: &dyn Store,
    name: &str,
    view: View,
    replaces: bool,
) -> Result<()> {
    struct Put {
        name: String,
        view: View,
        replaces: bool,
    }

    #[async_trait]
    impl UnitOfWork for Put {
        async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
            let Put {
                name,
                view,
                replaces,
            } = self;
            if !replaces {
                refuse_declared(&*transaction, name).await?;
                refuse_existing(transaction, name).await?;
            }
            let mut views = views_among(&documents(&*transaction).await?)?;
            let replaced = views.insert(name.clone(), view.clone());
            if *replaces && replaced.is_none() {
                let message = format!("there is no view `{name}`");
                return Err(Error::new(ErrorKind::InvalidQuery, message).at(name, None, None));
            }
            check(&views)?;
            let stored = StoredView::new(name, view)?;
            put(transaction, &stored.id, &stored).await?;
            next_epoch_with_rules(transaction).await
        }
    }

    view.parsed()?;
    let put = Put {
        name: name.to_owned(),
        view,
        replaces,
    };
    store.run(Arc::new(put), Durability::Immediate).await
}

/// Removes all views.
pub(super) async fn remove_views(transaction: &mut dyn Transaction) -> Result<()> {
    for name in views_among(&documents(&*transaction).await?)?.keys() {
        remove(transaction, &view_id(name)).await?;
    }
    Ok(())
}

/// Removes a view, if it is there.
pub(crate) async fn drop_view(store: &dyn Store, name: &str) -> Result<()> {
    struct Remove(String);

    #[async_trait]
    impl UnitOfWork for Remove {
        async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
            match remove(transaction, &view_id(&self.0)).await? {
                Some(_) => next_epoch_with_rules(transaction).await,
                None => Ok(()),
            }
        }
    }

    let remove = Arc::new(Remove(name.to_owned()));
    store.run(remove, Durability::Immediate).await
}
