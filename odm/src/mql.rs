//! MongoDB's query language as pure functions on BSON: comparison, filters, updates, sorts and
//! projections. No I/O and no models.
//!
//! ```
//! use odm::{bson::{doc, rawdoc}, mql::Filter};
//!
//! let scarce = Filter::parse(&doc! { "tags": "steel", "qty": { "$lt": 10 } })?;
//! assert!(scarce.matches(&rawdoc! { "name": "nut", "qty": 5, "tags": ["new", "steel"] })?);
//! # Ok::<_, odm::mql::Error>(())
//! ```
//!
//! The meaning is MongoDB's, that of its errors' [codes](Error::code) included. The operators are:
//!
//! | in | operators |
//! |---|---|
//! | [filters](Filter) | `$eq` `$ne` `$gt` `$gte` `$lt` `$lte` `$in` `$nin`, `$and` `$or` `$nor` `$not`, `$exists` `$type`, `$regex` with `$options`, `$mod`, `$size` `$all` `$elemMatch`, `$bitsAllSet` `$bitsAllClear` `$bitsAnySet` `$bitsAnyClear`, `$expr` `$jsonSchema`, `$comment` |
//! | [schemas](Schema) | the keywords of `$jsonSchema` |
//! | [expressions](Expr) | paths, `$$ROOT` `$$CURRENT` `$$NOW` `$$REMOVE`, `$literal`, `$eq` `$ne` `$gt` `$gte` `$lt` `$lte` `$cmp` `$in`, `$and` `$or` `$not`, `$add` `$subtract` `$multiply` `$divide` `$mod` `$abs` `$ceil` `$floor` `$round` `$trunc`, `$cond` `$ifNull` `$switch`, `$size` `$isArray` `$arrayElemAt` `$first` `$last` `$slice`, `$type` |
//! | [updates](Update) | `$set` `$unset` `$setOnInsert` `$rename` `$currentDate`, `$inc` `$mul` `$min` `$max` `$bit`, `$push` with `$each` `$position` `$slice` `$sort`, `$addToSet` with `$each`, `$pop` `$pull` `$pullAll`; in paths `$`, `$[]` and `$[name]` |
//! | [projections](Projection) | 1, 0, `$slice` `$elemMatch`, `$` at the end of a path, and expressions |
//! | [sorts](Sort) | 1, -1, `$natural` |
//! | [groups](Group) | `$unwind` and `$group`, as a value, with `$sum` `$avg` `$min` `$max` `$count`, and `$dateTrunc` to full units in UTC |
//!
//! Any other operator is an error that names it. MongoDB has these besides:
//!
//! | in | refused |
//! |---|---|
//! | filters | `$where` `$text` `$rand` `$sampleRate` `$near` `$nearSphere` `$geoNear` `$geoWithin` `$geoIntersects` `$within` `$meta` `$alwaysTrue` `$alwaysFalse` `$_internalSchemaType` |
//! | schemas | `encrypt` `encryptMetadata` |
//! | expressions | all operators of texts, dates, timestamps, objects, sets, bits, trigonometry, powers and logarithms, conversions of types and accumulators, such as `$concat` `$dateAdd` `$mergeObjects` `$setUnion` `$sqrt` `$toInt` `$sum`; of arrays `$map` `$filter` `$reduce` `$zip` `$range` `$concatArrays` `$indexOfArray` `$reverseArray` `$sortArray` `$firstN` `$lastN` `$maxN` `$minN` `$arrayToObject` `$objectToArray`; `$let` `$getField` `$rand` `$function` `$meta`, and all variables but those above |
//! | updates | pipelines: an update is a document |
//! | projections | `$meta`, and a computed field inside of the field that `$` is about |
//! | sorts | `$meta` |
//!
//! There are no other stages of aggregation and no views. In the place of collations a [sort](Sort::ignoring_case) and an
//! [index](crate::store::IndexSpec) can ignore case, and so can a [pattern](Pattern).
//!
//! Regular expressions are those of PCRE2: see [`Pattern`]. Decimals have 34 digits, rounded half to even.
//! The types will grow with the language: they are `#[non_exhaustive]`.

mod decimal;
pub(crate) mod diff;
mod error;
mod expr;
mod filter;
pub mod group;
pub mod key;
mod number;
pub mod order;
pub(crate) mod path;
mod project;
mod schema;
mod show;
mod sort;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod types;
mod update;
mod write;

#[cfg(feature = "rust_decimal")]
pub(crate) use decimal::of_96_bits;
pub use error::Error;
pub(crate) use error::code::{self, name as code_name};
pub use expr::Expr;
pub use filter::{Bits, Filter, Pattern, Test, Values};
pub(crate) use filter::{FoldedText, escape, is_scalar};
pub use group::Group;
pub use odm_pattern::Error as PatternError;
pub(crate) use odm_pattern::fold;
pub use project::Projection;
#[cfg(any(feature = "chrono", feature = "time", feature = "jiff"))]
pub(crate) use schema::native_dates;
pub use schema::{Schema, Violation};
pub(crate) use schema::{native_form, remove_native_forms};
pub(crate) use show::show;
pub use sort::{Direction, Sort};
pub use update::{
    ArrayFilter, BitOperation, CurrentDate, End, Operation, Pull, Push, PushSort, Update,
};
