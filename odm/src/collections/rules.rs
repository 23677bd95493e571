//! Validation rules of collections that no model declares.

use odm_mql::Collation;
use odm_store::{Error, ErrorKind, Result};

use super::Collection;
use crate::{
    catalog::{self, ValidationRule},
    database::lock_of,
};

/// MongoDB's code of what no transaction can do.
const NOT_IN_TRANSACTION: i32 = 263;

impl Collection {
    /// Creates the collection with a rule that every write of its documents follows, of every program and client, and with a default
    /// collation. The rule is stored: it is in force after the store is opened again, and goes with the collection when that is renamed or
    /// removed. [`Collections::copy_to`](crate::Collections::copy_to) copies it, and exports do not have it.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::rawdoc, collections::ValidationRule};
    ///
    /// let notes = Collections::of(&shop).collection("notes");
    /// let rule = ValidationRule::new(rawdoc! { "text": { "$type": "string" } });
    /// notes.create_validated(rule, None).await?;
    /// let refused = notes.insert([rawdoc! { "_id": 1, "text": 5 }]).await.unwrap_err();
    /// assert!(refused.to_string().starts_with("Document failed validation"));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if the collection exists, if the rule is invalid, in a transaction, and on a store that cannot change whole
    /// collections; with the name of the database, if the models of one need the collection. The other errors of
    /// [`create`](Collection::create).
    pub async fn create_validated(
        &self,
        rule: ValidationRule,
        collation: Option<Collation>,
    ) -> Result<()> {
        if rule.is_empty() {
            return self.create_with(collation).await;
        }
        self.check_outside("create a collection with a validator")?;
        let store = self.session.store();
        let lock = lock_of(store);
        let _opening = lock.lock().await;
        catalog::create_validated(store, &self.name, rule, collation).await
    }

    /// Gives the collection another rule, or none. Documents that are stored stay as they are: the rule is one for writes.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::rawdoc, collections::ValidationRule};
    ///
    /// let notes = Collections::of(&shop).collection("notes");
    /// notes.insert([rawdoc! { "_id": 1 }]).await?;
    /// notes.set_validation(Some(ValidationRule::new(rawdoc! { "text": { "$exists": true } }))).await?;
    /// assert!(notes.insert([rawdoc! { "_id": 2 }]).await.is_err());
    /// notes.set_validation(None).await?;
    /// assert!(notes.insert([rawdoc! { "_id": 2 }]).await.is_ok());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if the rule is invalid, and in a transaction; with the name of the database, if the models of one need the
    /// collection. The rule of such a collection, which was there before them, can be removed.
    pub async fn set_validation(&self, rule: Option<ValidationRule>) -> Result<()> {
        self.check_outside("change a validator")?;
        let store = self.session.store();
        let lock = lock_of(store);
        let _opening = lock.lock().await;
        let rule = rule.filter(|rule| !rule.is_empty());
        catalog::set_rule(store, &self.name, rule).await
    }

    /// Returns the rule of the collection. `None` if it has none, or does not exist, and for a collection whose documents only models
    /// describe.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let parts = odm::Collections::of(&shop).collection("parts");
    /// assert_eq!(parts.validation().await?, None);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of a read.
    pub async fn validation(&self) -> Result<Option<ValidationRule>> {
        self.session.follow_catalog().await?;
        Ok(self.session.catalog().rule_of(&self.name).cloned())
    }

    /// Refuses a change of the stored catalog in a transaction, which goes on with the catalog of its begin.
    pub(super) fn check_outside(&self, what: &str) -> Result<()> {
        if self.session.is_bound() {
            let message =
                format!("cannot {what} in a multi-document transaction: do it outside of it");
            let error = Error::new(ErrorKind::InvalidQuery, message);
            return Err(error
                .with_code(NOT_IN_TRANSACTION)
                .at(&self.name, None, None));
        }
        self.check_changeable()
    }
}
