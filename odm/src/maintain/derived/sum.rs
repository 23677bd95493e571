//! Sums: the sum of a number in the children of a parent.

use async_trait::async_trait;
use bson::{RawBson, RawBsonRef, RawDocument};
use odm_mql::{ExactSum, Projection};
use odm_store::{Error, ErrorKind, Find, FindByKey, Result, mutants::mutant, show};

use super::{DerivedKind, Inputs, tally::Tally, value};
use crate::{
    catalog::{FieldDefinition, SumDefinition, join},
    maintain::unit::id,
    model::derived::SumType,
};

#[async_trait]
impl Tally for SumDefinition {
    const KIND: DerivedKind = DerivedKind::Sum;

    type Share = ExactSum;
    type Change = ExactSum;

    fn share(&self, child: &RawDocument) -> Result<ExactSum> {
        let mut amount = ExactSum::default();
        if let Some(value) = value(child, &self.amount) {
            amount
                .add(value)
                .map_err(|_| infinite(self, child, value))?;
        }
        Ok(amount)
    }

    fn add(&self, change: &mut ExactSum, amount: &ExactSum) {
        change.add_sum(amount);
    }

    fn subtract(&self, change: &mut ExactSum, amount: &ExactSum) {
        if !mutant("amount before") {
            change.subtract(amount);
        }
    }

    fn is_none(change: &ExactSum) -> bool {
        change.is_zero()
    }

    /// A double is rounded, so that the exact sum before is not known.
    fn after(
        &self,
        parent: &RawBson,
        before: RawBsonRef<'_>,
        change: &ExactSum,
    ) -> Result<Option<RawBson>> {
        let mut total = ExactSum::default();
        if self.sum == SumType::Double && !change.is_zero()
            || total.add(before).is_err()
            || self
                .sum
                .value(&total)
                .as_ref()
                .map(RawBson::as_raw_bson_ref)
                != Some(before)
        {
            return Ok(None);
        }
        total.add_sum(change);
        self.value(parent, &total).map(Some)
    }

    async fn search(&self, inputs: &mut dyn Inputs, parents: Vec<RawBson>) -> Result<Vec<RawBson>> {
        let mut totals = vec![ExactSum::default(); parents.len()];
        let children = self.by_parent(parents.clone());
        let amounts = FindByKey {
            find: Find {
                projection: Some(Projection::include([self.amount.clone()])?),
                ..children.find
            },
            ..children
        };
        let each = &mut |at: usize, child: &RawDocument| {
            totals[at].add_sum(&self.share(child)?);
            Ok(())
        };
        inputs.each_by_key(&amounts, each).await?;
        let parents = parents.iter().zip(&totals);
        parents
            .map(|(parent, total)| self.value(parent, total))
            .collect()
    }
}

impl SumDefinition {
    /// The value in a parent.
    fn value(&self, parent: &RawBson, total: &ExactSum) -> Result<RawBson> {
        self.sum.value(total).ok_or_else(|| {
            let (what, holder) = (match self.sum {
                SumType::Int64 => "a whole number of 64 bits",
                SumType::Decimal128 => "a decimal of 34 digits",
                SumType::Double => "a finite double",
            }, self.holder());
            let message = format!(
                "uncomputable value: `{}` of the document with `_id` = {} would be {total}, which is not {what}",
                join(holder, &self.path()), show(parent),
            );
            Error::new(ErrorKind::Uncomputable, message).at(holder, Some(&self.path()), Some(parent.clone()))
        })
    }
}

fn infinite(sum: &SumDefinition, child: &RawDocument, value: RawBsonRef<'_>) -> Error {
    let (id, source) = (RawBson::from(id(child)), sum.source());
    let message = format!(
        "uncomputable value: `{}` adds up `{}` of the document with `_id` = {}, which is {}",
        join(sum.holder(), &sum.path()),
        join(source, &sum.amount),
        show(&id),
        show(&value.into()),
    );
    Error::new(ErrorKind::Uncomputable, message).at(source, Some(&sum.amount), Some(id))
}
