//! A movie catalogue: a data set with its mistakes, imported, summed up, drawn and searched.
//!
//! | module | content |
//! |---|---|
//! | [`models`] | movies, and the directors, genres and distributors that show them |
//! | [`import`] | reads the data set, corrects mistakes, and counts corrected and omitted lines |
//! | [`reports`] | aggregates, and pages of a search |
//! | [`charts`] | draws aggregates as SVG |

pub mod charts;
pub mod import;
pub mod models;
pub mod reports;
