//! Positions in results, and their text.

use std::{fmt, str::FromStr};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use bson::{RawArrayBuf, RawBson, RawDocumentBuf};
use odm_store::{Error, ErrorKind, Find, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{model::fnv1a, repository::semi_join::SemiJoin};

/// A position in the result of a query: the sort keys and the `_id` of a document.
///
/// It stays valid when documents are inserted and deleted around it. It belongs to one query: with another collection, filter or sort the
/// query fails. So a filter by the time of a request must use the time of the first page on all pages.
///
/// As text, and in JSON, it is a short string that is safe in a URL. It is not encrypted: its holder can read the keys
/// in it, and change them to start elsewhere.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let page = shop.parts.all().page(2).await?;
/// // It is a short text, for a link to the next page: ?after=..
/// let link = page.next.unwrap().to_string();
/// let cursor = link.parse()?;
/// let next = shop.parts.all().after(&cursor).page(2).await?;
/// assert_eq!(next.items[0].name, "washer");
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Cursor {
    of: CursorOf,
    keys: Vec<RawBson>,
}

/// The query or collection of a position. The text of a position begins with the byte of the variant.
#[derive(Debug, Clone, PartialEq)]
enum CursorOf {
    /// A query, by its hash.
    Query(u64),
    /// A collection, in an audit.
    Collection(String),
}

const QUERY: u8 = 1;
const COLLECTION: u8 = 2;

/// The hash by which a position identifies its query. It guards against mistakes, not against forged cursors.
pub(super) fn hash(find: &Find, semi_joins: &[SemiJoin]) -> u64 {
    let (filter, sort) = (find.filter.to_document(), find.sort.total());
    let mut text = format!("{}\n{filter}\n{sort}", find.collection);
    for semi_join in semi_joins {
        text.push('\n');
        text.push_str(&semi_join.text());
    }
    fnv1a(&text)
}

impl Cursor {
    /// The position of a document in the query with a hash.
    pub(super) fn new(query: u64, keys: Vec<RawBson>) -> Self {
        Cursor {
            of: CursorOf::Query(query),
            keys,
        }
    }

    /// The position of a document in a whole collection, for audits.
    pub(crate) fn in_collection(collection: &str, id: RawBson) -> Self {
        Cursor {
            of: CursorOf::Collection(collection.to_owned()),
            keys: vec![id],
        }
    }

    pub(crate) fn collection_and_id(&self) -> Result<(String, RawBson)> {
        match (&self.of, self.keys.as_slice()) {
            (CursorOf::Collection(collection), [id]) => Ok((collection.clone(), id.clone())),
            _ => Err(Error::new(
                ErrorKind::InvalidQuery,
                "position is one in a query: resume an audit with a position of its progress",
            )),
        }
    }

    /// Returns the keys, if the position belongs to this query.
    pub(super) fn keys_in(&self, find: &Find, semi_joins: &[SemiJoin]) -> Result<Vec<RawBson>> {
        if self.of == CursorOf::Query(hash(find, semi_joins)) {
            return Ok(self.keys.clone());
        }
        Err(Error::new(
            ErrorKind::InvalidRequest,
            format!(
                "position is not one in this query of `{}`: use the filter and the sort of the page that it is from",
                find.collection
            ),
        ))
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut values = RawArrayBuf::new();
        let mut bytes = match &self.of {
            CursorOf::Query(hash) => [&[QUERY], &hash.to_le_bytes()[..]].concat(),
            CursorOf::Collection(collection) => {
                values.push(collection.as_str());
                vec![COLLECTION]
            }
        };
        for key in &self.keys {
            values.push(key.clone());
        }
        bytes.extend_from_slice(values.as_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&kind, rest) = bytes.split_first()?;
        let (hash, values) = match kind {
            QUERY => rest
                .split_first_chunk()
                .map(|(hash, rest)| (Some(*hash), rest))?,
            COLLECTION => (None, rest),
            _ => return None,
        };
        let values = RawDocumentBuf::from_bytes(values.to_vec()).ok()?;
        let values = values
            .iter()
            .map(|value| Some(RawBson::from(value.ok()?.1)));
        let mut keys: Vec<RawBson> = values.collect::<Option<_>>()?;
        let of = match hash {
            Some(hash) => CursorOf::Query(u64::from_le_bytes(hash)),
            None if keys.is_empty() => return None,
            None => CursorOf::Collection(keys.remove(0).as_str()?.to_owned()),
        };
        Some(Cursor { of, keys })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.to_bytes()))
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok();
        bytes
            .and_then(|bytes| Cursor::from_bytes(&bytes))
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::InvalidRequest,
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
