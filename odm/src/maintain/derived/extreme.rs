//! Extremes: the least and the greatest value of a field in the children of a parent.

use std::cmp::Ordering;

use async_trait::async_trait;
use bson::{RawBson, RawBsonRef, RawDocument};
use odm_mql::{Filter, Projection, Test, order};
use odm_store::{Error, Find, FindByKey, Result, mutants::mutant};

use super::{DerivedKind, Inputs, tally::Tally, value};
use crate::catalog::{ExtremeDefinition, FromDerived};

/// The values of children that come and go, as far as they can be the extreme.
#[derive(Default)]
pub(in crate::maintain) struct ExtremeChange {
    /// The most extreme value of a child that comes.
    pub(in crate::maintain) come: Option<RawBson>,
    /// The most extreme value of a child that goes.
    pub(in crate::maintain) gone: Option<RawBson>,
}

#[async_trait]
impl<const IS_MAX: bool> Tally for ExtremeDefinition<IS_MAX>
where
    Self: FromDerived,
{
    const KIND: DerivedKind = if IS_MAX {
        DerivedKind::Max
    } else {
        DerivedKind::Min
    };

    type Share = Option<RawBson>;
    type Change = ExtremeChange;

    fn share(&self, child: &RawDocument) -> Result<Option<RawBson>> {
        let value = value(child, &self.value);
        Ok(value.filter(is_value).map(RawBson::from))
    }

    fn add(&self, change: &mut ExtremeChange, share: &Option<RawBson>) {
        extend::<IS_MAX>(&mut change.come, share);
    }

    fn subtract(&self, change: &mut ExtremeChange, share: &Option<RawBson>) {
        extend::<IS_MAX>(&mut change.gone, share);
    }

    fn is_none(change: &ExtremeChange) -> bool {
        change.come.is_none() && change.gone.is_none()
    }

    /// If the extreme goes and none as extreme comes, the next one is not known.
    fn after(
        &self,
        _: &RawBson,
        before: RawBsonRef<'_>,
        change: &ExtremeChange,
    ) -> Result<Option<RawBson>> {
        let before = match before {
            RawBsonRef::Null => None,
            before if is_value(&before) => Some(RawBson::from(before)),
            _ => return Ok(None),
        };
        let mut after = before.clone();
        extend::<IS_MAX>(&mut after, &change.come);
        let is_known = match (&change.gone, &after) {
            (None, _) => true,
            (Some(gone), Some(after)) => {
                let is_left = before.is_some_and(|before| is_beyond::<IS_MAX>(&before, gone));
                let is_replaced =
                    change.come.as_ref() == Some(after) && !is_beyond::<IS_MAX>(gone, after);
                is_left || is_replaced
            }
            (Some(_), None) => false,
        };
        let is_known = is_known || mutant("next extreme");
        Ok(is_known.then(|| after.unwrap_or(RawBson::Null)))
    }

    /// Values that are equal in the order are one value.
    fn correction(stored: Option<RawBsonRef<'_>>, right: RawBson) -> Option<RawBson> {
        let stored = stored.unwrap_or(RawBsonRef::Null);
        let is_right = order::compare(stored, right.as_raw_bson_ref()).is_eq();
        (!is_right).then_some(right)
    }

    async fn search(&self, inputs: &mut dyn Inputs, parents: Vec<RawBson>) -> Result<Vec<RawBson>> {
        let test = match &self.least {
            Some(least) => {
                let least = RawBson::try_from(least.clone()).map_err(Error::malformed)?;
                Filter::Path(self.value.clone().into(), Test::Gte(least))
            }
            None => Filter::default(),
        };
        let first = self.first(parents, test)?;
        let found = inputs.find_by_key(&first).await?;
        let mut values = Vec::with_capacity(found.len());
        for (found, parent) in found.iter().zip(&first.keys) {
            values.push(match found.first() {
                None => RawBson::Null,
                Some(child) => match self.share(child)? {
                    Some(value) => value,
                    // A child of which the schema does not know that it lacks the value.
                    None => self.search_values(inputs, parent.clone()).await?,
                },
            });
        }
        Ok(values)
    }
}

impl<const IS_MAX: bool> ExtremeDefinition<IS_MAX>
where
    Self: FromDerived,
{
    /// The value of a parent, by a search that reads the children without one.
    async fn search_values(&self, inputs: &mut dyn Inputs, parent: RawBson) -> Result<RawBson> {
        let none = vec![RawBson::Null, RawBson::Double(f64::NAN)];
        let test = Filter::Path(self.value.clone().into(), Test::Nin(none.into()));
        let first = self.first(vec![parent], test)?;
        let found = inputs.find_by_key(&first).await?;
        let child = found.first().and_then(|found| found.first());
        let value = child.map_or(Ok(None), |child| self.share(child))?;
        Ok(value.unwrap_or(RawBson::Null))
    }

    /// The query for the first of the children that pass a test, of each of these parents.
    fn first(&self, parents: Vec<RawBson>, test: Filter) -> Result<FindByKey> {
        let children = self.by_parent(parents);
        Ok(FindByKey {
            find: Find {
                filter: children.find.filter.and(test),
                sort: self.sort(),
                limit: Some(1),
                projection: Some(Projection::include([self.value.clone()])?),
                ..children.find
            },
            ..children
        })
    }
}

/// Whether a value can be an extreme.
fn is_value(value: &RawBsonRef<'_>) -> bool {
    !matches!(
        value,
        RawBsonRef::Null | RawBsonRef::Undefined | RawBsonRef::Array(_)
    ) && !order::is_nan(*value)
}

/// Whether the first value is more extreme than the second.
pub(in crate::maintain) fn is_beyond<const IS_MAX: bool>(one: &RawBson, other: &RawBson) -> bool {
    let beyond = if IS_MAX {
        Ordering::Greater
    } else {
        Ordering::Less
    };
    order::compare(one.as_raw_bson_ref(), other.as_raw_bson_ref()) == beyond
}

/// Joins another value.
fn extend<const IS_MAX: bool>(extreme: &mut Option<RawBson>, value: &Option<RawBson>) {
    if let Some(value) = value
        && extreme
            .as_ref()
            .is_none_or(|extreme| is_beyond::<IS_MAX>(value, extreme))
    {
        *extreme = Some(value.clone());
    }
}
