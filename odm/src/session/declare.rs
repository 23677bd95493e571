//! Collections and indexes that a transaction makes.

use std::collections::BTreeSet;

use odm_mql::Collation;
use odm_store::{CollectionSpec, IndexSpec, Result, Store};

use super::{AbortOnDrop, Bound, Session, bound::dropped};
use crate::catalog;

impl Session {
    /// The collections with their indexes: as the transaction of the session has them, or as they are there now.
    pub(crate) async fn collections(&self) -> Result<Vec<CollectionSpec>> {
        match &self.bound {
            Some(bound) if self.store.capabilities().changes_collections => {
                bound.lock().await?.get_mut().collections().await
            }
            Some(_) | None => self.store.collections().await,
        }
    }

    /// The databases that were opened on the store, each with its newest version, in the state that the session reads.
    pub(crate) async fn databases(&self) -> Result<Vec<(String, u32)>> {
        catalog::declared_versions(self.source().await?.reader()).await
    }

    /// The names of the databases whose models need a collection.
    pub(crate) async fn declaring(&self, collection: &str) -> Result<BTreeSet<String>> {
        let source = self.source().await?;
        let declaring = catalog::declaring(source.reader(), &[collection]).await?;
        Ok(declaring.into_iter().flatten().collect())
    }

    /// Whether collections may have been removed, or got other names, since the state that the session reads.
    pub(crate) async fn has_other_collections(&self) -> Result<bool> {
        if self.bound.is_some() {
            return Ok(false);
        }
        // Whoever changes whole collections begins a new epoch.
        let is_current = catalog::is_current(&self.catalog(), &*self.store.reader()?).await?;
        Ok(!is_current)
    }

    /// Declares the databases of the state that the session reads on another store that has none.
    pub(crate) async fn declare_on(&self, target: &dyn Store) -> Result<()> {
        let collections = self.collections().await?;
        let source = self.source().await?;
        catalog::declare_as(source.reader(), &*self.store, collections, target).await
    }

    /// The default collation of a collection, in the state that the session reads.
    pub(crate) async fn default_collation(&self, collection: &str) -> Result<Option<Collation>> {
        if !self.store.capabilities().collations {
            return Ok(None);
        }
        if let Some(snapshot) = &self.snapshot
            && let Some(reader) = snapshot.reader()?
        {
            return reader.default_collation(collection).await;
        }
        match &self.bound {
            Some(bound) => {
                bound
                    .lock()
                    .await?
                    .get_mut()
                    .default_collation(collection)
                    .await
            }
            None => self.store.reader()?.default_collation(collection).await,
        }
    }

    /// Makes a collection in the transaction of the session with a default collation, if it is not there, and an index of it. Both are
    /// there from the commit on, and the commit loses a conflict if collections or indexes of the store were changed meanwhile.
    pub(crate) async fn create_in(
        &self,
        bound: &Bound,
        name: &str,
        index: Option<IndexSpec>,
        collation: Option<Collation>,
    ) -> Result<()> {
        let mut locked = bound.lock().await?;
        let is_new = locked.get_mut().has_made(name).await?;
        let mut aborting = AbortOnDrop::new(bound, dropped());
        let created = catalog::create_in(locked.get_mut(), name, index, collation, is_new).await;
        aborting.disarm();
        if created? {
            bound.is_unrepeatable();
        }
        Ok(())
    }
}
