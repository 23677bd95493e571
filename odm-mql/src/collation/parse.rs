//! The parser of MongoDB's form of a collation.

use std::sync::Arc;

use bson::{Bson, Document};

use super::{
    Collation, Collator, Parts,
    locales::{self, KnownLocale},
};
use crate::{
    Error,
    error::code,
    types::{bad, bad_as, unknown, whole_number},
};

/// The options of a request.
#[derive(Debug, Default)]
#[cfg_attr(
    not(feature = "collation"),
    allow(dead_code, reason = "only the comparison of texts reads them all")
)]
pub(super) struct CollationOptions<'d> {
    pub(super) locale: &'d str,
    pub(super) case_level: Option<bool>,
    pub(super) case_first: Option<&'d str>,
    pub(super) strength: Option<i64>,
    pub(super) numeric_ordering: Option<bool>,
    pub(super) alternate: Option<&'d str>,
    pub(super) max_variable: Option<&'d str>,
    pub(super) normalization: bool,
    pub(super) backwards: Option<bool>,
}

pub(super) fn collation(document: &Document) -> Result<Option<Collation>, Error> {
    let options = options(document)?;
    if options.locale == "simple" {
        if document.len() > 1 {
            let expected = "no option beside the locale `simple`";
            return Err(bad_as(code::FAILED_TO_PARSE, "collation", expected));
        }
        return Ok(None);
    }
    let tag = match locales::find(options.locale) {
        KnownLocale::Supported(tag) => tag,
        KnownLocale::Unsupported => {
            return Err(Error::NotSupported {
                operator: options.locale.to_owned(),
                instead: "leave the variant after `@` out",
                code: code::NOT_IMPLEMENTED,
            });
        }
        KnownLocale::Unknown => {
            let expected =
                "a locale of MongoDB's, such as `en`, `fr_CA` or `de@collation=phonebook`";
            return Err(bad("locale", expected));
        }
    };
    let (collator, form) = Collator::new(&tag, &options)?;
    Ok(Some(Collation(Arc::new(Parts { form, collator }))))
}

fn options(document: &Document) -> Result<CollationOptions<'_>, Error> {
    let mut options = CollationOptions::default();
    let mut has_locale = false;
    for (name, value) in document {
        match name.as_str() {
            "locale" => {
                options.locale = text(name, value)?;
                has_locale = true;
            }
            "caseLevel" => options.case_level = Some(flag(name, value)?),
            "caseFirst" => {
                let allowed = ["upper", "lower", "off"];
                options.case_first =
                    Some(one_of(name, value, &allowed, "`upper`, `lower` or `off`")?);
            }
            "strength" => options.strength = Some(strength(name, value)?),
            "numericOrdering" => options.numeric_ordering = Some(flag(name, value)?),
            "alternate" => {
                let allowed = ["non-ignorable", "shifted"];
                options.alternate = Some(one_of(
                    name,
                    value,
                    &allowed,
                    "`non-ignorable` or `shifted`",
                )?);
            }
            "maxVariable" => {
                let allowed = ["punct", "space"];
                options.max_variable = Some(one_of(name, value, &allowed, "`punct` or `space`")?);
            }
            "normalization" => options.normalization = flag(name, value)?,
            "backwards" => options.backwards = Some(flag(name, value)?),
            "version" => {
                if text(name, value)? != Collation::VERSION {
                    let expected = "the version of this library, or none";
                    return Err(bad_as(code::INCOMPATIBLE_COLLATION_VERSION, name, expected));
                }
            }
            other => return Err(unknown(40_415, &format!("collation.{other}"))),
        }
    }
    if has_locale {
        Ok(options)
    } else {
        Err(bad_as(40_414, "collation", "a `locale`"))
    }
}

fn text<'d>(name: &str, value: &'d Bson) -> Result<&'d str, Error> {
    let expected = || bad_as(code::TYPE_MISMATCH, name, "a string");
    value.as_str().ok_or_else(expected)
}

fn flag(name: &str, value: &Bson) -> Result<bool, Error> {
    let expected = || bad_as(code::TYPE_MISMATCH, name, "true or false");
    value.as_bool().ok_or_else(expected)
}

fn one_of<'d>(
    name: &str,
    value: &'d Bson,
    allowed: &[&str],
    expected: &'static str,
) -> Result<&'d str, Error> {
    let text = text(name, value)?;
    if allowed.contains(&text) {
        Ok(text)
    } else {
        Err(bad(name, expected))
    }
}

fn strength(name: &str, value: &Bson) -> Result<i64, Error> {
    const EXPECTED: &str = "a whole number of 1 to 5";
    let is_number = matches!(
        value,
        Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) | Bson::Decimal128(_)
    );
    if !is_number {
        return Err(bad_as(code::TYPE_MISMATCH, name, EXPECTED));
    }
    let strength = whole_number(value).filter(|strength| (1..=5).contains(strength));
    strength.ok_or_else(|| bad(name, EXPECTED))
}
