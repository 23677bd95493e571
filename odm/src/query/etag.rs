//! Entity tags of HTTP.

use std::fmt;

use bson::{RawBson, RawBsonRef, RawDocumentBuf, raw::cstr};
use odm_mql::path;
use odm_store::Result;
use serde::Serialize;

use crate::model::{Document, IntoId, Versioned, fnv1a, id_to_raw, to_raw};

/// The entity tag of an answer that shows a document: its `_id`, its version, and a hash of the content of the answer.
///
/// A version counts the changes of the base data of a document, and not of its derived fields: it stays the same if a copied name changes,
/// or a subset gets another member. So
/// `If-None-Match`, by which a client asks whether its copy is current, compares the whole [tag](ETag::is_in), and `If-Match`, by which a
/// client avoids overwriting the changes of others, the [version](crate::query::Update::if_match) alone. Nothing is stored for it.
///
/// The tag is a strong one of RFC 9110, section 8.8.3. Its
/// `Display` has the quotes of the header. The hash has 64 bits, and guards against accidental collisions only: a user who can choose the
/// stored values can find two documents with the same hash. A `HashMap` in the answer has another order each time, and so the tag differs
/// each time.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::ETag;
///
/// let lamp = shop.products.get(2).await?;
/// let before = ETag::of(&lamp)?; // the header `ETag`: `before.to_string()`
///
/// // A review of the lamp: its version stays, and its tag does not.
/// shop.reviews.delete(4).await?;
/// let after = ETag::of(&shop.products.get(2).await?)?;
/// assert!(!after.is_in(before.to_string())); // the header `If-None-Match`: no 304
/// let name = Product::fields().name;
/// shop.products.update(2).set(name, "desk lamp").if_match(before.to_string()).await?;
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ETag {
    version: i64,
    /// The hash of the collection and the `_id`.
    document: u32,
    /// The hash of the content of the answer.
    shown: u64,
}

impl ETag {
    /// The tag of an answer that shows the document as it is.
    ///
    /// # Errors
    ///
    /// [`Encode`](crate::ErrorKind::Encode) if the document cannot be stored.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::ETag;
    ///
    /// let lamp = shop.products.get(2).await?;
    /// let header = ETag::of(&lamp)?.to_string(); // as `"1-a0b0..9f"`
    /// assert!(header.starts_with("\"1-"));
    /// # Ok(()) });
    /// ```
    pub fn of<M: Versioned>(document: &M) -> Result<Self> {
        let stored = to_raw(document)?;
        let version = M::model().version.and_then(|version| {
            let document = stored.as_document()?;
            to_i64(path::get(document, version)?)
        });
        Ok(ETag {
            version: version.unwrap_or_default(),
            document: hash_of_id::<M>(document.id())?,
            shown: hash_of(&stored),
        })
    }

    /// The tag of an answer that shows other content than the document: a projection, its references, data that depends on the user.
    ///
    /// # Errors
    ///
    /// [`Encode`](crate::ErrorKind::Encode) if `shown` cannot be written as BSON.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::ETag;
    ///
    /// let product = Product::fields();
    /// let (lamp, parts) = shop.products.find(product.id.eq(2)).join(product.parts).one().await?;
    /// let tag = ETag::new::<Product>(lamp.id, lamp.version, &(&lamp, &parts))?;
    /// assert!(tag.is_in(format!("\"other\", {tag}")));
    /// # Ok(()) });
    /// ```
    pub fn new<M: Versioned>(
        id: impl IntoId<M>,
        version: M::Version,
        shown: &(impl Serialize + ?Sized),
    ) -> Result<Self> {
        Ok(ETag {
            version: to_i64(to_raw(&version)?.as_raw_bson_ref()).unwrap_or_default(),
            document: hash_of_id::<M>(&id.into_id())?,
            shown: hash_of(&to_raw(shown)?),
        })
    }

    /// Whether a client has the content of the answer already, by its header `If-None-Match`: a list of tags, or `*`. The answer is then a
    /// 304 without a body. Weak tags count as strong ones, since a proxy that compresses an answer makes its tag weak.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::ETag;
    ///
    /// let tag = ETag::of(&shop.products.get(2).await?)?;
    /// assert!(tag.is_in("*") && tag.is_in(format!("W/{tag}")) && !tag.is_in("\"other\""));
    /// # Ok(()) });
    /// ```
    pub fn is_in(&self, if_none_match: impl AsRef<[u8]>) -> bool {
        let header = if_none_match.as_ref();
        is_any(header) || tags(header).any(|(_, tag)| tag == self.text().as_bytes())
    }

    /// The versions of the document that an `If-Match` names; `None` for `*`, which matches any version.
    pub(crate) fn versions<M: Document>(header: &[u8], id: &RawBson) -> Option<Vec<RawBson>> {
        if is_any(header) {
            return None;
        }
        let document = format!("{:08x}", hash_of_raw_id::<M>(id));
        let version = |tag: &[u8]| {
            let (version, hashes) = str::from_utf8(tag).ok()?.rsplit_once('-')?;
            let is_same = hashes.len() == 24 && hashes.starts_with(&document);
            version.parse().ok().filter(|_| is_same)
        };
        let strong = tags(header).filter(|&(is_weak, _)| !is_weak);
        let versions = strong.filter_map(|(_, tag)| version(tag));
        Some(versions.map(RawBson::Int64).collect())
    }

    fn text(&self) -> String {
        format!("{}-{:08x}{:016x}", self.version, self.document, self.shown)
    }
}

/// The header `ETag`, in its quotes.
impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.text())
    }
}

fn to_i64(version: RawBsonRef<'_>) -> Option<i64> {
    let small = || version.as_i32().map(i64::from);
    version.as_i64().or_else(small)
}

fn hash_of_id<M: Document>(id: &M::Id) -> Result<u32> {
    Ok(hash_of_raw_id::<M>(&id_to_raw::<M>(id)?))
}

fn hash_of_raw_id<M: Document>(id: &RawBson) -> u32 {
    let hash = fnv1a(M::COLLECTION) ^ hash_of(id);
    (hash ^ (hash >> 32)) as u32
}

fn hash_of(value: &RawBson) -> u64 {
    let mut bytes = RawDocumentBuf::new();
    bytes.append(cstr!(""), value.clone());
    fnv1a(bytes.as_bytes())
}

fn is_any(header: &[u8]) -> bool {
    header.trim_ascii() == b"*"
}

/// The tags of a list, without their quotes, each with whether it is a weak one. A tag may have commas in it.
fn tags(mut header: &[u8]) -> impl Iterator<Item = (bool, &[u8])> {
    std::iter::from_fn(move || {
        let begin = header.iter().position(|&byte| byte == b'"')?;
        let (before, rest) = (&header[..begin], &header[begin + 1..]);
        let end = rest.iter().position(|&byte| byte == b'"')?;
        header = &rest[end + 1..];
        Some((before.ends_with(b"W/"), &rest[..end]))
    })
}
