//! The collator of ICU4X.

use std::cmp::Ordering;

use bson::{Document, doc};
use icu_collator::{
    CollatorBorrowed, CollatorPreferences,
    options::{
        AlternateHandling, CaseLevel, CollatorOptions, MaxVariable, ResolvedCollatorOptions,
        Strength,
    },
    preferences::{CollationCaseFirst, CollationNumericOrdering},
};
use icu_locale_core::Locale;

use super::{Collation, parse::CollationOptions};
use crate::{Error, error::code, types::bad};

pub(super) struct Collator(CollatorBorrowed<'static>);

impl Collator {
    /// The collator of a locale in the form of BCP 47, with its completed options in MongoDB's form.
    pub(super) fn new(
        tag: &str,
        given: &CollationOptions<'_>,
    ) -> Result<(Collator, Document), Error> {
        let bad_locale = || bad("locale", "a locale with rules");
        let locale: Locale = tag.parse().map_err(|_| bad_locale())?;
        let mut preferences = CollatorPreferences::from(&locale);
        preferences.case_first = given.case_first.map(|case| match case {
            "upper" => CollationCaseFirst::Upper,
            "lower" => CollationCaseFirst::Lower,
            _ => CollationCaseFirst::False,
        });
        preferences.numeric_ordering = given.numeric_ordering.map(|is_numeric| {
            if is_numeric {
                CollationNumericOrdering::True
            } else {
                CollationNumericOrdering::False
            }
        });
        let mut options = CollatorOptions::default();
        options.strength = given.strength.map(|strength| match strength {
            1 => Strength::Primary,
            2 => Strength::Secondary,
            3 => Strength::Tertiary,
            4 => Strength::Quaternary,
            _ => Strength::Identical,
        });
        options.case_level = given.case_level.map(|has_level| {
            if has_level {
                CaseLevel::On
            } else {
                CaseLevel::Off
            }
        });
        options.alternate_handling = given.alternate.map(|alternate| match alternate {
            "shifted" => AlternateHandling::Shifted,
            _ => AlternateHandling::NonIgnorable,
        });
        options.max_variable = given.max_variable.map(|variable| match variable {
            "space" => MaxVariable::Space,
            _ => MaxVariable::Punctuation,
        });
        let collator = CollatorBorrowed::try_new(preferences, options).map_err(|_| bad_locale())?;
        let resolved = collator.resolved_options();
        // ICU4X has the option in its rules alone.
        let is_backwards = tag == "fr-CA";
        if given.backwards.is_some_and(|given| given != is_backwards) {
            return Err(Error::NotSupported {
                operator: "backwards".to_owned(),
                instead: "it is true for the locale `fr_CA`, and false for all others",
                code: code::NOT_IMPLEMENTED,
            });
        }
        check(&resolved, is_backwards)?;
        Ok((Collator(collator), form(&resolved, given, is_backwards)))
    }

    pub(super) fn compare(&self, a: &str, b: &str) -> Ordering {
        // With `shifted`, ICU4X takes an accent after a space and a control character for a text of its own when it compares, but rightly
        // not in keys.
        let is_shifted = self.0.resolved_options().alternate_handling == AlternateHandling::Shifted;
        if is_shifted && !(a.is_ascii() && b.is_ascii()) {
            let key = |text| {
                let mut key = Vec::new();
                self.encode(text, &mut key);
                key
            };
            return key(a).cmp(&key(b));
        }
        self.0.compare(a, b)
    }

    pub(super) fn encode(&self, text: &str, key: &mut Vec<u8>) {
        let Ok(()) = self.0.write_sort_key_to(text, key);
    }
}

/// Refuses options that have no effect together.
fn check(resolved: &ResolvedCollatorOptions, is_backwards: bool) -> Result<(), Error> {
    if is_backwards && resolved.strength == Strength::Primary {
        return Err(bad("backwards", "a `strength` of more than 1"));
    }
    if resolved.case_first != CollationCaseFirst::False
        && resolved.case_level == CaseLevel::Off
        && resolved.strength <= Strength::Secondary
    {
        let expected = "`caseLevel`, or a `strength` of more than 2";
        return Err(bad("caseFirst", expected));
    }
    Ok(())
}

fn form(
    resolved: &ResolvedCollatorOptions,
    given: &CollationOptions<'_>,
    is_backwards: bool,
) -> Document {
    let strength = match resolved.strength {
        Strength::Primary => 1,
        Strength::Secondary => 2,
        Strength::Tertiary => 3,
        Strength::Quaternary => 4,
        _ => 5,
    };
    doc! {
        "locale": given.locale,
        "caseLevel": resolved.case_level == CaseLevel::On,
        "caseFirst": match resolved.case_first {
            CollationCaseFirst::Upper => "upper",
            CollationCaseFirst::Lower => "lower",
            _ => "off",
        },
        "strength": strength,
        "numericOrdering": resolved.numeric == CollationNumericOrdering::True,
        "alternate": match resolved.alternate_handling {
            AlternateHandling::Shifted => "shifted",
            _ => "non-ignorable",
        },
        "maxVariable": match resolved.max_variable {
            MaxVariable::Space => "space",
            _ => "punct",
        },
        "normalization": given.normalization,
        "backwards": is_backwards,
        "version": Collation::VERSION,
    }
}
