//! Collations: the comparison of texts by the rules of a language.

#[cfg(feature = "collation")]
mod icu;
mod locales;
mod parse;
#[cfg(not(feature = "collation"))]
mod without;

use std::{cmp::Ordering, fmt, sync::Arc};

use bson::Document;

#[cfg(feature = "collation")]
use self::icu::Collator;
#[cfg(not(feature = "collation"))]
use self::without::NoCollator as Collator;
use crate::Error;

/// A comparison of texts by the rules of a language, in the place of their bytes.
///
/// Filters, sorts, expressions, projections, updates and pipelines can have one, by their methods `collated` and `parse_collated`. It holds
/// for all texts that they compare, also for those within documents and arrays, and not for names of fields, regular expressions and
/// schemas. Texts that it does not distinguish are equal.
///
/// Without the feature `collation` there is no collation but that of bytes. It has these limits:
///
/// - `normalization` has no effect: texts are always compared as if they were normalized.
/// - `backwards` is that of the locale, which is true for `fr_CA` alone.
/// - The variants `big5han`, `gb2312han`, `phonetic`, `search` and `searchjl` of locales are refused.
/// - The rules come from another version of ICU than MongoDB's.
///
/// ```
/// # #[cfg(feature = "collation")] {
/// use odm_mql::{Collation, bson::doc};
///
/// let collation = Collation::parse(&doc! { "locale": "en", "strength": 1 })?.expect("it is not `simple`");
/// assert!(collation.compare("Strauß", "STRAUSS").is_eq());
/// # }
/// # Ok::<_, odm_mql::Error>(())
/// ```
#[derive(Clone)]
pub struct Collation(Arc<Parts>);

struct Parts {
    /// MongoDB's form, with all fields.
    form: Document,
    collator: Collator,
}

impl Collation {
    /// The version of the rules, and of the keys that are made by them.
    pub const VERSION: &str = "icu4x-2.4.0";

    /// Parses MongoDB's form, `{ locale: "de", strength: 1 }`. The locale `simple` is `None`: texts are compared by their bytes.
    ///
    /// # Errors
    ///
    /// [`BadOperand`](Error::BadOperand) and [`UnknownOperator`](Error::UnknownOperator) for a field, a value or a locale that MongoDB does
    /// not have, and for another [version](Collation::VERSION); [`NotSupported`](Error::NotSupported) for one that this library does not
    /// have.
    pub fn parse(document: &Document) -> Result<Option<Collation>, Error> {
        parse::collation(document)
    }

    /// Returns MongoDB's form with all fields, which [`parse`](Collation::parse) accepts.
    pub fn to_document(&self) -> Document {
        self.0.form.clone()
    }

    /// Compares two texts.
    pub fn compare(&self, a: &str, b: &str) -> Ordering {
        self.0.collator.compare(a, b)
    }

    /// Appends bytes that sort as the texts do. Equal texts have the same bytes.
    pub fn encode(&self, text: &str, key: &mut Vec<u8>) {
        self.0.collator.encode(text, key);
    }
}

impl PartialEq for Collation {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.form == other.0.form
    }
}

impl Eq for Collation {}

impl fmt::Debug for Collation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Collation").field(&self.0.form).finish()
    }
}

/// MongoDB's form.
impl fmt::Display for Collation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.form.fmt(f)
    }
}

#[cfg(all(test, feature = "collation"))]
mod tests;
