//! MongoDB's query language as pure functions on BSON: comparison, filters, updates, sorts,
//! projections and aggregation pipelines. No I/O and no models.
//!
//! ```
//! use odm_mql::{Filter, bson::{doc, rawdoc}};
//!
//! let scarce = Filter::parse(&doc! { "tags": "steel", "qty": { "$lt": 10 } })?;
//! assert!(scarce.matches(&rawdoc! { "name": "nut", "qty": 5, "tags": ["new", "steel"] })?);
//! # Ok::<_, odm_mql::Error>(())
//! ```
//!
//! The meaning is MongoDB's, including the [codes](Error::code) of its errors. The operators are:
//!
//! | in | operators |
//! |---|---|
//! | [filters](Filter) | `$eq` `$ne` `$gt` `$gte` `$lt` `$lte` `$in` `$nin`, `$and` `$or` `$nor` `$not`, `$exists` `$type`, `$regex` with `$options`, `$mod`, `$size` `$all` `$elemMatch`, `$bitsAllSet` `$bitsAllClear` `$bitsAnySet` `$bitsAnyClear`, `$expr` `$jsonSchema`, `$comment` |
//! | [schemas](Schema) | the keywords of `$jsonSchema` |
//! | [expressions](Expr) | paths, `$$ROOT` `$$CURRENT` `$$NOW` `$$REMOVE` and the [variables of a caller](Variables), `$literal`, `$let`, `$eq` `$ne` `$gt` `$gte` `$lt` `$lte` `$cmp` `$in`, `$and` `$or` `$not`, `$add` `$subtract` `$multiply` `$divide` `$mod` `$abs` `$ceil` `$floor` `$round` `$trunc`, `$exp` `$ln` `$log` `$log10` `$pow` `$sqrt` `$sigmoid`, all of trigonometry, `$bitAnd` `$bitOr` `$bitXor` `$bitNot`, `$sum` `$avg` `$min` `$max` `$median` `$percentile` `$stdDevPop` `$stdDevSamp`, `$cond` `$ifNull` `$switch`, `$rand` |
//! | on arrays | `$size` `$isArray` `$arrayElemAt` `$first` `$last` `$firstN` `$lastN` `$maxN` `$minN` `$slice` `$concatArrays` `$indexOfArray` `$range` `$reverseArray` `$sortArray` `$zip` `$map` `$filter` `$reduce` `$arrayToObject` `$objectToArray`, `$setUnion` `$setIntersection` `$setDifference` `$setEquals` `$setIsSubset` `$allElementsTrue` `$anyElementTrue` |
//! | on texts and documents | `$concat` `$split` `$toLower` `$toUpper` `$strLenCP` `$strLenBytes` `$strcasecmp` `$substr` `$substrCP` `$substrBytes` `$indexOfCP` `$indexOfBytes` `$trim` `$ltrim` `$rtrim` `$replaceOne` `$replaceAll` `$regexMatch` `$regexFind` `$regexFindAll`, `$mergeObjects` `$getField` `$setField` `$unsetField` |
//! | on dates and types | `$dateAdd` `$dateSubtract` `$dateDiff` `$dateTrunc` `$dateFromParts` `$dateToParts` `$dateFromString` `$dateToString`, `$year` `$month` `$week` `$dayOfYear` `$dayOfMonth` `$dayOfWeek` `$isoWeekYear` `$isoWeek` `$isoDayOfWeek` `$hour` `$minute` `$second` `$millisecond`, `$tsSecond` `$tsIncrement`, `$type` `$isNumber` `$convert` `$toDouble` `$toInt` `$toLong` `$toDecimal` `$toString` `$toBool` `$toDate` `$toObjectId` `$toUUID`, `$bsonSize` `$binarySize` |
//! | [updates](Update) | `$set` `$unset` `$setOnInsert` `$rename` `$currentDate`, `$inc` `$mul` `$min` `$max` `$bit`, `$push` with `$each` `$position` `$slice` `$sort`, `$addToSet` with `$each`, `$pop` `$pull` `$pullAll`; in paths `$`, `$[]` and `$[name]` |
//! | [projections](Projection) | 1, 0, `$slice` `$elemMatch`, `$` at the end of a path, and expressions |
//! | [sorts](Sort) | 1, -1, `$natural` |
//! | [groups](Group) | `$unwind` and `$group`, as a value, with `$sum` `$avg` `$min` `$max` `$count`, and `$dateTrunc` to full units in UTC |
//! | [pipelines](Pipeline) | `$match` `$sort` `$skip` `$limit` `$sample`, `$project` `$set` `$addFields` `$unset` `$replaceRoot` `$replaceWith`, `$group` `$count` `$sortByCount` `$bucket`, `$unwind` `$lookup` `$unionWith` `$facet` |
//! | [accumulators](Pipeline) | `$sum` `$avg` `$min` `$max` `$count` `$first` `$last` `$firstN` `$lastN` `$maxN` `$minN` `$top` `$topN` `$bottom` `$bottomN` `$median` `$percentile` `$push` `$addToSet` `$setUnion` `$concatArrays` `$mergeObjects` `$stdDevPop` `$stdDevSamp` |
//! | [updates by a pipeline](UpdatePipeline) | `$set` `$addFields` `$unset` `$project` `$replaceRoot` `$replaceWith` |
//!
//! Any other operator is an error that names it. MongoDB also has these:
//!
//! | in | refused |
//! |---|---|
//! | filters | `$where` `$text` `$rand` `$sampleRate` `$near` `$nearSphere` `$geoNear` `$geoWithin` `$geoIntersects` `$within` `$meta` `$alwaysTrue` `$alwaysFalse` `$_internalSchemaType` |
//! | schemas | `encrypt` `encryptMetadata` |
//! | expressions | `$function` `$accumulator` `$meta` `$toHashedIndexKey`, decimals in trigonometry other than the conversion of angles, `$$CLUSTER_TIME` without [its value](Variables::with_cluster_time), `$$USER_ROLES` and all other variables of the system |
//! | projections | `$meta`, and a computed field inside of the field that `$` is about |
//! | sorts | `$meta` |
//! | pipelines | `$bucketAuto` `$changeStream` `$changeStreamSplitLargeEvent` `$collStats` `$currentOp` `$densify` `$documents` `$fill` `$geoNear` `$graphLookup` `$indexStats` `$listClusterCatalog` `$listLocalSessions` `$listSampledQueries` `$listSearchIndexes` `$listSessions` `$merge` `$out` `$planCacheStats` `$queryStats` `$querySettings` `$rankFusion` `$redact` `$score` `$scoreFusion` `$search` `$searchMeta` `$setWindowFields` `$shardedDataDistribution` `$vectorSearch` |
//! | accumulators | `$accumulator` |
//!
//! There are no views. With the feature `collation`, filters, sorts, expressions, projections, updates and pipelines can have a
//! [`Collation`], and with `time-zones` expressions on dates know the time zones of places. Without `collation` a [sort](Sort::ignoring_case) and an index can ignore case, and so can a [pattern](Pattern).
//!
//! Regular expressions follow PCRE2: see [`Pattern`]. Decimals have 34 digits, rounded half to even. The types grow with the language, by a
//! new minor version. Matches on them are exhaustive, so that the compiler reports a new operator to code that translates them.

