//! The operators of expressions with regular expressions.

use bson::{RawArrayBuf, RawBson, RawDocumentBuf, raw::cstr};
use odm_pattern::{Finder, Found, Steps};

use super::{
    evaluate::{MAX_VALUE, check_size, is_null, type_of},
    failed,
    named::{Arguments, NamedOperator},
};
use crate::Error;

/// The steps of the work that the compilation of an expression takes.
const COMPILATION: u64 = 2_000;

/// The value of `$regexMatch`, `$regexFind` or `$regexFindAll`.
pub(super) fn evaluate(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    let name = arguments.name();
    let made;
    let finder = match arguments.finder() {
        Some(finder) => Some(finder),
        None => {
            let regex = arguments.value(1)?;
            arguments.scope().work.take(COMPILATION)?;
            made = self::finder(name, &regex, &arguments.value(2)?)?;
            made.as_ref()
        }
    };
    let text = match arguments.value(0)? {
        Some(RawBson::String(text)) => Some(text),
        value if is_null(&value) => None,
        value => {
            let reason = format!("its input must be a text, not {}", type_of(&value));
            return Err(failed(name, reason, 51_104));
        }
    };
    let (operator, steps) = (arguments.operator(), arguments.scope().work.patterns());
    let (Some(text), Some(finder)) = (text, finder) else {
        return Ok(Some(match operator {
            NamedOperator::RegexMatch => RawBson::Boolean(false),
            NamedOperator::RegexFindAll => RawBson::Array(RawArrayBuf::new()),
            _ => RawBson::Null,
        }));
    };
    match operator {
        NamedOperator::RegexMatch => {
            let is_match = finder.is_match(&text, steps)?;
            Ok(Some(RawBson::Boolean(is_match)))
        }
        NamedOperator::RegexFindAll => all(finder, &text, steps),
        _ => {
            let Some(found) = finder.find(&text, 0, steps)? else {
                return Ok(Some(RawBson::Null));
            };
            check_size(bytes(&found))?;
            let before = text[..found.place.start].chars().count();
            Ok(Some(RawBson::Document(document(&text, &found, before))))
        }
    }
}

/// All matches, each after the one before.
fn all(finder: &Finder, text: &str, steps: &Steps) -> Result<Option<RawBson>, Error> {
    let mut all = RawArrayBuf::new();
    // A place up to which the characters are counted.
    let (mut from, mut counted, mut characters) = (0, 0, 0);
    while let Some(found) = finder.find(text, from, steps)? {
        let place = found.place.clone();
        characters = text[counted..place.start]
            .chars()
            .count()
            .saturating_add(characters);
        counted = place.start;
        // A byte of the text can be in all groups.
        check_all(all.as_bytes().len().saturating_add(bytes(&found)))?;
        all.push(document(text, &found, characters));
        check_all(all.as_bytes().len())?;
        from = if place.is_empty() {
            let next = text[place.end..].chars().next();
            place.end.saturating_add(next.map_or(1, char::len_utf8))
        } else {
            place.end
        };
        if from >= text.len() {
            break;
        }
    }
    Ok(Some(RawBson::Array(all)))
}

fn check_all(bytes: usize) -> Result<(), Error> {
    if bytes > MAX_VALUE {
        let reason = format!("its matches have more than {MAX_VALUE} bytes");
        return Err(failed("$regexFindAll", reason, 51_151));
    }
    Ok(())
}

/// The bytes of the texts of a match and of its groups.
fn bytes(found: &Found) -> usize {
    let groups = found.groups.iter().flatten().map(ExactSizeIterator::len);
    groups.fold(found.place.len(), usize::saturating_add)
}

/// A match as a document, after so many characters.
fn document(text: &str, found: &Found, before: usize) -> RawDocumentBuf {
    let mut captures = RawArrayBuf::new();
    for group in &found.groups {
        match group {
            Some(place) => captures.push(&text[place.clone()]),
            None => captures.push(RawBson::Null),
        }
    }
    let mut document = RawDocumentBuf::new();
    document.append(cstr!("match"), &text[found.place.clone()]);
    document.append(cstr!("idx"), i32::try_from(before).unwrap_or(i32::MAX));
    document.append(cstr!("captures"), captures);
    document
}

/// The compiled expression, or `None` if it is null.
pub(super) fn finder(
    name: &'static str,
    regex: &Option<RawBson>,
    options: &Option<RawBson>,
) -> Result<Option<Finder>, Error> {
    let options = match options {
        Some(RawBson::String(options)) if options.contains('\0') => {
            return Err(failed(name, "its options have a NUL", 51_110));
        }
        Some(RawBson::String(options)) => Some(options.as_str()),
        options if is_null(options) => None,
        options => {
            let reason = format!("its options must be a text, not {}", type_of(options));
            return Err(failed(name, reason, 51_106));
        }
    };
    let (source, own) = match regex {
        Some(RawBson::String(source)) => (source.as_str(), ""),
        Some(RawBson::RegularExpression(regex)) => (regex.pattern.as_str(), regex.options.as_str()),
        regex if is_null(regex) => return Ok(None),
        regex => {
            let reason = format!(
                "its regex must be a text or a regex, not {}",
                type_of(regex)
            );
            return Err(failed(name, reason, 51_105));
        }
    };
    if !own.is_empty() && options.is_some() {
        let reason = "options are in `regex` or in `options`, not in both";
        return Err(failed(name, reason, 51_107));
    }
    if source.contains('\0') {
        return Err(failed(name, "its regex has a NUL", 51_109));
    }
    match Finder::new(source, options.unwrap_or(own)) {
        Ok(finder) => Ok(Some(finder)),
        Err(error) => {
            let code = match error {
                odm_pattern::Error::Options => 51_108,
                odm_pattern::Error::Invalid { .. } | odm_pattern::Error::Limit { .. } => 51_111,
            };
            Err(failed(name, error.to_string(), code))
        }
    }
}
