//! Split documents: finding the collection of a path, a filter or a sort, dividing a whole document into its hot document and its cold
//! parts, and joining them again.

use std::borrow::Cow;

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, raw::CStr};
use odm_mql::{Filter, Sort, Test, path};
use odm_store::{Error, ErrorKind, Find, Result};

use serde::{Deserialize, Serialize};

use super::{Catalog, join};

/// A field of a document that is stored in a collection of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Split {
    /// The collection of the documents.
    pub(crate) hot: String,
    /// The name of the field, which the stored document lacks.
    pub(crate) path: String,
    /// The collection of the cold parts.
    pub(crate) cold: String,
    /// The field of a cold part that holds the `_id` of its document.
    pub(crate) key: String,
    /// Whether the value has an `_id` of its own.
    pub(crate) own_id: bool,
    /// Whether a document need not have a cold part.
    pub(crate) optional: bool,
}

/// The value of a split field in a whole document from a caller.
pub(crate) type ColdValue<'c> = (&'c Split, Option<RawDocumentBuf>);

impl Split {
    /// The path in the cold part that a path in the whole document names; empty for the cold part
    /// itself.
    pub(crate) fn inside<'p>(&self, path: &'p str) -> Option<&'p str> {
        let rest = path.strip_prefix(self.path.as_str())?;
        match rest.strip_prefix('.') {
            Some(rest) => Some(rest),
            None => rest.is_empty().then_some(rest),
        }
    }

    /// The path in the cold part for a path of a whole document. The `_id` is in both.
    fn cold_path(&self, path: &str) -> Cow<'static, str> {
        match self.inside(path) {
            Some(inside) => inside.to_owned().into(),
            // `_id`, or a field of it.
            None => format!(
                "{}{}",
                self.key,
                path.strip_prefix("_id").unwrap_or_default()
            )
            .into(),
        }
    }

    /// A filter of this cold part alone.
    pub(crate) fn filter(&self, filter: Filter) -> Filter {
        filter.with_paths(&|path| self.cold_path(path))
    }

    /// The query that finds the cold parts of the documents that a query finds, in the same order.
    pub(crate) fn find(&self, find: &Find) -> Find {
        let keys = find.sort.total();
        let sort = keys.keys().iter().fold(Sort::new(), |sort, (path, order)| {
            sort.by(self.cold_path(path), *order)
        });
        let mut after = find.after.clone();
        // No two cold parts have the same key, so a sort never compares their own `_id`s.
        if let Some(after) = after.as_mut().filter(|_| self.key != "_id") {
            after.push(RawBson::MaxKey);
        }
        Find {
            collection: self.cold.clone(),
            filter: self.filter(find.filter.clone()),
            sort,
            after,
            projection: None,
            ..find.clone()
        }
    }

    /// The query of the cold parts of these documents.
    pub(crate) fn cold_parts_of(&self, ids: Vec<RawBson>) -> Find {
        Find {
            collection: self.cold.clone(),
            filter: Filter::Path(self.key.clone().into(), Test::In(ids.into())),
            ..Find::default()
        }
    }

    /// The cold part of a document, as it is stored.
    pub(crate) fn cold_part(
        &self,
        document: RawBsonRef<'_>,
        id: RawBson,
        value: &RawDocument,
    ) -> Result<RawDocumentBuf> {
        let mut part = RawDocumentBuf::new();
        if self.key == "_id" {
            append(&mut part, "_id", document)?;
        } else {
            append(&mut part, "_id", id.as_raw_bson_ref())?;
            append(&mut part, &self.key, document)?;
        }
        for element in value {
            let (name, value) = element.map_err(Error::malformed)?;
            // The library sets these two fields itself.
            if name.as_str() != "_id" && name.as_str() != self.key {
                part.append(name, value);
            }
        }
        Ok(part)
    }

    /// The value in a stored cold part.
    pub(crate) fn value(&self, part: &RawDocument) -> Result<RawDocumentBuf> {
        let mut value = RawDocumentBuf::new();
        for element in part {
            let (name, field) = element.map_err(Error::malformed)?;
            if name.as_str() != self.key && (self.own_id || name.as_str() != "_id") {
                value.append(name, field);
            }
        }
        Ok(value)
    }

    /// A whole document: the hot document with the value of the cold part.
    pub(crate) fn whole(&self, hot: &RawDocument, cold: &RawDocument) -> Result<RawDocumentBuf> {
        let value = self.value(cold)?;
        let mut whole = RawDocumentBuf::new();
        for element in hot {
            let (name, field) = element.map_err(Error::malformed)?;
            if name.as_str() != self.path {
                whole.append(name, field);
            }
        }
        append(&mut whole, &self.path, RawBsonRef::Document(&value))?;
        Ok(whole)
    }
}

