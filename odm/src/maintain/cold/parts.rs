//! An update, divided by the collections that its paths are in.

use std::borrow::Cow;

use bson::RawDocumentBuf;
use odm_mql::{Operation, Update, path};
use odm_store::{Error, ErrorKind, Result};

use crate::catalog::{Catalog, Split, value_of};

/// An update in parts.
pub(in crate::maintain) struct UpdateParts<'c> {
    pub(super) hot: Cow<'c, Update>,
    pub(super) cold: Vec<(&'c Split, PartChange)>,
}

/// The change of a cold part.
pub(super) enum PartChange {
    /// The cold part is replaced by this value.
    Whole(RawDocumentBuf),
    /// Fields of the cold part are changed.
    Fields(Update),
}

impl<'c> UpdateParts<'c> {
    pub(in crate::maintain) fn new(
        catalog: &'c Catalog,
        collection: &str,
        update: &'c Update,
    ) -> Result<Self> {
        if catalog.splits_of(collection).next().is_none() {
            return Ok(UpdateParts {
                hot: Cow::Borrowed(update),
                cold: Vec::new(),
            });
        }
        let mut hot = Update::default();
        let mut parts = UpdateParts {
            hot: Cow::Owned(Update::default()),
            cold: Vec::new(),
        };
        for (path, operation) in &update.operations {
            let split = catalog.split_at(collection, path);
            if let Operation::Rename(target) = operation
                && catalog.split_at(collection, target) != split
            {
                let message = format!(
                    "invalid rename: `{path}` and `{target}` of `{collection}` are stored in different \
                     collections; set the new field, and unset the old one"
                );
                return Err(refused(collection, path, message));
            }
            match split {
                None => hot.push(path.clone(), operation.clone()),
                Some(split) => parts.add(split, path, operation)?,
            }
        }
        parts.add_array_filters(&mut hot, update);
        parts.hot = Cow::Owned(hot);
        Ok(parts)
    }

    /// Gives each part the array filters that it names, and the collation.
    fn add_array_filters(&mut self, hot: &mut Update, update: &Update) {
        let cold = self.cold.iter_mut().filter_map(|(_, part)| match part {
            PartChange::Whole(_) => None,
            PartChange::Fields(update) => Some(update),
        });
        for part in cold.chain([hot]) {
            let named = |name: &str| {
                let name = format!("$[{name}]");
                part.paths()
                    .any(|path| path.split('.').any(|step| step == name))
            };
            let filters = update.array_filters.iter();
            part.array_filters = filters.filter(|f| named(&f.name)).cloned().collect();
            part.collation = update.collation.clone();
        }
    }

    fn add(&mut self, split: &'c Split, path: &str, operation: &Operation) -> Result<()> {
        // The document exists, or is inserted as a whole.
        if matches!(operation, Operation::SetOnInsert(_)) {
            return Ok(());
        }
        let inside = split.inside(path).unwrap_or_default();
        if inside.is_empty() {
            let value = match operation {
                Operation::Set(value) => value_of(split, value.as_raw_bson_ref())?,
                _ => None,
            };
            let Some(value) = value else {
                let message = format!(
                    "invalid update: `{}.{path}` is a cold part, stored in `{}`; set it to a value, or \
                     change its fields",
                    split.hot, split.cold
                );
                return Err(refused(&split.hot, path, message));
            };
            self.cold.push((split, PartChange::Whole(value)));
            return Ok(());
        }
        let operation = match operation {
            Operation::Rename(target) => {
                Operation::Rename(split.inside(target).unwrap_or_default().to_owned())
            }
            other => other.clone(),
        };
        let renamed = match &operation {
            Operation::Rename(target) => target,
            _ => inside,
        };
        for own in [split.key.as_str(), "_id"] {
            if (own != "_id" || !split.own_id)
                && [inside, renamed].iter().any(|to| path::overlap(to, own))
            {
                let message = format!(
                    "read-only field: `{}.{own}` is written by the library and cannot be updated; leave \
                     it out",
                    split.cold
                );
                return Err(refused(&split.hot, path, message));
            }
        }
        let part = self.cold.iter_mut().find_map(|(other, part)| match part {
            PartChange::Fields(update) if *other == split => Some(update),
            _ => None,
        });
        match part {
            Some(update) => update.push(inside.to_owned(), operation),
            None => {
                let mut update = Update::default();
                update.push(inside.to_owned(), operation);
                self.cold.push((split, PartChange::Fields(update)));
            }
        }
        Ok(())
    }
}

fn refused(collection: &str, path: &str, message: String) -> Error {
    Error::new(ErrorKind::InvalidQuery, message).at(collection, Some(path), None)
}