#![deny(missing_docs)]
#![warn(missing_debug_implementations)]
// For times, and for numbers that come from users or are stored: see `clippy.toml`.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod collation;
mod decimal;
mod depth;
#[doc(hidden)]
pub mod diff;
mod error;
mod exact_sum;
mod expr;
mod filter;
#[doc(hidden)]
pub mod formula;
pub mod group;
pub mod key;
mod number;
pub mod order;
#[doc(hidden)]
pub mod path;
mod pipeline;
mod project;
mod schema;
mod show;
mod sort;
#[doc(hidden)]
pub mod steps;
#[doc(hidden)]
pub mod stored_value;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod types;
mod update;
mod variables;
mod write;

pub use bson;
pub use collation::Collation;
pub use error::Error;
pub use expr::Expr;
pub use filter::{Bits, Filter, Pattern, Test, Values};
pub use group::Group;
pub use odm_pattern::Error as PatternError;
pub use pipeline::{
    Pipeline, PipelineRun, PipelineStep, QueryPrefix, SourceRequest, UpdatePipeline,
};
pub use project::Projection;
pub use schema::{Schema, Violation};
pub use sort::{Direction, Sort};
pub use update::{
    ArrayFilter, BitOperation, CurrentDate, End, Operation, Pull, Push, PushSort, Update,
};
pub use variables::Variables;

// For the other crates of the library.
#[doc(hidden)]
pub use decimal::of_96_bits;
#[doc(hidden)]
pub use error::code::{self, name as code_name};
#[doc(hidden)]
pub use exact_sum::{ExactSum, Infinite};
#[doc(hidden)]
pub use filter::{FoldedText, escape, is_scalar};
#[doc(hidden)]
pub use odm_pattern::{fold, words};
#[doc(hidden)]
pub use schema::{native_dates, native_form, remove_native_forms};
#[doc(hidden)]
pub use show::show;

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