/// A query over several of the collections that a document is stored in, divided by these.
#[derive(Debug)]
pub(crate) struct SplitQuery<'c> {
    /// The query of the collection that gives the order.
    pub(crate) main: Find,
    /// The conditions on the other collections: of a cold part, or of the document itself.
    pub(crate) others: Vec<Condition<'c>>,
}

/// A filter of one of the collections that a document is stored in.
pub(crate) type Condition<'c> = (Option<&'c Split>, Filter);

impl Catalog {
    /// Whether any document is split.
    pub(crate) fn has_splits(&self) -> bool {
        !self.relations.splits.is_empty()
    }

    /// All splits.
    pub(crate) fn splits(&self) -> &[Split] {
        &self.relations.splits
    }

    /// The splits of the documents of a collection.
    pub(crate) fn splits_of(&self, collection: &str) -> impl Iterator<Item = &Split> {
        self.relations
            .splits
            .iter()
            .filter(move |split| split.hot == collection)
    }

    /// The split whose cold parts a collection holds.
    pub(crate) fn split_in(&self, collection: &str) -> Option<&Split> {
        self.splits().iter().find(|split| split.cold == collection)
    }

    /// The collection and path of a stored field in whole documents.
    pub(crate) fn whole_path(&self, collection: &str, path: &str) -> (String, String) {
        match self.split_in(collection) {
            None => (collection.to_owned(), path.to_owned()),
            Some(split) => (split.hot.clone(), join(&split.path, path)),
        }
    }

    /// The split that a path of whole documents is in.
    pub(crate) fn split_at(&self, collection: &str, path: &str) -> Option<&Split> {
        self.splits_of(collection)
            .find(|split| split.inside(path).is_some())
    }

    /// The split whose cold parts a query filters and sorts by, if it does.
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if the query is about fields of several collections: it would have to read all
    /// of each.
    pub(crate) fn split_of_query(
        &self,
        collection: &str,
        filter: &Filter,
        sort: &Sort,
    ) -> Result<Option<&Split>> {
        if self.splits_of(collection).next().is_none() {
            return Ok(None);
        }
        let mut paths = filter.paths();
        paths.extend(sort.keys().iter().map(|(path, _)| path.as_ref()));
        let mut first: Option<(&str, Option<&Split>)> = None;
        let own = |path: &&str| path::split(path).0 != "_id";
        for path in paths.into_iter().filter(own) {
            if path.is_empty() {
                let message = format!(
                    "invalid query: a document of `{collection}` is stored in several collections, and \
                     cannot be compared as a whole, as by `$jsonSchema` or `$$ROOT`; name its fields"
                );
                let error = Error::new(ErrorKind::InvalidQuery, message);
                return Err(error.at(collection, None, None));
            }
            let split = self.split_at(collection, path);
            if let Some(split) = split.filter(|split| split.path == path) {
                let message = format!(
                    "invalid path: `{collection}.{path}` is a cold part, stored in `{}`, and cannot be \
                     compared or sorted by as a whole; name one of its fields",
                    split.cold
                );
                return Err(Error::new(ErrorKind::InvalidQuery, message).at(
                    collection,
                    Some(path),
                    None,
                ));
            }
            if split.is_some() && (sort.ignores_case() || sort.collation().is_some()) {
                let message = format!(
                    "invalid sort: `{path}` of `{collection}` is in a cold part, whose order does not ignore case and has no collation; \
                     sort with case and without a collation, or keep the field in the document itself"
                );
                let error = Error::new(ErrorKind::InvalidQuery, message);
                return Err(error.at(collection, Some(path), None));
            }
            match first {
                None => first = Some((path, split)),
                Some((_, other)) if other == split => {}
                Some((other, _)) => {
                    let message = format!(
                        "invalid query: `{other}` and `{path}` of `{collection}` are stored in different \
                         collections, and neither one condition, one sort nor the filter of a write can \
                         be about both; query by one, and then by the `_id`s that it returns"
                    );
                    return Err(Error::new(ErrorKind::InvalidQuery, message).at(
                        collection,
                        Some(path),
                        None,
                    ));
                }
            }
        }
        Ok(first.and_then(|(_, split)| split))
    }

