//! Users of a server before the collections, and the rights of one of them.

use std::sync::Arc;

use bson::{RawDocument, RawDocumentBuf};
use odm_store::Result;

use super::Collections;
use crate::maintain::CollectionRights;

impl Collections {
    /// The collections with writes by somebody with these rights. A write whose effects change documents of a collection that they may not
    /// write fails with MongoDB's code 13; derived fields need no right. No error has values of a collection that they may not read.
    #[doc(hidden)]
    #[must_use]
    pub fn restricted(&self, rights: Arc<dyn CollectionRights>) -> Collections {
        Collections {
            session: self.session.with_rights(rights),
        }
    }

    /// The document of a user, by the name that is its `_id`.
    #[doc(hidden)]
    pub async fn user(&self, name: &str) -> Result<Option<RawDocumentBuf>> {
        self.session.user(name).await
    }

    /// The documents of all users, in the order of their names.
    #[doc(hidden)]
    pub async fn users(&self) -> Result<Vec<RawDocumentBuf>> {
        self.session.users().await
    }

    /// Makes the document of a user of the one before, as one unit, and returns whether there was one. `None` removes it.
    #[doc(hidden)]
    pub async fn change_user(
        &self,
        name: &str,
        change: impl Fn(Option<&RawDocument>) -> Result<Option<RawDocumentBuf>> + Send + Sync + 'static,
    ) -> Result<bool> {
        self.session.change_user(name, Box::new(change)).await
    }
}
