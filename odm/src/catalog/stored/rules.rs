//! The validation rules of collections that no model declares, each in a document of the stored catalog, so that every unit of every
//! program follows them.

use std::sync::Arc;

use async_trait::async_trait;
use bson::RawDocumentBuf;
use odm_mql::Collation;
use odm_store::{
    CollectionChange, Durability, Error, ErrorKind, Reader, Result, Store, Transaction, UnitOfWork,
};
use serde::{Deserialize, Serialize};

use super::{
    decode, has_id_of, is_own, next_epoch_with_rules, put, remove,
    views::refuse_existing,
    whole::{change_collections, declaring},
};
use crate::{
    catalog::{ActiveValidator, Catalog, ValidationRule},
    model::{ValidationAction, ValidationLevel},
};

/// The prefix of the `_id` of the document of a rule.
pub(super) const RULE: &str = "rule ";

/// A rule as it is stored. Its validator is the bytes of a BSON document, since operators are no names of fields.
#[derive(Debug, Serialize, Deserialize)]
struct StoredRule {
    /// The name of the collection, after `rule `.
    #[serde(rename = "_id")]
    id: String,
    #[serde(with = "serde_bytes")]
    validator: Vec<u8>,
    level: ValidationLevel,
    action: ValidationAction,
}

fn rule_id(collection: &str) -> String {
    format!("{RULE}{collection}")
}

impl StoredRule {
    fn new(collection: &str, rule: &ValidationRule) -> Self {
        StoredRule {
            id: rule_id(collection),
            validator: rule.validator.as_bytes().to_vec(),
            level: rule.level,
            action: rule.action,
        }
    }

    fn into_rule(self) -> Result<ValidationRule> {
        let validator = RawDocumentBuf::from_bytes(self.validator);
        let mut rule = ValidationRule::new(validator.map_err(Error::malformed)?);
        rule.level = self.level;
        rule.action = self.action;
        Ok(rule)
    }
}

impl Catalog {
    /// Adds the rules among the documents of the stored catalog.
    pub(super) async fn with_rules(
        mut self,
        reader: &dyn Reader,
        documents: &[RawDocumentBuf],
    ) -> Result<Self> {
        for document in documents
            .iter()
            .filter(|document| has_id_of(document, RULE))
        {
            let stored: StoredRule = decode(document)?;
            let name = stored.id.strip_prefix(RULE).unwrap_or_default().to_owned();
            let rule = stored.into_rule()?;
            if rule.level != ValidationLevel::Off {
                let collation = reader.default_collation(&name).await?;
                let validator = ActiveValidator::of_rule(rule.clone(), collation.as_ref());
                let validator = validator.map_err(|error| {
                    let message = format!(
                        "unreadable catalog: the validator of `{name}` is not one of this version of the library: {error}"
                    );
                    Error::new(ErrorKind::Schema, message).with_source(error)
                })?;
                let of = self.validators.entry(name.clone()).or_default();
                Arc::get_mut(of)
                    .expect("nobody else has it yet")
                    .push(validator);
            }
            self.rules.insert(name, rule);
        }
        Ok(self)
    }
}

/// Makes a collection with a rule, and a default collation.
///
/// # Errors
///
/// `InvalidQuery` that names the database which declares the collection, or with MongoDB's code if the collection exists; the errors of the
/// rule.
pub(crate) async fn create_validated(
    store: &dyn Store,
    name: &str,
    rule: ValidationRule,
    collation: Option<Collation>,
) -> Result<()> {
    struct Create {
        name: String,
        rule: ValidationRule,
        collation: Option<Collation>,
    }

    #[async_trait]
    impl UnitOfWork for Create {
        async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
            let Create {
                name,
                rule,
                collation,
            } = self;
            refuse_declared(&*transaction, name).await?;
            refuse_existing(transaction, name).await?;
            let create = CollectionChange::Create {
                name: name.clone(),
                indexes: Vec::new(),
                collation: collation.clone(),
            };
            change_collections(transaction, &[create]).await?;
            put_rule(transaction, name, rule).await?;
            next_epoch_with_rules(transaction).await
        }
    }

    rule.filter(collation.as_ref())?;
    let create = Create {
        name: name.to_owned(),
        rule,
        collation,
    };
    store.run(Arc::new(create), Durability::Immediate).await
}

/// Gives a collection another rule, or none.
///
/// # Errors
///
/// `InvalidQuery` that names the database which declares the collection, unless its rule is removed; the errors of the rule.
pub(crate) async fn set_rule(
    store: &dyn Store,
    name: &str,
    rule: Option<ValidationRule>,
) -> Result<()> {
    struct Set {
        name: String,
        rule: Option<ValidationRule>,
    }

    #[async_trait]
    impl UnitOfWork for Set {
        async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
            match &self.rule {
                Some(rule) => {
                    refuse_declared(&*transaction, &self.name).await?;
                    put_rule(transaction, &self.name, rule).await?;
                }
                None => {
                    remove(transaction, &rule_id(&self.name)).await?;
                }
            }
            next_epoch_with_rules(transaction).await
        }
    }

    if let Some(rule) = &rule {
        rule.filter(store.reader()?.default_collation(name).await?.as_ref())?;
    }
    let set = Set {
        name: name.to_owned(),
        rule,
    };
    store.run(Arc::new(set), Durability::Immediate).await
}

async fn put_rule(
    transaction: &mut dyn Transaction,
    name: &str,
    rule: &ValidationRule,
) -> Result<()> {
    let stored = StoredRule::new(name, rule);
    put(transaction, &stored.id, &stored).await
}

/// Refuses a rule for a collection whose documents a model describes.
pub(super) async fn refuse_declared(reader: &dyn Reader, name: &str) -> Result<()> {
    let declaring = declaring(reader, &[name]).await?;
    let Some(database) = declaring.iter().flatten().next() else {
        return Ok(());
    };
    let message = format!(
        "collection `{name}` belongs to the models of the database `{database}`: only they can state what its documents must be"
    );
    Err(Error::new(ErrorKind::InvalidQuery, message).at(name, None, None))
}

/// Lets the rules follow a change of a whole collection: they are removed with it, and get its other name. A collection that a migration
/// has built beside takes the rule of the one that it replaces.
pub(super) async fn follow_change(
    transaction: &mut dyn Transaction,
    change: &CollectionChange,
) -> Result<()> {
    match change {
        CollectionChange::Drop { name } if !is_own(name) => {
            remove(transaction, &rule_id(name)).await?;
        }
        CollectionChange::Replace { from, to } if !is_own(from) => {
            remove(transaction, &rule_id(to)).await?;
            if let Some(rule) = remove(transaction, &rule_id(from)).await? {
                let rule = decode::<StoredRule>(&rule)?.into_rule()?;
                put_rule(transaction, to, &rule).await?;
            }
        }
        CollectionChange::Create { .. }
        | CollectionChange::Drop { .. }
        | CollectionChange::Replace { .. } => {}
    }
    Ok(())
}
