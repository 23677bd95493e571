//! Existences: whether a parent has children.

use async_trait::async_trait;
use bson::{RawBson, RawBsonRef, RawDocument};
use odm_store::{Find, FindByKey, Result, mutants::mutant};

use super::{DerivedKind, Inputs, tally::Tally};
use crate::catalog::ExistsDefinition;

#[async_trait]
impl Tally for ExistsDefinition {
    const KIND: DerivedKind = DerivedKind::Exists;

    type Share = ();
    /// The difference in their number.
    type Change = i64;

    fn share(&self, _: &RawDocument) -> Result<()> {
        Ok(())
    }

    fn add(&self, change: &mut i64, (): &()) {
        *change = change.saturating_add(1);
    }

    fn subtract(&self, change: &mut i64, (): &()) {
        *change = change.saturating_sub(1);
    }

    fn is_none(change: &i64) -> bool {
        *change == 0
    }

    /// If several children leave a parent, the stored value does not say whether all have left.
    fn after(&self, _: &RawBson, before: RawBsonRef<'_>, change: &i64) -> Result<Option<RawBson>> {
        Ok(match change {
            1.. => Some(RawBson::Boolean(true)),
            0 => before.as_bool().map(RawBson::Boolean),
            _ => mutant("last child").then_some(RawBson::Boolean(true)),
        })
    }

    async fn search(&self, inputs: &mut dyn Inputs, parents: Vec<RawBson>) -> Result<Vec<RawBson>> {
        let children = self.by_parent(parents);
        let first = FindByKey {
            find: Find {
                limit: Some(1),
                ..children.find
            },
            ..children
        };
        let found = inputs.find_by_key(&first).await?.into_iter();
        Ok(found
            .map(|found| RawBson::Boolean(!found.is_empty()))
            .collect())
    }
}
