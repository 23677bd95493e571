//! Collections and indexes by their names.

use std::collections::BTreeSet;

use odm_mql::Collation;
use odm_store::{
    CollectionChange, CollectionSpec, CollectionStats, Error, ErrorKind, IndexSpec, IndexUses,
    Result,
};

use super::{Collection, Collections};
use crate::{
    catalog::{self, ValidationRule},
    database::lock_of,
    session,
};

/// A collection of a store, from [`Collections::list`].
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// for collection in odm::Collections::of(&shop).list().await? {
///     println!("{}: {} indexes", collection.name, collection.indexes.len());
///     assert!(collection.databases.contains("shop"));
/// }
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollectionInfo {
    /// Its name.
    pub name: String,
    /// Its indexes, besides the one on `_id`, in the order of their names.
    pub indexes: Vec<IndexSpec>,
    /// Its default collation: see [`Collection::default_collation`].
    pub collation: Option<Collation>,
    /// Its rule: see [`Collection::create_validated`].
    pub validation: Option<ValidationRule>,
    /// The names of the databases whose models need it.
    pub databases: BTreeSet<String>,
}

impl Collections {
    /// Lists the collections in the order of their names, without the library's own.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let all = odm::Collections::of(&shop).list().await?;
    /// let parts = all.iter().find(|collection| collection.name == "parts").unwrap();
    /// assert_eq!(parts.indexes[0].name, "name_1");
    /// assert!(parts.databases.contains("shop"));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn list(&self) -> Result<Vec<CollectionInfo>> {
        let mut specs = self.session.collections().await?;
        specs.retain(|spec| !catalog::is_own(&spec.name));
        let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
        let reader = self.session.store().reader()?;
        let declaring = catalog::declaring(&*reader, &names).await?;
        self.session.follow_catalog().await?;
        let catalog = self.session.catalog();
        let all = specs.into_iter().zip(declaring);
        let all = all.map(|(spec, databases)| CollectionInfo {
            validation: catalog.rule_of(&spec.name).cloned(),
            name: spec.name,
            indexes: spec.indexes,
            collation: spec.collation,
            databases,
        });
        Ok(all.collect())
    }

    /// Removes all collections and views as one unit, but for the library's own.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, Embedded, bson::rawdoc};
    ///
    /// let collections = Collections::open(Embedded::memory().await?).await?;
    /// collections.collection("notes").insert([rawdoc! { "_id": 1 }]).await?;
    /// collections.drop_all().await?;
    /// assert!(collections.list().await?.is_empty());
    ///
    /// let refused = Collections::of(&shop).drop_all().await.unwrap_err();
    /// assert!(refused.to_string().contains("database `shop`"));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidQuery` that names the database, if the models of one need a collection, in a transaction or a snapshot, and on a store that
    /// cannot change whole collections.
    pub async fn drop_all(&self) -> Result<()> {
        self.session
            .refuse_in_snapshot(|| "removal of all collections".to_owned())?;
        if self.session.is_bound() {
            let message =
                "collections cannot be removed in a transaction: remove them outside of it";
            return Err(Error::new(ErrorKind::InvalidQuery, message));
        }
        session::refuse_inside_transaction(self.session.store())?;
        let store = self.session.store();
        let lock = lock_of(store);
        let _opening = lock.lock().await;
        catalog::drop_all(store).await
    }
}

impl Collection {
    /// Returns the sizes of the collection, or `None` if there is no such collection. In a transaction it is the state of the store.
    ///
    /// This reads all pages of the collection and its indexes on an embedded store, which takes about a second for a GiB.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let parts = odm::Collections::of(&shop).collection("parts");
    /// let stats = parts.stats().await?.expect("the collection is there");
    /// println!("{} documents, {} bytes", stats.documents, stats.bytes);
    /// for index in stats.indexes {
    ///     println!("{}: {} bytes", index.name, index.bytes);
    /// }
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if the store does not measure its collections, and the errors of the store.
    pub async fn stats(&self) -> Result<Option<CollectionStats>> {
        self.session.store().collection_stats(&self.name).await
    }

    /// Returns how often each index of the collection was read to find documents since the store was opened, or `None` if there is no such
    /// collection.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let parts = odm::Collections::of(&shop).collection("parts");
    /// for index in parts.index_uses().await?.expect("the collection is there") {
    ///     if index.count == 0 {
    ///         println!("nobody has used {} since {}", index.name, index.since);
    ///     }
    /// }
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if the store does not count, and the errors of the store.
    pub async fn index_uses(&self) -> Result<Option<Vec<IndexUses>>> {
        self.session.store().index_uses(&self.name).await
    }

