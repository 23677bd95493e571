//! Patches: the changes of a document that a request names.

use serde::{Deserialize, Deserializer};

use super::Update;
use crate::model::Document;

/// The changes of a document that a request names, as the body of an HTTP `PATCH`: a struct of `Option`s, each of which sets a field if it
/// has a value, by [`set_all`](Update::set_all).
///
/// Derive it: `#[derive(Patch)] #[patch(of = "Task")]`. Its fields and their types are checked against the document at compile time. With a
/// [`Deserialize`] that ignores unknown fields, as serde's is, misspelt names in a request go unnoticed: `#[serde(deny_unknown_fields)]`
/// refuses them.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use serde::Deserialize;
///
/// #[derive(Deserialize, Patch)]
/// #[patch(of = "Part")]
/// #[serde(deny_unknown_fields)]
/// struct PartPatch {
///     price: Option<f64>,
///     // Of a field that is an `Option` itself: `null` empties it.
///     #[serde(default, deserialize_with = "odm::present")]
///     note: Option<Option<String>>,
/// }
///
/// let patch: PartPatch = serde_json::from_str(r#"{ "note": null }"#).unwrap();
/// let nut = shop.parts.update(2).set_all(patch).returning().await?;
/// assert_eq!((nut.price, nut.note), (0.05, None));
/// # Ok(()) });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a patch",
    label = "not a patch",
    note = "derive `Patch` for it, with `#[patch(of = \"..\")]`"
)]
pub trait Patch {
    /// The document.
    type Of: Document;

    /// Returns the changes, possibly none.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// #[derive(Patch)]
    /// #[patch(of = "Part")]
    /// struct PartPatch {
    ///     price: Option<f64>,
    /// }
    /// let changes: Update<Part> = PartPatch { price: Some(0.2) }.changes();
    /// assert_eq!(shop.parts.update(1).with(changes).returning().await?.price, 0.2);
    /// # Ok(()) });
    /// ```
    fn changes(self) -> Update<Self::Of>;
}

/// Reads a value that is present, a `null` too, as `Some`: for `#[serde(default, deserialize_with = "odm::present")]`
/// on an `Option` of an `Option`, where a missing field and a `null` differ.
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct Change {
///     #[serde(default, deserialize_with = "odm::present")]
///     note: Option<Option<String>>,
/// }
/// let read = |json| serde_json::from_str::<Change>(json).unwrap().note;
/// assert_eq!(read("{}"), None); // leave it
/// assert_eq!(read(r#"{ "note": null }"#), Some(None)); // empty it
/// assert_eq!(read(r#"{ "note": "M4" }"#), Some(Some("M4".to_owned())));
/// ```
///
/// # Errors
///
/// The errors of reading the value.
pub fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
