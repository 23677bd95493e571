//! Where expressions match, and the texts of their groups.

use std::ops::Range;

use crate::{
    Error, Steps,
    linear::{self, Linear},
    machine::{self, Exceeded},
    program::{self, Program},
};

/// A compiled regular expression that finds the places of its matches, with the syntax and the meaning of a [`Pattern`](crate::Pattern).
///
/// It backtracks, with a bounded number of steps for all texts of a document.
#[derive(Debug, Clone)]
pub struct Finder {
    source: String,
    options: String,
    linear: Option<Linear>,
    program: Program,
    groups: usize,
}

/// A match: its place in the text, and the places of the groups that have one.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The place of the match, in bytes.
    pub place: Range<usize>,
    /// The places of the groups, in the order of their numbers.
    pub groups: Vec<Option<Range<usize>>>,
}

impl Finder {
    /// Compiles a regular expression, with the options of [`Pattern::new`](crate::Pattern::new).
    ///
    /// # Errors
    ///
    /// [`Invalid`](Error::Invalid) and [`Options`](Error::Options).
    pub fn new(source: &str, options: &str) -> Result<Finder, Error> {
        let options = crate::sorted(options)?;
        let tree = crate::tree(source, &options)?;
        Ok(Finder {
            source: source.to_owned(),
            options,
            groups: tree.groups,
            linear: linear::compile(&tree),
            program: program::compile(&tree),
        })
    }

    /// Whether the expression matches a part of the text.
    ///
    /// # Errors
    ///
    /// [`Limit`](Error::Limit) if the result is unknown after the remaining steps.
    pub fn is_match(&self, text: &str, steps: &Steps) -> Result<bool, Error> {
        if let Some(linear) = &self.linear {
            self.take(steps, linear.cost(text, text.len()))?;
            if let Some(is_match) = linear.is_match(text) {
                return Ok(is_match);
            }
        }
        Ok(self.find(text, 0, steps)?.is_some())
    }

    /// Finds the first match that begins at this byte or later.
    ///
    /// # Errors
    ///
    /// [`Limit`](Error::Limit) if the result is unknown after the remaining steps.
    pub fn find(&self, text: &str, from: usize, steps: &Steps) -> Result<Option<Found>, Error> {
        let begin = match &self.linear {
            Some(linear) => self.begin(linear, text, from, steps)?,
            None => Some(from),
        };
        let Some(from) = begin else {
            return Ok(None);
        };
        let found = machine::find(&self.program, text, from, steps);
        let found = found.map_err(|exceeded| {
            self.limit(match exceeded {
                Exceeded::Steps => "too many steps",
                Exceeded::Memory => "too much memory",
            })
        })?;
        Ok(found.map(|found| Found {
            groups: (1..=self.groups).map(|group| found.group(group)).collect(),
            place: found.place,
        }))
    }

    /// Where the first match begins at the earliest, if there is one. Most expressions tell it in a time that is linear in the text: the
    /// first search where the first match begins, and a later one whether there is another match.
    fn begin(
        &self,
        linear: &Linear,
        text: &str,
        from: usize,
        steps: &Steps,
    ) -> Result<Option<usize>, Error> {
        if from == 0 {
            self.take(steps, linear.cost(text, text.len()))?;
            return Ok(linear.begin_of_match(text).unwrap_or(Some(from)));
        }
        let least_end = linear.least_end(text, from);
        let searched = match least_end {
            Some(end) => end.unwrap_or(text.len()).saturating_sub(from),
            None => 0,
        };
        self.take(steps, linear.cost(text, searched))?;
        Ok(match least_end {
            Some(None) => None,
            _ => Some(from),
        })
    }

    fn take(&self, steps: &Steps, many: u64) -> Result<(), Error> {
        if steps.take(many) {
            return Ok(());
        }
        Err(self.limit("too many steps"))
    }

    fn limit(&self, reason: &str) -> Error {
        Error::Limit {
            pattern: self.source.clone(),
            reason: reason.to_owned(),
        }
    }
}

impl PartialEq for Finder {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.options == other.options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(source: &str, text: &str) -> Vec<(String, Vec<Option<String>>)> {
        let finder = Finder::new(source, "").expect("a pattern");
        let steps = Steps::default();
        let mut from = 0;
        let mut all = Vec::new();
        while let Some(found) = finder.find(text, from, &steps).expect("a result") {
            let groups = found.groups.into_iter();
            let groups = groups.map(|place| place.map(|place| text[place].to_owned()));
            all.push((text[found.place.clone()].to_owned(), groups.collect()));
            from = found.place.end;
            if found.place.is_empty() {
                break;
            }
        }
        all
    }

    #[test]
    fn a_match_has_its_place_and_those_of_its_groups() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            all("(a)|(b+)(c)?", "xabbcä"),
            [
                ("a".to_owned(), vec![some("a"), None, None]),
                ("bbc".to_owned(), vec![None, some("bb"), some("c")]),
            ]
        );
        assert_eq!(all("^a", "aa").len(), 1);
        assert_eq!(all("(?<=ä)b", "äb"), [("b".to_owned(), vec![])]);
        assert_eq!(all("z", "äb"), []);
    }

    #[test]
    fn a_search_that_takes_too_long_is_refused() {
        let finder = Finder::new("(a+)+$", "").expect("a pattern");
        let text = format!("{}b", "a".repeat(40));
        assert_eq!(finder.find(&text, 0, &Steps::default()), Ok(None));
        let finder = Finder::new("(a+)+\\1$", "").expect("a pattern");
        let found = finder.find(&text, 0, &Steps::default());
        assert!(matches!(found, Err(Error::Limit { .. })));
        let finder = Finder::new("b", "").expect("a pattern");
        let found = finder.find(&"a".repeat(3_000_000), 0, &Steps::default());
        assert_eq!(found, Ok(None));
        let text = format!("{}b", "a".repeat(3_000_000));
        assert_eq!(finder.is_match(&text, &Steps::default()), Ok(true));
    }
}
