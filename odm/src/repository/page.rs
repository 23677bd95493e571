//! Pages by key: each starts after the last key of the one before it.

use std::{fmt, ops::ControlFlow, str::FromStr};

use bson::{RawArrayBuf, RawBson, RawDocumentBuf, raw::cstr};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, de::DeserializeOwned};

use super::{Joins, rows::decode_in};
use crate::{
    error::{Error, ErrorKind, Result},
    mql::Sort,
    session::Session,
    store::Find,
    trace::Operation,
};

/// A page of rows of a query.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// The position at which the next page starts, for [`after`](super::Query::after). `None` at the
    /// end.
    pub next: Option<Cursor>,
}

/// A position in a sorted result: the sort keys and the `_id` of a document.
///
/// It stays valid when documents before and after it come and go. As text, and in JSON, it is a
/// string that is safe in a URL. It is not encrypted: its holder can read the keys in it, and change
/// them to start elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Cursor {
    /// The paths and directions that the keys belong to, or the collection.
    sort: String,
    keys: Vec<RawBson>,
}

impl Cursor {
    fn new(sort: &Sort, keys: Vec<RawBson>) -> Self {
        Cursor {
            sort: sort.total().to_document().to_string(),
            keys,
        }
    }

    /// The position of a document in a whole collection, for audits.
    pub(crate) fn in_collection(collection: &str, id: RawBson) -> Self {
        Cursor {
            sort: collection.to_owned(),
            keys: vec![id],
        }
    }

    pub(crate) fn collection_and_id(&self) -> Result<(String, RawBson)> {
        match self.keys.as_slice() {
            [id] if !self.sort.starts_with('{') => Ok((self.sort.clone(), id.clone())),
            _ => Err(Error::new(
                ErrorKind::InvalidQuery,
                "position is one in a query: resume an audit with a position of its progress",
            )),
        }
    }

    /// Returns the keys, if they are those of this sort.
    pub(super) fn position(&self, sort: &Sort) -> Result<Vec<RawBson>> {
        let expected = sort.total().to_document().to_string();
        if self.sort != expected {
            return Err(Error::new(
                ErrorKind::InvalidQuery,
                format!(
                    "position is in the order {}, and the query in {expected}: use the same sort",
                    self.sort
                ),
            ));
        }
        Ok(self.keys.clone())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut keys = RawArrayBuf::new();
        for key in &self.keys {
            keys.push(key.clone());
        }
        let mut document = RawDocumentBuf::new();
        document.append(cstr!("s"), self.sort.as_str());
        document.append(cstr!("k"), keys);
        document.into_bytes()
    }

    fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        let document = RawDocumentBuf::from_bytes(bytes).ok()?;
        let sort = document.get_str("s").ok()?.to_owned();
        let keys = document.get_array("k").ok()?.into_iter();
        let keys = keys
            .map(|key| key.map(RawBson::from))
            .collect::<Result<_, _>>()
            .ok()?;
        Some(Cursor { sort, keys })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bytes = text.as_bytes().chunks(2).map(|pair| {
            let pair = std::str::from_utf8(pair)
                .ok()
                .filter(|pair| pair.len() == 2)?;
            u8::from_str_radix(pair, 16).ok()
        });
        bytes
            .collect::<Option<Vec<u8>>>()
            .and_then(Cursor::from_bytes)
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::InvalidQuery,
                    "text is not the position of a page",
                )
            })
    }
}

impl Serialize for Cursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

pub(super) async fn page<T, J>(
    session: Session,
    mut find: Find,
    load: Vec<&'static str>,
    joins: J,
    size: u64,
) -> Result<Page<J::Row>>
where
    T: DeserializeOwned + Send,
    J: Joins<T>,
{
    if size == 0 {
        return Err(Error::new(
            ErrorKind::InvalidQuery,
            "page size is 0: ask for at least one document",
        ));
    }
    // A projection could leave out a sort key. Rows read only the fields that they name anyway.
    find.projection = None;
    // One document more tells whether there is a next page. The limit of the query bounds each page.
    let size = find.limit.map_or(size, |limit| limit.min(size));
    find.limit = Some(size.saturating_add(1));
    let sort = find.sort.total();
    let operation = Operation::begin("page", &find.collection);
    let view = session.reader(&find.collection, &load).await?;
    let mut rows = Vec::new();
    let mut last = None;
    let mut more = false;
    let mut cost = view
        .find(&find, &mut |position, document| {
            if position as u64 == size {
                more = true;
                return Ok(ControlFlow::Break(()));
            }
            if position as u64 + 1 == size {
                last = Some(sort.key(document));
            }
            let row = decode_in(&view, &find.collection, document)?;
            rows.push((row, joins.keys(document)));
            Ok(ControlFlow::Continue(()))
        })
        .await?;
    let items = joins.run(&view, rows, &mut cost).await?;
    session.record_query(operation, &view, &find, cost).await?;
    let next = last
        .filter(|_| more)
        .map(|keys| Cursor::new(&find.sort, keys));
    Ok(Page { items, next })
}
