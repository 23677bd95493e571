//! The stored form of filters and sorts in the catalog.

use std::{fmt, ops::Deref};

use bson::{Document, RawDocument, RawDocumentBuf};
use odm_mql::Filter;
use odm_store::{Error, ErrorKind, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::schema;

/// The filter of the children in a definition.
///
/// It is stored as the bytes of its BSON form: its operators are no names of fields. The filter is always parsed from these bytes, so that
/// all programs follow the same filter. Filters are equal if their bytes are, even with values that differ from themselves, as NaN.
#[derive(Debug, Clone)]
pub(crate) struct ChildFilter {
    filter: Filter,
    form: Vec<u8>,
}

impl Default for ChildFilter {
    fn default() -> Self {
        ChildFilter {
            filter: Filter::default(),
            form: RawDocumentBuf::new().into_bytes(),
        }
    }
}

impl ChildFilter {
    /// The filter that a model declares for a field.
    pub(super) fn declared(
        declare: Option<fn() -> Result<Filter>>,
        collection: &str,
        path: &str,
    ) -> Result<Self> {
        let Some(declare) = declare else {
            return Ok(ChildFilter::default());
        };
        let unstorable = |source: &dyn fmt::Display| {
            let message = format!(
                "unstorable filter: the filter of `{collection}.{path}` has no form in which it could be \
                 stored in the catalog: {source}; filter by what has one"
            );
            Error::new(ErrorKind::Schema, message)
        };
        let filter = declare().map_err(|source| unstorable(&source).with_source(source))?;
        // An expression can fail on a document, or depend on the time of the declaration, and the derived field would not be a function of
        // the stored data.
        if filter.has_expr() {
            return Err(schema(format!(
                "invalid filter: the filter of the derived field `{collection}.{path}` has an `$expr`; \
                 compare fields with values"
            )));
        }
        // A schema reads fields that no relation names, so that the catalog would not know which writes change them.
        if filter.has_schema() {
            return Err(schema(format!(
                "invalid filter: the filter of the derived field `{collection}.{path}` has a \
                 `$jsonSchema`, which is about the whole document; compare fields with values"
            )));
        }
        let form = filter.to_parsed_form();
        let (form, filter) = form.map_err(|source| unstorable(&source).with_source(source))?;
        let form = form.to_vec().map_err(Error::malformed)?;
        Ok(ChildFilter { filter, form })
    }
}

#[cfg(test)]
impl From<Filter> for ChildFilter {
    fn from(filter: Filter) -> Self {
        let form = filter.to_document().to_vec().unwrap();
        ChildFilter { filter, form }
    }
}

impl Deref for ChildFilter {
    type Target = Filter;

    fn deref(&self) -> &Filter {
        &self.filter
    }
}

impl PartialEq for ChildFilter {
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form
    }
}

impl Serialize for ChildFilter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.form)
    }
}

impl<'de> Deserialize<'de> for ChildFilter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form: Vec<u8> = serde_bytes::deserialize(deserializer)?;
        let document = RawDocument::from_bytes(&form).and_then(Document::try_from);
        let document = document.map_err(de::Error::custom)?;
        let filter = Filter::parse(&document).map_err(de::Error::custom)?;
        Ok(ChildFilter { filter, form })
    }
}

/// A sort is stored as a list of paths, each with whether it is descending: its paths are no names
/// of fields either.
pub(super) mod sort {
    use serde::{Deserialize, Deserializer, Serializer};

    use odm_mql::{Direction, Sort};

    pub(in crate::catalog) fn serialize<S: Serializer>(
        sort: &Sort,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let keys = sort.keys().iter();
        let keys =
            keys.map(|(path, direction)| (path.as_ref(), *direction == Direction::Descending));
        serializer.collect_seq(keys)
    }

    pub(in crate::catalog) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Sort, D::Error> {
        let keys = Vec::<(String, bool)>::deserialize(deserializer)?;
        Ok(keys
            .into_iter()
            .fold(Sort::new(), |sort, (path, descending)| {
                let direction = match descending {
                    true => Direction::Descending,
                    false => Direction::Ascending,
                };
                sort.by(path, direction)
            }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_of_whole_documents_defines_no_derived_field() {
        let by_schema = || Ok(Filter::parse(&bson::doc! { "a": 1, "$jsonSchema": {} })?);
        let by_expression = || Ok(Filter::parse(&bson::doc! { "$nor": [{ "$expr": true }] })?);
        let by_field = || Ok(Filter::parse(&bson::doc! { "a": 1 })?);
        for (declare, operator) in [
            (by_schema as fn() -> Result<Filter>, "`$jsonSchema`"),
            (by_expression, "`$expr`"),
        ] {
            let error = ChildFilter::declared(Some(declare), "makers", "parts").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Schema);
            assert!(error.to_string().contains(operator), "{error}");
        }
        assert!(ChildFilter::declared(Some(by_field), "makers", "parts").is_ok());
    }
}
