//! The rights of the caller of a write, where it changes, or meets, documents of other collections.

use std::{fmt::Debug, sync::Arc};

use odm_store::{Error, ErrorKind, Result};

use super::unit::Unit;
use crate::catalog::is_own;

/// MongoDB's code of an operation for which its user has no right.
const UNAUTHORIZED: i32 = 13;

/// The rights of somebody to the collections of a store, by their names.
#[doc(hidden)]
pub trait CollectionRights: Debug + Send + Sync {
    /// Whether they may read the documents of a collection.
    fn can_read(&self, collection: &str) -> bool;

    /// Whether they may change them.
    fn can_write(&self, collection: &str) -> bool;
}

/// The rights of a caller; `None` for all of them.
pub(crate) type Rights = Option<Arc<dyn CollectionRights>>;

impl Unit<'_> {
    /// Checks that the caller may change base data in a collection, where an effect of the write does.
    pub(super) fn check_right(&self, collection: &str) -> Result<()> {
        let Some(rights) = &self.rights else {
            return Ok(());
        };
        let (whole, _) = self.catalog.whole_path(collection, "");
        if is_own(collection) || rights.can_write(&whole) {
            return Ok(());
        }
        let message = format!(
            "not authorized to write `{whole}`: the write would change documents there too"
        );
        let error = Error::new(ErrorKind::Refused, message).with_code(UNAUTHORIZED);
        Err(error.at(&whole, None, None))
    }

    /// The error of the unit without values of documents that the caller may not read.
    pub(super) fn without_secrets(&self, error: Error) -> Error {
        let (Some(rights), Some(location)) = (&self.rights, error.location()) else {
            return error;
        };
        let collection = &location.collection;
        // A right covers the cold parts of its documents.
        let (whole, _) = self.catalog.whole_path(collection, "");
        if collection.is_empty() || error.code() == Some(UNAUTHORIZED) || rights.can_read(&whole) {
            return error;
        }
        let path = location.path.as_deref();
        let place = match path {
            Some(path) => format!("`{collection}.{path}`"),
            None => format!("`{collection}`"),
        };
        let what = match error.kind() {
            ErrorKind::Restricted => "restricted delete: documents are referred to by".to_owned(),
            kind => format!("write with consequences that are refused ({kind}) in"),
        };
        let message = format!("{what} {place}, which the user is not authorized to read");
        let shown = Error::new(error.kind(), message).at(collection, path, None);
        match error.code() {
            // A duplicate key is shown with its value.
            Some(code) if !error.is_duplicate_key() => shown.with_code(code),
            _ => shown,
        }
    }
}
