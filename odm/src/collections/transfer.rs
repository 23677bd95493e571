//! Exports, imports and copies of all collections of a store, without models.

use tokio::io::{AsyncBufRead, AsyncWrite};

use super::Collections;
use crate::database::{CopyTo, Export, Import, ImportFiles, TransferScope};

impl Collections {
    /// Writes all documents of the store as lines of JSON, as [`Database::export`](crate::Database::export) does those of a database.
    /// The export names the databases that were opened on the store, with their versions. An export of one can be imported by a program with
    /// its models, too.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut lines = Vec::new();
    /// let number = odm::Collections::of(&shop).export(&mut lines).await?;
    /// assert_eq!(number, 14);
    /// let copy = Shop::open(Embedded::memory().await?).await?;
    /// assert_eq!(copy.import(&lines[..]).await?, 14);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// When it is awaited, the errors of [`Database::export`](crate::Database::export).
    pub fn export<'w>(&self, writer: impl AsyncWrite + Unpin + Send + 'w) -> Export<'w> {
        Export::new(&self.session, TransferScope::Store, writer)
    }

    /// Stores the documents of an [`export`](Collections::export), as [`Database::import`](crate::Database::import) does. The store must
    /// have none of them, and the databases that the export names, in the same versions: a program with the models opens each once before. An
    /// export that names none can be imported into a store whose databases do not need its collections.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let mut lines = Vec::new();
    /// # shop.export(&mut lines).await?;
    /// let copy = Shop::open(Embedded::memory().await?).await?;
    /// assert_eq!(odm::Collections::of(&copy).import(&lines[..]).await?, 14);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// When it is awaited, the errors of [`Database::import`](crate::Database::import).
    pub fn import<'r>(&self, reader: impl AsyncBufRead + Unpin + Send + 'r) -> Import<'r> {
        Import::new(&self.session, TransferScope::Store, reader)
    }

    /// Stores the documents of files of mongoexport and mongodump, as [`Database::import_files`](crate::Database::import_files) does. A
    /// collection that is not there is made.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, Embedded};
    ///
    /// let notes = r#"{"_id":4,"text":"buy milk"}"#;
    /// let collections = Collections::open(Embedded::memory().await?).await?;
    /// assert_eq!(collections.import_files().file_into("notes", notes.as_bytes()).await?, 1);
    /// # Ok(()) });
    /// ```
    pub fn import_files<'r>(&self) -> ImportFiles<'r> {
        ImportFiles::new(&self.session, TransferScope::Store)
    }

    /// Copies all documents of the store into another one, as [`Database::copy_to`](crate::Database::copy_to) does. A store on which no
    /// database was opened gets the databases of this one, with their collections and indexes. Another one must have the same databases, in
    /// the same versions.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::Collections;
    ///
    /// let store = Embedded::memory().await?; // or MongoDb::connect("mongodb://localhost:27017/shop")
    /// let done = Collections::of(&shop).copy_to(&Collections::open(store.clone()).await?).await?;
    /// assert_eq!(done.documents, 14);
    /// assert_eq!(Shop::open(store).await?.audit().await?, []);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// When it is awaited, the errors of [`Database::copy_to`](crate::Database::copy_to), `InvalidImport` if the other store has other
    /// databases or versions of them, and `Migrating` if a database is in a migration.
    pub fn copy_to(&self, other: &Collections) -> CopyTo {
        CopyTo::new(&self.session, &other.session, TransferScope::Store)
    }
}
