//! The type in the place of a collator, without the feature `collation`: it has no values.

use std::cmp::Ordering;

use bson::Document;

use super::parse::CollationOptions;
use crate::{Error, error::code};

pub(super) enum NoCollator {}

impl NoCollator {
    pub(super) fn new(_: &str, _: &CollationOptions<'_>) -> Result<(NoCollator, Document), Error> {
        Err(Error::NotSupported {
            operator: "collation".to_owned(),
            instead: "build with the feature `collation`",
            code: code::NOT_IMPLEMENTED,
        })
    }

    pub(super) fn compare(&self, _: &str, _: &str) -> Ordering {
        match *self {}
    }

    pub(super) fn encode(&self, _: &str, _: &mut Vec<u8>) {
        match *self {}
    }
}