    /// Divides a query of whole documents, if it involves several collections.
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if one condition, or the sort, is about several collections.
    pub(crate) fn split_query(&self, find: &Find) -> Result<Option<SplitQuery<'_>>> {
        let collection = &find.collection;
        if self.splits_of(collection).next().is_none() {
            return Ok(None);
        }
        let is_own = |path: &str| path::split(path).0 != "_id";
        // The `_id` is in all of the collections.
        let mut everywhere = Filter::default();
        let mut conditions: Vec<Condition<'_>> = Vec::new();
        for condition in conjuncts(&find.filter) {
            if !condition.paths().into_iter().any(is_own) {
                everywhere = everywhere.and(condition.clone());
                continue;
            }
            let place = self.split_of_query(collection, condition, &Sort::default())?;
            match conditions.iter_mut().find(|(other, _)| *other == place) {
                Some((_, filter)) => *filter = std::mem::take(filter).and(condition.clone()),
                None => conditions.push((place, condition.clone())),
            }
        }
        let main = match find.sort.keys().iter().any(|(path, _)| is_own(path)) {
            true => self.split_of_query(collection, &Filter::default(), &find.sort)?,
            // The document itself, if there is a condition on it.
            false => conditions
                .iter()
                .map(|(place, _)| *place)
                .min_by_key(Option::is_some)
                .flatten(),
        };
        let (own, others): (Vec<_>, Vec<_>) = conditions
            .into_iter()
            .partition(|(place, _)| *place == main);
        if others.is_empty() {
            return Ok(None);
        }
        let filter = own
            .into_iter()
            .fold(everywhere.clone(), |filter, (_, own)| filter.and(own));
        let others = others
            .into_iter()
            .map(|(place, filter)| (place, filter.and(everywhere.clone())));
        Ok(Some(SplitQuery {
            main: Find {
                filter,
                ..find.clone()
            },
            others: others.collect(),
        }))
    }

    /// Divides a whole document, as a caller sends it, into the hot document and the cold values.
    pub(crate) fn split_document<'d>(
        &self,
        collection: &str,
        document: &'d RawDocument,
    ) -> Result<(Cow<'d, RawDocument>, Vec<ColdValue<'_>>)> {
        if self.splits_of(collection).next().is_none() {
            return Ok((Cow::Borrowed(document), Vec::new()));
        }
        let mut hot = RawDocumentBuf::new();
        let mut values = Vec::new();
        for element in document {
            let (name, value) = element.map_err(Error::malformed)?;
            match self.split_at(collection, name.as_str()) {
                None => hot.append(name, value),
                Some(split) => values.push((split, value_of(split, value)?)),
            }
        }
        Ok((Cow::Owned(hot), values))
    }
}

/// The conditions that must all hold.
fn conjuncts(filter: &Filter) -> Vec<&Filter> {
    match filter {
        Filter::And(all) => all.iter().flat_map(conjuncts).collect(),
        one => vec![one],
    }
}

/// The value that a caller gives a cold part; `None` if it is not loaded.
pub(crate) fn value_of(split: &Split, value: RawBsonRef<'_>) -> Result<Option<RawDocumentBuf>> {
    match value {
        RawBsonRef::Null => Ok(None),
        RawBsonRef::Document(value) => Ok(Some(value.to_owned())),
        _ => {
            let message = format!(
                "invalid value: `{}.{}` is a cold part, stored in `{}`, and must be a document",
                split.hot, split.path, split.cold
            );
            Err(Error::new(ErrorKind::InvalidQuery, message).at(
                &split.hot,
                Some(&split.path),
                None,
            ))
        }
    }
}

fn append(document: &mut RawDocumentBuf, name: &str, value: RawBsonRef<'_>) -> Result<()> {
    document.append(<&CStr>::try_from(name).map_err(Error::malformed)?, value);
    Ok(())
}