    /// Creates the collection, if it does not exist. The first document of a collection creates it, too. In a transaction it exists for
    /// others from the commit on, which loses a conflict if collections or indexes of the store were changed meanwhile.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let collections = odm::Collections::of(&shop);
    /// collections.collection("notes").create().await?;
    /// assert!(collections.list().await?.iter().any(|collection| collection.name == "notes"));
    ///
    /// let unit = collections.begin().await?;
    /// unit.collection("drafts").create().await?;
    /// assert!(unit.list().await?.iter().any(|collection| collection.name == "drafts"));
    /// unit.rollback().await?;
    /// assert!(collections.list().await?.iter().all(|collection| collection.name != "drafts"));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `Schema` if its name is empty or has a NUL; `InvalidQuery` if it is the library's own, and in a transaction of a store that cannot
    /// change whole collections.
    pub async fn create(&self) -> Result<()> {
        self.create_with(None).await
    }

    /// Creates the collection with a default collation: see [`default_collation`](Collection::default_collation). It keeps it until it is
    /// removed, also under another name.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # #[cfg(feature = "collation")] {
    /// use odm::{Collections, bson::doc, mql::Collation};
    ///
    /// let english = Collation::parse(&doc! { "locale": "en", "strength": 2 })?.expect("it is not `simple`");
    /// let people = Collections::of(&shop).collection("people");
    /// people.create_collated(english.clone()).await?;
    /// assert_eq!(people.default_collation().await?, Some(english));
    /// # }
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`create`](Collection::create), and `Schema` if the collection exists with another default collation, or the store has
    /// no [collations](odm_store::Capabilities::collations).
    pub async fn create_collated(&self, collation: Collation) -> Result<()> {
        self.create_with(Some(collation)).await
    }

    pub(super) async fn create_with(&self, collation: Option<Collation>) -> Result<()> {
        self.check_creatable()?;
        self.refuse_view().await?;
        if let Some(bound) = self.session.bound() {
            return self
                .session
                .create_in(bound, &self.name, None, collation)
                .await;
        }
        let spec = CollectionSpec {
            name: self.name.clone(),
            collation,
            ..CollectionSpec::default()
        };
        self.session.store().ensure(&[spec]).await
    }

    /// Returns the default collation of the collection. `None` if it has none, or does not exist.
    ///
    /// It is the one by which clients of `odm-server` compare texts where they state no collation. The operations of `Collections` and of
    /// repositories do not use it by themselves: filters, orders, updates and indexes have a collation if they are given one.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::Filter};
    ///
    /// let parts = Collections::of(&shop).collection("parts");
    /// let collation = parts.default_collation().await?;
    /// let bolts = Filter::parse(&doc! { "name": "Bolt" })?.collated(collation.as_ref());
    /// println!("{} bolts", parts.find(bolts).count().await?);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of a read.
    pub async fn default_collation(&self) -> Result<Option<Collation>> {
        self.session.default_collation(&self.name).await
    }

    /// Creates an index, unless there is an equal one of its name. The models of databases are not concerned: an `open` neither uses its
    /// name nor removes it. In a transaction the collection must be one that it has created, without documents.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::{Direction, Filter}, store::contract::IndexSpec};
    ///
    /// let parts = Collections::of(&shop).collection("parts");
    /// let by_price = IndexSpec::new("by_price", [("price", Direction::Ascending)]);
    /// parts.create_index(by_price).await?;
    /// let cheap = Filter::parse(&doc! { "price": { "$lt": 0.1 } })?;
    /// assert_eq!(parts.find(cheap).explain().await?.index.as_deref(), Some("by_price"));
    ///
    /// assert!(parts.drop_index("by_price").await?);
    /// assert!(parts.drop_index("name_1").await.is_err()); // which the model declares
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `Schema` if an index exists under its name with other keys or options; `DuplicateKey` if it is unique and two documents have the
    /// same key; `InvalidQuery` in a transaction for another collection than an empty one of its own, and on a store that cannot change
    /// whole collections.
    pub async fn create_index(&self, index: IndexSpec) -> Result<()> {
        self.check_creatable()?;
        self.refuse_view().await?;
        if let Some(bound) = self.session.bound() {
            let index = Some(index);
            return self.session.create_in(bound, &self.name, index, None).await;
        }
        let lock = lock_of(self.session.store());
        let _opening = lock.lock().await;
        self.ensure(vec![index], Vec::new()).await
    }

    /// Removes an index, and returns whether there was one of this name.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, mql::Direction, store::contract::IndexSpec};
    ///
    /// let orders = Collections::of(&shop).collection("orders");
    /// orders.create_index(IndexSpec::new("by_total", [("total", Direction::Descending)])).await?;
    /// assert!(orders.drop_index("by_total").await?);
    /// assert!(!orders.drop_index("by_total").await?);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidQuery` that names the database, if one declares the index.
    pub async fn drop_index(&self, name: &str) -> Result<bool> {
        self.check_changeable()?;
        let store = self.session.store();
        let lock = lock_of(store);
        let _opening = lock.lock().await;
        let indexes = store.collections().await?.into_iter();
        let mut indexes = indexes
            .filter(|spec| spec.name == self.name)
            .flat_map(|spec| spec.indexes);
        let Some(index) = indexes.find(|index| index.name == name) else {
            return Ok(false);
        };
        if let Some(database) =
            catalog::declaring_index(&*store.reader()?, &self.name, name).await?
        {
            let message = format!(
                "index `{name}` of `{}` belongs to the models of the database `{database}`: only they can remove it",
                self.name
            );
            return Err(Error::new(ErrorKind::InvalidQuery, message).at(&self.name, None, None));
        }
        self.ensure(Vec::new(), vec![index]).await?;
        Ok(true)
    }

    /// Removes the collection with its documents and indexes, in a time that does not grow with them, or the view.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::rawdoc};
    ///
    /// let collections = Collections::of(&shop);
    /// let notes = collections.collection("notes");
    /// notes.insert([rawdoc! { "_id": 1 }]).await?;
    /// notes.rename("old_notes", false).await?;
    /// collections.collection("old_notes").drop().await?;
    ///
    /// let refused = collections.collection("parts").drop().await.unwrap_err();
    /// assert!(refused.to_string().contains("database `shop`"));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidQuery` that names the database, if the models of one need the collection, and on a store that cannot change whole
    /// collections.
    pub async fn drop(&self) -> Result<()> {
        self.check_changeable()?;
        if self.view().await?.is_some() {
            return catalog::drop_view(self.session.store(), &self.name).await;
        }
        let name = self.name.clone();
        self.change(CollectionChange::Drop { name }, true).await
    }

    /// Gives the collection another name. An existing collection of that name is removed if `replaces` is set, and else only if it has no
    /// documents.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::rawdoc, mql::Filter};
    ///
    /// let collections = Collections::of(&shop);
    /// collections.collection("drafts").insert([rawdoc! { "_id": 1 }]).await?;
    /// collections.collection("drafts").rename("notes", false).await?;
    /// assert_eq!(collections.collection("notes").find(Filter::default()).count().await?, 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidQuery` that names the database, if the models of one need the collection or the other one, if there are documents that must
    /// not be replaced, and on a store that cannot change whole collections; `Schema` if the collection does not exist.
    pub async fn rename(&self, to: &str, replaces: bool) -> Result<()> {
        let target = Collection {
            session: self.session.clone(),
            name: to.to_owned(),
        };
        target.check_changeable()?;
        let from = self.name.clone();
        let change = CollectionChange::Replace {
            from,
            to: target.name,
        };
        self.change(change, replaces).await
    }

    async fn ensure(&self, indexes: Vec<IndexSpec>, obsolete: Vec<IndexSpec>) -> Result<()> {
        let spec = CollectionSpec {
            name: self.name.clone(),
            indexes,
            obsolete,
            collation: None,
        };
        self.session.store().ensure(&[spec]).await
    }

    async fn change(&self, change: CollectionChange, replaces: bool) -> Result<()> {
        self.check_changeable()?;
        let store = self.session.store();
        let lock = lock_of(store);
        let _opening = lock.lock().await;
        catalog::change_whole(store, change, replaces).await
    }

    /// Refuses a change of a collection in a transaction or a snapshot, and of the library's own.
    pub(super) fn check_changeable(&self) -> Result<()> {
        self.check_creatable()?;
        if self.session.is_bound() {
            let message = "collections and indexes can be created and not changed in a transaction: change them outside of it";
            return Err(Error::new(ErrorKind::InvalidQuery, message));
        }
        session::refuse_inside_transaction(self.session.store())
    }

    /// Refuses new collections and indexes in a snapshot, and in the library's own collections.
    fn check_creatable(&self) -> Result<()> {
        self.check_writable()?;
        self.session
            .refuse_in_snapshot(|| format!("change of the collection `{}`", self.name))?;
        if self.session.is_bound() {
            return Ok(());
        }
        session::refuse_inside_transaction(self.session.store())
    }
}
