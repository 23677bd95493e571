//! Typed filters, sorts, updates and aggregates.
//!
//! They are made of the fields of a model: `Part::fields().qty.gt(90)`. [`Filter::raw`] and
//! [`Update::raw`] take MongoDB's own form, for expressions that the typed API lacks. [`FromRequest`] makes filters and sorts of the
//! parameters of a request.
//!
//! ```
//! # use odm::derive::examples::*; example(async |shop| {
//! use odm::query::count;
//!
//! let (part, order) = (Part::fields(), Order::fields());
//! // A filter, and a sort.
//! let steel = shop.parts.find(part.tags.contains("steel") & part.qty.gte(5)).sort(part.price.desc()).await?;
//! assert_eq!(steel.len(), 2);
//! // An update.
//! shop.parts.update(1).inc(part.qty, -1).add_to_set(part.tags, "sold").await?;
//! // An aggregate: the orders of each customer.
//! let customers = shop.orders.all().group_by(order.customer).select((count(), order.total.sum())).await?;
//! assert_eq!(customers[1], ("kate".to_owned(), (2, 176.0)));
//! # Ok(()) });
//! ```
//!
//! The methods that make filters, sorts and aggregates of a field are on [`Field`](crate::model::Field).

mod elements;
mod etag;
mod filter;
mod flattened;
pub(crate) mod group;
mod patch;
mod request;
mod sort;
mod update;

pub use etag::ETag;
pub use filter::Filter;
pub use group::{Accumulator, Count, GroupSort, Having, In, Rows, SortsGroups, StartOf, count};
pub use patch::{Patch, present};
pub use request::{Allowed, FromRequest};
pub use sort::Sort;
pub use update::Update;

/// Folds the case of a text: texts that differ only in case have the same result, by Unicode's simple case folding, as in an index that
/// ignores case.
///
/// If the program stores the folded text of a field in another field, queries and unique indexes on that one ignore case on every store,
/// also on a MongoDB server, which has no such indexes. Folding the result changes nothing.
///
/// ```
/// assert_eq!(odm::fold_case("Ann.ÄRGER@example.com"), "ann.ärger@example.com");
/// assert_eq!(odm::fold_case("straße"), "straße"); // each character becomes one
/// ```
pub fn fold_case(text: &str) -> String {
    odm_mql::fold::text(text).into_owned()
}

/// The distinct words of a text, folded as by [`fold_case`], in the order of their bytes. A word is as in Unicode (UAX #29): letters and
/// digits, with an apostrophe or a point between them; without spaces between them, each ideograph is a word.
///
/// In a [computed field](crate::Document#computed-fields) with an index they are what [`matches`](crate::model::Field::matches) searches.
///
/// ```
/// assert_eq!(odm::words("The red, the RED widget"), ["red", "the", "widget"]);
/// assert_eq!(odm::words("It can't: 3.5 km"), ["3.5", "can't", "it", "km"]);
/// ```
pub fn words(text: &str) -> Vec<String> {
    odm_mql::words::distinct(text).into_iter().collect()
}
